#include "santa/paper/variance.hpp"

#include <fmt/format.h>

#include <numeric>

#include "santa/paper/part.hpp"
#include "santa/paper/trace_heads.hpp"
#include "santa/paper/weighed_group.hpp"
#include "santa/reference/attention.hpp"
#include "santa/reference/systematic.hpp"

namespace santa::paper {
namespace {

using namespace attention;

using GroupStatistics = std::vector<std::array<std::vector<DrawStatistics>, kSamplers.size()>>;

constexpr unsigned kReplicates = 400;
constexpr const char* kSamplerNames[] = {"SANTA", "S2ANTA-strat", "S2ANTA-sys"};

// The replicates of one head, sampler and budget.
DrawStatistics replicate(WeighedGroup& weighed, std::uint32_t g, ValueScheme scheme,
                         unsigned samples_log2, unsigned replicates, std::uint64_t seed) {
  std::vector<Sample> features;
  std::vector<double> output;
  Sample keys;
  for (unsigned r = 0; r < replicates; ++r) {
    const std::uint64_t stream = arithmetic::derive_stream(
        seed, {std::uint64_t{1} << samples_log2, static_cast<std::uint64_t>(scheme), g, r,
               arithmetic::StreamPurpose::kValues});
    const std::vector<DrawnKey>& drawn = weighed.draw(g, scheme, samples_log2, stream);
    weighed.aggregate(drawn, samples_log2, output);
    features.resize(output.size());
    for (std::size_t i = 0; i < output.size(); ++i) features[i].add(output[i]);
    keys.add(static_cast<double>(drawn.size()));
  }
  DrawStatistics statistics;
  for (const Sample& feature : features) {
    statistics.variance += feature.deviation() * feature.deviation();
  }
  statistics.keys = keys.mean();
  return statistics;
}

void add_exact(DrawStatistics& statistics, ValueScheme scheme, const std::vector<double>& p,
               const Head& head, std::uint64_t samples) {
  const float* values = head.tensors.value.data();
  const std::size_t d = head.tensors.shape.head_dimension;
  std::vector<double> drawn;
  switch (scheme) {
    case ValueScheme::kSanta:
      statistics.exact_variance = reference::variance_iid(p, values, d, samples);
      drawn = reference::drawn_iid(p, samples);
      break;
    case ValueScheme::kStratified:
      statistics.exact_variance = reference::variance_stratified(p, values, d, samples);
      drawn = reference::drawn_stratified(p, samples);
      break;
    default:
      statistics.exact_variance = reference::variance_systematic(p, values, d, samples);
      drawn = reference::drawn_systematic(p, samples);
      break;
  }
  statistics.one_draw = reference::variance_iid(p, values, d, 1);
  statistics.exact_keys = std::accumulate(drawn.begin(), drawn.end(), 0.0);
}

// All KV heads of the trace, measured.
std::vector<GroupStatistics> measure_trace(const Settings& settings, const Execution& execution,
                                           const std::vector<unsigned>& samples_log2) {
  const std::vector<TraceHead> heads = trace_heads(settings.trace);
  std::vector<GroupStatistics> all(heads.size());
  for_each(heads.size(), execution, [&](std::size_t h) {
    all[h] = measure_draws(heads[h].head, samples_log2, kReplicates, settings.seed * 100 + h);
  });
  return all;
}

// What is averaged of a query head.
using Quantity = double (*)(const DrawStatistics&);

double variance(const DrawStatistics& s) {
  return s.variance;
}
double exact_variance(const DrawStatistics& s) {
  return s.exact_variance;
}
double share(const DrawStatistics& s) {
  return s.variance / s.one_draw;
}
double exact_share(const DrawStatistics& s) {
  return s.exact_variance / s.one_draw;
}
double keys(const DrawStatistics& s) {
  return s.keys;
}
double exact_keys(const DrawStatistics& s) {
  return s.exact_keys;
}

// Mean over the query heads of all KV heads but one.
double mean_of(const std::vector<GroupStatistics>& all, std::size_t sampler, std::size_t budget,
               Quantity quantity, std::optional<std::size_t> left_out) {
  Sample sample;
  for (std::size_t h = 0; h < all.size(); ++h) {
    if (left_out == h) continue;
    for (const auto& head : all[h]) sample.add(quantity(head[sampler][budget]));
  }
  return sample.mean();
}

Estimate mean_estimate(const std::vector<GroupStatistics>& all, std::size_t sampler,
                       std::size_t budget, Quantity quantity) {
  return jackknife(all.size(), [&](std::optional<std::size_t> left_out) {
    return mean_of(all, sampler, budget, quantity, left_out);
  });
}

Estimate slope_estimate(const std::vector<GroupStatistics>& all, std::size_t sampler,
                        const std::vector<unsigned>& samples_log2, std::size_t first,
                        std::size_t last, Quantity quantity) {
  return jackknife(all.size(), [&](std::optional<std::size_t> left_out) {
    std::vector<double> x;
    std::vector<double> y;
    for (std::size_t b = first; b <= last; ++b) {
      x.push_back(static_cast<double>(1U << samples_log2[b]));
      y.push_back(mean_of(all, sampler, b, quantity, left_out));
    }
    return log_slope(x, y);
  });
}

Series series(const std::vector<GroupStatistics>& all, std::size_t sampler,
              const std::vector<unsigned>& samples_log2, Quantity quantity, const char* by,
              bool is_reference) {
  Series result;
  result.name = fmt::format("{}, {}", kSamplerNames[sampler], by);
  result.reference = is_reference;
  for (std::size_t b = 0; b < samples_log2.size(); ++b) {
    result.x.push_back(static_cast<double>(1U << samples_log2[b]));
    result.y.push_back(mean_estimate(all, sampler, b, quantity).value);
  }
  return result;
}

std::string protocol(const Settings& settings) {
  return fmt::format(
      R"(Every query head of {} at its last position, {} replicates of the golden sampler a budget,
averaged over heads. Intervals: delete-one jackknife over the trace's KV heads, so they cover what
differs between heads of this one prompt. )",
      settings.trace_name, kReplicates);
}

}  // namespace

