// Operations and accesses as the simulated units perform them, against the closed forms of the
// paper's tables 8 and 10.
#include "santa/energy/paper_counts.hpp"

#include <gtest/gtest.h>

#include "santa/config/hardware.hpp"
#include "workload.hpp"

namespace santa::sim {
namespace {

constexpr std::uint64_t kKeys = 1000;
constexpr std::uint64_t kDimension = 64;
constexpr std::uint32_t kQueryHeads = 8;
constexpr std::uint32_t kKvHeads = 2;
constexpr std::uint32_t kBudget = 128;

Shape paper_shape() {
  Shape shape{{kQueryHeads, kKvHeads, kDimension, kKeys}, {}};
  shape.options.samples = kBudget;
  return shape;
}

void check_values(const UnitReport& report, const energy::paper::Counts& per_head,
                  bool normalises_by_shift) {
  const attention::OperationCounts& counted = report.operations.algorithm;
  const std::string name = to_string(report.kind);
  check_equal(counted.value_adds, kQueryHeads * per_head.adds, name + " adds");
  check_equal(counted.value_elements_read, kQueryHeads * per_head.reads, name + " reads");
  check_equal(counted.outputs_written, kQueryHeads * per_head.writes, name + " writes");
  check_equal(counted.value_multiplies, normalises_by_shift ? 0 : kQueryHeads * per_head.multiplies,
              name + " multiplies");
}

// A KV head's keys are read once for its whole group; queries are read once a head.
void check_scores(const UnitReport& report) {
  const auto per_head = energy::paper::score_stage(1, kKeys, kDimension);
  const attention::OperationCounts& counted = report.operations.algorithm;
  const std::string name = to_string(report.kind);
  check_equal(counted.score_adds, kQueryHeads * per_head.adds, name + " score adds");
  check_equal(counted.score_multiplies, kQueryHeads * per_head.multiplies,
              name + " score multiplies");
  check_equal(counted.scores_written, kQueryHeads * per_head.writes, name + " scores");
  check_equal(counted.key_elements_read + kKvHeads * kDimension, kKvHeads * per_head.reads,
              name + " key and query reads");
}

TEST(PaperCounts, DenseAndTopKUnits) {
  in_child("dense and top-k", [] {
    const auto reports =
        simulate_preset("edge-lpddr5", {}, paper_shape(),
                        {UnitKind::kDenseInt8, UnitKind::kDenseFp16, UnitKind::kTopK});
    for (const UnitReport& report : reports) check_scores(report);
    check_values(reports[0], energy::paper::dense_values(1, kKeys, kDimension), false);
    check_values(reports[1], energy::paper::dense_values(1, kKeys, kDimension), false);
    check_values(reports[2], energy::paper::topk_values(1, kBudget, kDimension), false);
    // Traffic: int8 and fp16 elements, in whole 32-byte accesses (a row of 64 is a multiple).
    for (int i = 0; i < 2; ++i) {
      const std::uint64_t bytes = kKvHeads * kKeys * kDimension * (i == 0 ? 1 : 2);
      check_equal(reports[static_cast<std::size_t>(i)].traffic.key_bytes, bytes, "key bytes");
      check_equal(reports[static_cast<std::size_t>(i)].traffic.value_bytes, bytes, "value bytes");
    }
    check_equal(reports[2].traffic.key_bytes, kKvHeads * kKeys * kDimension, "key bytes");
    check_equal(reports[2].traffic.value_bytes, reports[2].samples.unique_rows * kDimension,
                "value bytes, rows shared by the group");
  });
}

// With merge_rows: none every draw reads its row, as the paper counts it.
TEST(PaperCounts, SampledUnit) {
  for (const attention::ValueScheme values :
       {attention::ValueScheme::kSanta, attention::ValueScheme::kStratified,
        attention::ValueScheme::kSystematic}) {
    in_child(std::string(to_string(values)), [&] {
      Shape shape = paper_shape();
      shape.options.values = values;
      const auto report =
          simulate_preset("edge-lpddr5", {"unit.merge_rows=none"}, shape, {UnitKind::kSampled})
              .front();
      check_values(report, energy::paper::sampled_values(1, kBudget, kDimension), true);
      check_equal(report.operations.value_adds_executed, kQueryHeads * kBudget * kDimension,
                  "executed adds");
      check_equal(report.samples.row_reads, kQueryHeads * kBudget, "row reads");
      check_equal(report.traffic.value_bytes, kQueryHeads * kBudget * kDimension, "value bytes");
      check_equal(report.operations.multiplies, 0U, "multiplies");
      check_equal(report.operations.divides, 0U, "divides");
      check_equal(report.operations.algorithm.score_multiplies, 0U, "score multiplies");
    });
  }
}

// Merging draws changes what is executed and read, never what the algorithm does.
TEST(PaperCounts, MergedRowsAreReadOnce) {
  const auto run = [](const char* merge) {
    Shape shape = paper_shape();
    shape.options.samples = 2048;
    return simulate_preset("edge-lpddr5", {std::string("unit.merge_rows=") + merge}, shape,
                           {UnitKind::kSampled})
        .front();
  };
  in_child("head", [&] {
    const UnitReport report = run("head");
    std::uint64_t distinct = 0;
    for (const auto& rows : report.rows) {
      for (const auto& row : rows) {
        for (const std::uint16_t count : row.counts) distinct += count > 0 ? 1 : 0;
      }
    }
    check_equal(report.samples.row_reads, distinct, "row reads");
    check(report.operations.value_adds_executed < kQueryHeads * 2048 * kDimension, "fewer adds");
    check_equal(report.operations.algorithm.value_adds, kQueryHeads * 2048 * kDimension, "adds");
  });
  in_child("group", [&] {
    const UnitReport report = run("group");
    check_equal(report.samples.row_reads, report.samples.unique_rows, "row reads");
    check_equal(report.traffic.value_bytes, report.samples.unique_rows * kDimension, "bytes");
  });
}

// A feature that is zero for the whole group is not fetched from any full tile.
TEST(PaperCounts, BernoulliQueriesSkipFeatures) {
  in_child("bernoulli-group", [] {
    Shape shape = paper_shape();
    shape.options.scores = attention::ScoreScheme::kBernoulliGroup;
    shape.options.bernoulli_draws = 1;
    const auto report = simulate_preset("edge-lpddr5", {}, shape, {UnitKind::kSampled}).front();
    const std::uint64_t tile_keys = 128;
    const std::uint64_t full_tiles = kKeys / tile_keys;
    const std::uint64_t tail_keys = kKeys % tile_keys;
    check(report.samples.features_needed < report.samples.features_total, "some are skipped");
    check_equal(
        report.traffic.key_bytes,
        report.samples.features_needed * full_tiles * tile_keys + kKvHeads * tail_keys * kDimension,
        "key bytes");
  });
}

}  // namespace
}  // namespace santa::sim
