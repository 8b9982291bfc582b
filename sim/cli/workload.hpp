// From real tensors to requests of the unit, and to what its outputs are judged by.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "input.hpp"
#include "options.hpp"
#include "santa/attention/kv_head.hpp"
#include "santa/sim/simulation.hpp"

namespace santa::cli {

// One request by the references, in real units.
struct ReferenceOutput {
  std::vector<double> exact;  // [group][head_dimension], float64 attention of the real tensors
  std::vector<double> log_sum_exp;  // [group], of the same
  std::vector<float> fp16;  // as exact, in the fp16 dense unit's arithmetic; empty if not asked for
};

struct Workload {
  std::deque<attention::KvHead> caches;  // a deque: jobs point into it
  std::vector<sim::Job> jobs;            // layer by layer, KV head by KV head
  std::vector<ReferenceOutput> references;
  // Relative L2 distance of the float64 attention from the model's own output, where the input has
  // one for every layer.
  std::optional<double> reference_to_model;
};

// Quantises every layer for tiles of `tile_keys` and derives the random streams. `progress` is
// called with the fraction done. Throws InputError that names layer and KV head.
Workload prepare_workload(const Input& input, const RunOptions& options, std::uint32_t tile_keys,
                          bool with_fp16, const std::function<void(double)>& progress);

}  // namespace santa::cli