GroupStatistics measure_draws(const Head& head, const std::vector<unsigned>& samples_log2,
                              unsigned replicates, std::uint64_t seed) {
  WeighedGroup weighed(head, DecodeOptions{}, seed);
  const std::uint32_t d = head.tensors.shape.head_dimension;
  GroupStatistics statistics(weighed.group());
  for (std::uint32_t g = 0; g < weighed.group(); ++g) {
    const reference::Attention exact = reference::attend(
        head.tensors.query.data() + static_cast<std::size_t>(g) * d, head.tensors.key.data(),
        head.tensors.value.data(), head.tensors.shape.context, d, head.tensors.softmax_scale);
    for (std::size_t s = 0; s < kSamplers.size(); ++s) {
      for (const unsigned log2 : samples_log2) {
        DrawStatistics one = replicate(weighed, g, kSamplers[s], log2, replicates, seed);
        add_exact(one, kSamplers[s], exact.probabilities, head, std::uint64_t{1} << log2);
        statistics[g][s].push_back(one);
      }
    }
  }
  return statistics;
}

Part make_figure7(const Settings& settings, const Execution& execution) {
  constexpr double kSlopes[] = {-1.1, -1.27, -1.29};
  constexpr double kLastDigit[] = {0.05, 0.005, 0.005};
  const std::vector<unsigned> budgets = {3, 4, 5, 6, 7, 8, 9};
  constexpr std::size_t kFirst = 2;  // slopes over 32..256, the budgets of table 17
  constexpr std::size_t kLast = 5;
  const std::vector<GroupStatistics> all = measure_trace(settings, execution, budgets);
  Part part;
  part.name = "figure7";
  part.title = "Figure 7: variance of the samplers against S";
  part.method =
      protocol(settings) +
      R"(The variance is the trace of the output's covariance. Rows with S and the picture show it as a
share of the variance of one draw, head by head, for a few heads have values so large that they
alone would make the plain average. The check is float64 on the real tensors: the closed forms of
appendix M, and for systematic draws, for which the paper has replicates only, the exact integral
over the offset. Slopes are those of the averaged curves over S = 32 to 256, of the plain average
as in appendix M and of the shares.)";
  part.label_columns = {"sampler", "S"};
  part.decimals = 5;
  part.check_columns = {"float64"};
  Figure figure{
      "paper-figure7", part.title, "samples, S", "variance, share of one draw's", true, true, {}};
  for (std::size_t s = 0; s < kSamplers.size(); ++s) {
    for (std::size_t b = 0; b < budgets.size(); ++b) {
      Row row;
      row.labels = {kSamplerNames[s], fmt::format("{}", 1U << budgets[b])};
      row.ours = mean_estimate(all, s, b, share);
      row.checks = {mean_estimate(all, s, b, exact_share)};
      part.rows.push_back(row);
    }
    const auto add_slope = [&](const char* name, Quantity ours, Quantity check) {
      Row row;
      row.labels = {kSamplerNames[s], name};
      row.ours = slope_estimate(all, s, budgets, kFirst, kLast, ours);
      row.checks = {slope_estimate(all, s, budgets, kFirst, kLast, check)};
      row.paper = PaperValue{kSlopes[s], kLastDigit[s], false};
      part.rows.push_back(row);
    };
    add_slope("slope", variance, exact_variance);
    add_slope("slope of shares", share, exact_share);
    figure.series.push_back(series(all, s, budgets, share, "golden model", false));
    figure.series.push_back(series(all, s, budgets, exact_share, "float64", true));
  }
  part.figures.push_back(figure);
  part.summary = "the order and steeper slopes of S2ANTA; not the paper's -1.1 for SANTA";
  part.finding =
      R"(The golden samplers have the variance that float64 states, and the paper's order holds: both
