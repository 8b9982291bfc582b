// Everything a run found out, as the table, the JSON report and the timeline read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "input.hpp"
#include "options.hpp"
#include "santa/config/hardware.hpp"
#include "santa/sim/simulation.hpp"
#include "workload.hpp"

namespace santa::cli {

// Distance of a unit's output from the float64 attention of the real tensors.
struct Accuracy {
  std::optional<double> relative_l2;             // all query heads together
  std::optional<double> worst_head_relative_l2;  // of the query head with the largest
  std::uint32_t worst_layer = 0;
  std::uint32_t worst_query_head = 0;
  std::optional<double> log_sum_exp_error;  // largest absolute one; the integer units alone
  std::string missing_reason;               // why there is no number; else empty
};

// Which request a span belongs to.
struct JobName {
  std::uint32_t layer = 0;
  std::uint32_t kv_head = 0;
};

struct RunResult {
  RunOptions options;
  config::HardwareConfig hardware;
  std::string energy_pack_sha256;
  InputSummary input;
  std::vector<JobName> jobs;  // requests, each a group of query heads over one KV head
  std::optional<double> reference_to_model;
  std::vector<sim::UnitReport> units;
  std::vector<Accuracy> accuracy;  // by unit
  std::size_t main_unit = 0;

  // Index of a kind in `units`, if it was simulated.
  std::optional<std::size_t> find(sim::UnitKind kind) const;
};

// The unit's output against the references of the workload.
Accuracy measure_accuracy(const sim::UnitReport& report, const Workload& workload);

}  // namespace santa::cli
