// Tables 8 and 10: what the golden decode counts against the paper's formulas.
#include <fmt/format.h>

#include "santa/attention/head.hpp"
#include "santa/energy/paper_counts.hpp"
#include "santa/paper/part.hpp"

namespace santa::paper {
namespace {

using namespace attention;
using energy::paper::Counts;

constexpr std::uint32_t kDimension = 128;
constexpr std::uint32_t kTileKeys = 64;

OperationCounts count(const Head& head, ValueScheme values, std::uint32_t samples) {
  DecodeOptions options;
  options.values = values;
  options.samples = samples;
  DecodeWorkspace workspace;
  return decode(head.cache, head.cache.context, head.request(options, 1), options, workspace)
      .operations;
}

void add_row(Part& part, const char* stage, const char* metric, std::uint64_t ours,
             std::uint64_t paper) {
  Row row;
  row.labels = {stage, metric};
  row.ours = {static_cast<double>(ours), 0.0};
  row.paper = PaperValue{static_cast<double>(paper), 0.0};
  part.rows.push_back(row);
}

void add_values(Part& part, const char* stage, const OperationCounts& ours, const Counts& paper) {
  add_row(part, stage, "additions", ours.value_adds, paper.adds);
  add_row(part, stage, "multiplications, divisions", ours.value_multiplies, paper.multiplies);
  add_row(part, stage, "value elements read", ours.value_elements_read, paper.reads);
  add_row(part, stage, "elements written", ours.outputs_written, paper.writes);
}

void add_scores(Part& part, const char* stage, const OperationCounts& ours, const Counts& paper,
                std::uint64_t query_elements) {
  add_row(part, stage, "additions", ours.score_adds, paper.adds);
  add_row(part, stage, "multiplications", ours.score_multiplies, paper.multiplies);
  add_row(part, stage, "query and key elements read", ours.key_elements_read + query_elements,
          paper.reads);
  add_row(part, stage, "elements written", ours.scores_written, paper.writes);
}

Part counted(const char* name, const char* title, const std::string& method) {
  Part part;
  part.name = name;
  part.title = title;
  part.method = method;
  part.label_columns = {"stage", "count"};
  part.decimals = 0;
  return part;
}

}  // namespace

Part make_table8(const Settings& settings, const Execution& execution) {
  constexpr std::uint32_t kKeys = 8192;
  constexpr std::uint32_t kSamples = 256;
  Part part = counted("table8", "Table 8: value stage of one query",
                      "One query of one head, n_k = 8192 keys of d_k = 128 features, S = 256: what "
                      "the golden decode counts while it runs, against the paper's formulas. Exact "
                      "counts: no interval.");
  const Head head(make_gaussian({1, 1, kDimension, kKeys}, settings.seed, 0), kTileKeys);
  const OperationCounts dense = count(head, ValueScheme::kDense, 1);
  const OperationCounts sampled = count(head, ValueScheme::kSanta, kSamples);
  add_values(part, "dense", dense, energy::paper::dense_values(1, kKeys, kDimension));
  add_values(part, "SANTA", sampled, energy::paper::sampled_values(1, kSamples, kDimension));
  Row share;
  share.labels = {"SANTA / dense", "additions and value reads, %"};
  share.ours = {100.0 * static_cast<double>(sampled.value_adds + sampled.value_elements_read) /
                    static_cast<double>(dense.value_adds + dense.value_elements_read),
                0.0};
  share.paper = PaperValue{3.125, 0.0};
  share.decimals = 3;
  part.rows.push_back(share);
  part.summary = "all but the divisions, which are shifts here";
  part.finding =
      R"(Everything agrees but one row: where the paper divides each output by S, the unit shifts, as the
paper proposes for S a power of two, so it counts no multiplication or division at all.)";
  execution.progress(1.0);
  return part;
}

Part make_table10(const Settings& settings, const Execution& execution) {
  constexpr std::uint32_t kQueries = 16;
  constexpr std::uint32_t kKeys = 1024;
  constexpr std::uint32_t kBudget = 64;
  Part part = counted(
      "table10", "Table 10: scores and values of a prefill",
      "n_q = 16 queries of one head as the group of one KV head, n_k = 1024 keys of d_k = 128 "
      "features, k = S = 64; each key is read once for all queries, as in the table's first row.");
  const Head head(make_gaussian({kQueries, 1, kDimension, kKeys}, settings.seed, 0), kTileKeys);
  const OperationCounts dense = count(head, ValueScheme::kDense, 1);
  const OperationCounts topk = count(head, ValueScheme::kTopK, kBudget);
  const OperationCounts sampled = count(head, ValueScheme::kSanta, kBudget);
  const std::uint64_t query_elements = std::uint64_t{kQueries} * kDimension;
  const Counts scores = energy::paper::score_stage(kQueries, kKeys, kDimension);
  add_scores(part, "scores, dense", dense, scores, query_elements);
  add_scores(part, "scores, top-k", topk, scores, query_elements);
  add_scores(part, "scores, adder-only unit", sampled, scores, query_elements);
  add_values(part, "values, dense", dense,
             energy::paper::dense_values(kQueries, kKeys, kDimension));
  add_values(part, "values, top-k", topk,
             energy::paper::topk_values(kQueries, kBudget, kDimension));
  add_values(part, "values, SANTA", sampled,
             energy::paper::sampled_values(kQueries, kBudget, kDimension));
  part.summary = "all but the multiplications that the adder-only unit does not have";
  part.finding =
      R"(Counts of the multiply-accumulate units and of all value stages agree. The adder-only unit has no
multiplication: an 8-bit coefficient is two to three signed powers of two, each an addition of a
shifted key, so exact scores take more additions than the paper's formula and no multiplication.
It shifts where the paper divides by S.)";
  execution.progress(1.0);
  return part;
}

}  // namespace santa::paper