stratified samplers fall faster than 1/S, systematic draws a little faster than independent ones.
The slopes are less steep than the paper's. For SANTA no other slope than -1 is possible where
attention is fixed: its closed form is tr(Sigma) / S. So tr(Sigma) changed with S where the paper found
-1.1. Most likely its forward passes sample while they are measured (appendix M: no dense pass is
performed), so that the attention of later layers depends on S; that would tilt all three curves. Here
keys and values come from an exact prefill. The rest is another model, another text and 5,120 tokens in
place of 8,192.)";
  return part;
}

Part make_table17(const Settings& settings, const Execution& execution) {
  constexpr double kPaper[kSamplers.size()][4] = {
      {11.0, 16.7, 25.9, 38.3}, {12.7, 21.2, 35.8, 60.3}, {13.0, 21.7, 36.4, 61.6}};
  constexpr double kLastDigit = 0.05;
  const std::vector<unsigned> budgets = {5, 6, 7, 8};
  const std::vector<GroupStatistics> all = measure_trace(settings, execution, budgets);
  Part part;
  part.name = "table17";
  part.title = "Table 17: distinct keys of S draws";
  part.method =
      protocol(settings) +
      R"(The check is the expected number in float64 on the real tensors: 1 - (1 - p)^S summed over keys
for SANTA, one product over strata for S2ANTA-strat, min(1, S p) for S2ANTA-sys.)";
  part.label_columns = {"sampler", "S"};
  part.decimals = 1;
  part.check_columns = {"float64"};
  for (std::size_t s = 0; s < kSamplers.size(); ++s) {
    for (std::size_t b = 0; b < budgets.size(); ++b) {
      Row row;
      row.labels = {kSamplerNames[s], fmt::format("{}", 1U << budgets[b])};
      row.ours = mean_estimate(all, s, b, keys);
      row.checks = {mean_estimate(all, s, b, exact_keys)};
      row.paper = PaperValue{kPaper[s][b], kLastDigit, false};
      part.rows.push_back(row);
    }
  }
  part.summary = "the order of the samplers; about twice the paper's keys";
  part.finding =
      R"(The golden samplers draw as many distinct keys as float64 expects, and in the paper's order: SANTA
fewest, S2ANTA-sys most, all of them fewer than S. The attention of this trace is flatter than
that of the paper's prompts, so its draws repeat less and the samplers differ less: these numbers
are a property of model and prompt.)";
  return part;
}

}  // namespace santa::paper
