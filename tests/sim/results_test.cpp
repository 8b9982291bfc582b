// The SystemC model computes the golden values, bit for bit.
#include <gtest/gtest.h>

#include "santa/config/hardware.hpp"
#include "workload.hpp"

namespace santa::sim {
namespace {

using attention::ScoreScheme;
using attention::ValueScheme;

void check_rows(const std::vector<attention::SampledRow>& simulated,
                const std::vector<attention::SampledRow>& golden, const std::string& name) {
  check_equal(simulated.size(), golden.size(), name + " rows");
  for (std::size_t r = 0; r < std::min(simulated.size(), golden.size()); ++r) {
    check(simulated[r].key == golden[r].key && simulated[r].counts == golden[r].counts,
          name + " row " + std::to_string(r));
  }
}

// Simulated outputs, rows and log-sum-exp against attention::decode on the same requests.
void compare_with_golden(const std::string& preset, const std::vector<std::string>& overrides,
                         const Shape& shape) {
  const std::vector<UnitReport> reports = simulate_preset(
      preset, overrides, shape, {UnitKind::kSampled, UnitKind::kDenseInt8, UnitKind::kTopK});
  const std::uint32_t tile_keys =
      static_cast<std::uint32_t>(config::load_hardware(preset).unit.tile_keys);
  const Workload workload = make_workload(shape, tile_keys, 11);
  attention::DecodeWorkspace workspace;
  for (const UnitReport& report : reports) {
    attention::DecodeOptions options = shape.options;
    if (report.kind == UnitKind::kDenseInt8) options.values = ValueScheme::kDense;
    if (report.kind == UnitKind::kTopK) options.values = ValueScheme::kTopK;
    for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
      const Job& job = workload.jobs[j];
      attention::DecodeRequest request = job.request;
      if (report.kind != UnitKind::kSampled) request.query = job.exact_query;
      const attention::DecodeResult golden =
          attention::decode(*job.cache, job.cache->context, request, options, workspace);
      const std::string name = to_string(report.kind) + " job " + std::to_string(j);
      check_equal(report.outputs[j].size(), golden.output.size(), name + " outputs");
      check(report.outputs[j] == golden.output, name + " output");
      check(report.log_sum_exp[j] == golden.log_sum_exp, name + " log-sum-exp");
      check_rows(report.rows[j], golden.rows, name);
    }
  }
}

TEST(SimulatedValues, EqualGoldenForEverySchemePair) {
  for (const auto& scores : attention::kScoreSchemeNames) {
    for (const ValueScheme values :
         {ValueScheme::kSanta, ValueScheme::kStratified, ValueScheme::kSystematic}) {
      Shape shape{{8, 2, 64, 300}, {}};
      shape.options.scores = static_cast<ScoreScheme>(scores.value);
      shape.options.values = values;
      shape.options.bernoulli_draws = 4;
      shape.options.samples = 64;
      in_child(std::string(scores.name) + " " + std::string(to_string(values)),
               [&] { compare_with_golden("edge-lpddr5", {}, shape); });
    }
  }
}

TEST(SimulatedValues, EqualGoldenForEveryContextLength) {
  for (const std::uint32_t context : {0U, 1U, 2U, 127U, 128U, 129U, 255U, 257U, 2048U}) {
    Shape shape{{4, 1, 128, context}, {}};
    in_child("context " + std::to_string(context),
             [&] { compare_with_golden("edge-lpddr5", {}, shape); });
  }
}

TEST(SimulatedValues, EqualGoldenForEveryGroupAndBudget) {
  for (const std::uint32_t group : {1U, 2U, 3U, 5U, 6U, 7U, 8U}) {
    for (const std::uint32_t samples : {1U, 16U, 4096U}) {
      Shape shape{{group * 2, 2, 96, 200}, {}};
      shape.options.samples = samples;
      in_child("group " + std::to_string(group) + " samples " + std::to_string(samples),
               [&] { compare_with_golden("edge-lpddr5", {}, shape); });
    }
  }
}

TEST(SimulatedValues, DoNotDependOnTheHardwareBesidesTheTile) {
  Shape shape{{8, 2, 128, 3000}, {}};
  for (const char* merge : {"none", "head", "group"}) {
    in_child(std::string("merge ") + merge, [&] {
      compare_with_golden("edge-lpddr5", {"unit.merge_rows=" + std::string(merge)}, shape);
    });
  }
  for (const char* change :
       {"unit.stash_kib=8", "unit.key_buffer_tiles=2", "unit.row_buffer_rows=1",
        "memory.max_outstanding=1", "unit.digit_lanes=1", "clock_mhz=933.3", "memory.channels=3"}) {
    in_child(change, [&] { compare_with_golden("edge-lpddr5", {change}, shape); });
  }
  in_child("server", [&] { compare_with_golden("server-hbm3", {}, shape); });
}

}  // namespace
}  // namespace santa::sim
