// Shares of keys and values that are read, as in tables 5, 6 and 7, on the heads of the trace.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "santa/paper/part.hpp"
#include "santa/paper/trace_heads.hpp"
#include "santa/paper/weighed_group.hpp"
#include "santa/reference/systematic.hpp"

namespace santa::paper {
namespace {

using namespace attention;

constexpr double kLastDigit = 0.05;
constexpr const char* kIntervals = "Intervals: Student's t over the trace's KV heads, one prompt. ";

// Percent of the features for which `needed` says how likely each is.
double percent(const std::vector<double>& chances) {
  double sum = 0.0;
  for (const double chance : chances) sum += chance;
  return 100.0 * sum / static_cast<double>(chances.size());
}

// Chance that B stratified draws at probability p give anything: the paper's estimator.
double stratified_chance(double magnitude, double norm, std::uint32_t draws) {
  return std::min(1.0, draws * magnitude / norm);
}

double query(const Head& head, std::uint32_t g, std::uint32_t i) {
  return std::abs(static_cast<double>(
      head.tensors.query[static_cast<std::size_t>(g) * head.tensors.shape.head_dimension + i]));
}

// Shares of K that the paper's estimator reads, float64, norm = max of what is drawn.
struct KeyAccess {
  double head = 0.0;        // each head alone, mean over heads
  double group = 0.0;       // union over the heads of a group
  double mean_query = 0.0;  // equation 6
};

KeyAccess paper_access(const Head& head, std::uint32_t draws) {
  const std::uint32_t d = head.tensors.shape.head_dimension;
  const std::uint32_t heads = head.tensors.shape.query_heads;
  std::vector<double> norms(heads, 0.0);
  std::vector<double> mean(d, 0.0);
  for (std::uint32_t g = 0; g < heads; ++g) {
    for (std::uint32_t i = 0; i < d; ++i) {
      norms[g] = std::max(norms[g], query(head, g, i));
      mean[i] += query(head, g, i) / heads;
    }
  }
  const double mean_norm = *std::max_element(mean.begin(), mean.end());
  std::vector<double> alone;
  std::vector<double> together;
  std::vector<double> of_mean;
  for (std::uint32_t i = 0; i < d; ++i) {
    double missed = 1.0;
    for (std::uint32_t g = 0; g < heads; ++g) {
      alone.push_back(stratified_chance(query(head, g, i), norms[g], draws));
      missed *= 1.0 - alone.back();
    }
    together.push_back(1.0 - missed);
    of_mean.push_back(stratified_chance(mean[i], mean_norm, draws));
  }
  return {percent(alone), percent(together), percent(of_mean)};
}

constexpr unsigned kEncodings = 100;  // of every query

KeyAccess golden_access(const Head& head, std::uint32_t draws, std::uint64_t seed) {
  const std::uint32_t d = head.tensors.shape.head_dimension;
  const auto encode = [&](const QueryOperands& operands, unsigned encoding) {
    return encode_query(operands,
                        arithmetic::derive_stream(
                            seed, {draws, 0, 0, encoding, arithmetic::StreamPurpose::kScores}));
  };
  const QueryOperands separate = head.operands(ScoreScheme::kBernoulli, draws);
  const QueryOperands shared = head.operands(ScoreScheme::kBernoulliGroup, draws);
  double alone = 0.0;
  double together = 0.0;
  double of_mean = 0.0;
  for (unsigned e = 0; e < kEncodings; ++e) {
    const EncodedQuery query = encode(separate, e);
    alone +=
        static_cast<double>(query.coefficients.size()) -
        static_cast<double>(std::count(query.coefficients.begin(), query.coefficients.end(), 0));
    together += static_cast<double>(query.needed_features.size());
    of_mean += static_cast<double>(encode(shared, e).needed_features.size());
  }
  const double features = static_cast<double>(d) * kEncodings / 100.0;
  return {alone / features / head.tensors.shape.query_heads, together / features,
          of_mean / features};
}

// What the paper states of one row: BitNet (table 5) and Llama (table 6).
struct KeyRow {
  const char* what;
  double KeyAccess::*share;
  std::uint32_t draws;
  std::optional<double> bitnet;
  std::optional<double> llama;
};

}  // namespace

Part make_key_access(const Settings& settings, const Execution& execution) {
  const KeyRow rows[] = {
      {"one head", &KeyAccess::head, 1, 25.6, {}},
      {"one head", &KeyAccess::head, 2, 46.3, {}},
      {"one head", &KeyAccess::head, 4, 67.5, {}},
      {"one head", &KeyAccess::head, 8, 82.6, {}},
      {"one head", &KeyAccess::head, 16, 91.1, {}},
      {"group, a query each", &KeyAccess::group, 1, 65.8, {}},
      {"group, a query each", &KeyAccess::group, 2, 88.0, {}},
      {"group, a query each", &KeyAccess::group, 4, 97.9, {}},
      {"group, a query each", &KeyAccess::group, 8, 99.8, {}},
      {"group, a query each", &KeyAccess::group, 16, 100.0, {}},
      {"group, mean query", &KeyAccess::mean_query, 2, 57.9, {}},
      {"group, mean query", &KeyAccess::mean_query, 4, 84.7, 47.3},
      {"group, mean query", &KeyAccess::mean_query, 8, 97.1, 72.8},
      {"group, mean query", &KeyAccess::mean_query, 16, 99.7, 92.1},
  };
  const std::vector<TraceHead> heads = trace_heads(settings.trace);
  std::vector<std::vector<std::pair<KeyAccess, KeyAccess>>> measured(heads.size());
  for_each(heads.size(), execution, [&](std::size_t h) {
    for (const KeyRow& row : rows) {
      measured[h].emplace_back(golden_access(heads[h].head, row.draws, settings.seed * 100 + h),
                               paper_access(heads[h].head, row.draws));
    }
  });
  Part part;
  part.name = "table5";
  part.title = "Tables 5 and 6: key features read with Bernoulli scores";
  part.method = fmt::format(
      R"(Stratified Bernoulli draws of the queries of {}, {} query heads a KV head; mean over {} encodings.
{}The check is the paper's estimator in float64, its norm the largest magnitude; the unit folds
the scale of each key feature into the query and rounds its step up to a grid. The paper's models
have groups of four.)",
      settings.trace_name, heads.front().head.tensors.shape.query_heads, kEncodings, kIntervals);
  part.label_columns = {"features of", "B", "the paper's model"};
  part.unit = "%";
  part.decimals = 1;
  part.check_columns = {"float64"};
  for (std::size_t r = 0; r < std::size(rows); ++r) {
    Sample golden;
    Sample paper;
    for (const auto& head : measured) {
      golden.add(head[r].first.*rows[r].share);
      paper.add(head[r].second.*rows[r].share);
    }
    const auto add = [&](const char* model, double value) {
      Row row;
      row.labels = {rows[r].what, fmt::format("{}", rows[r].draws), model};
      row.ours = golden.estimate();
      row.checks = {paper.estimate()};
      row.paper = PaperValue{value, kLastDigit, false};
      part.rows.push_back(row);
    };
    if (rows[r].bitnet) add("BitNet-2B-4T", *rows[r].bitnet);
    if (rows[r].llama) add("Llama-3.1-8B", *rows[r].llama);
  }
  part.summary = "fewer features than the paper's models; the same shape in B";
  part.finding =
      R"(The share grows with B as in the paper, and the mean query reads far fewer features than the union
of separate ones, but this model's queries are more uneven: a few features are so large that most
others are rarely drawn. The paper notes the same difference between its two models. The unit
reads fewer features than the paper's estimator would on the same queries, for a feature is as
large as its query times the largest key, and its step is rounded up; that is paid in error
(figure 6).)";
  return part;
}

namespace {

constexpr std::array<double, 5> kPaperValues = {2.4, 3.7, 6.2, 10.8, 14.3};  // S = 8..128
constexpr unsigned kFirstLog2 = 3;

// Percent of one KV head's keys and values.
struct Shares {
  double keys = 0.0;
  std::array<double, kPaperValues.size()> values{};
  std::array<double, kPaperValues.size()> expected{};
};

}  // namespace

Part make_value_access(const Settings& settings, const Execution& execution) {
  constexpr std::uint32_t kDraws = 4;           // B
  constexpr std::uint32_t kPaperContext = 304;  // tokens of prompt and answer, table 7
  constexpr unsigned kSeeds = 50;
  struct Length {
    std::string name;
    std::vector<Head> heads;
  };
  std::vector<Length> lengths;
  {
    std::vector<Head> whole;
    std::vector<Head> last;
    for (TraceHead& head : trace_heads(settings.trace)) {
      if (head.head.cache.context > kPaperContext) {
        last.push_back(last_tokens(head.head, kPaperContext));
      }
      whole.push_back(std::move(head.head));
    }
    const std::uint32_t context = whole.front().cache.context;
    if (!last.empty()) lengths.push_back({fmt::format("last {}", kPaperContext), std::move(last)});
    lengths.push_back({fmt::format("all {}", context), std::move(whole)});
  }
  // [length][head]
  std::vector<std::vector<Shares>> shares;
  std::size_t pieces = 0;
  for (const Length& length : lengths) {
    shares.emplace_back(length.heads.size());
    pieces += length.heads.size();
  }
  for_each(pieces, execution, [&](std::size_t piece) {
    std::size_t l = 0;
    std::size_t h = piece;
    while (h >= lengths[l].heads.size()) h -= lengths[l++].heads.size();
    const Head& head = lengths[l].heads[h];
    const double context = head.cache.context;
    Shares& share = shares[l][h];
    DecodeOptions options;
    options.scores = ScoreScheme::kBernoulliGroup;
    options.bernoulli_draws = kDraws;
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
      const std::uint64_t stream = (settings.seed * 100 + h) * 1000 + seed;
      WeighedGroup weighed(head, options, stream);
      share.keys += 100.0 * static_cast<double>(weighed.group_features()) /
                    head.cache.head_dimension / kSeeds;
      for (std::size_t b = 0; b < kPaperValues.size(); ++b) {
        const unsigned log2 = kFirstLog2 + static_cast<unsigned>(b);
        std::vector<bool> read(head.cache.context, false);
        std::vector<double> missed(head.cache.context, 1.0);
        for (std::uint32_t g = 0; g < weighed.group(); ++g) {
          for (const DrawnKey& drawn :
               weighed.draw(g, ValueScheme::kSystematic, log2,
                            arithmetic::derive_stream(
                                stream, {b, 0, g, 0, arithmetic::StreamPurpose::kValues}))) {
            read[drawn.key] = true;
          }
          const std::vector<double> chance =
              reference::drawn_systematic(weighed.probabilities(g), std::uint64_t{1} << log2);
          for (std::size_t n = 0; n < chance.size(); ++n) missed[n] *= 1.0 - chance[n];
        }
        share.values[b] += 100.0 * static_cast<double>(std::count(read.begin(), read.end(), true)) /
                           context / kSeeds;
        for (const double m : missed) share.expected[b] += 100.0 * (1.0 - m) / context / kSeeds;
      }
    }
  });
  Part part;
  part.name = "table7";
  part.title = "Table 7: keys and values read with both samplers";
  part.method = fmt::format(
      R"(Mean-query Bernoulli scores with B = 4 and systematic draws on {}, {} query heads a KV head; a
value row counts once for the whole group. Mean over {} seeds. {}The paper's are BitNet-2B-4T's on
GSM8K with groups of four, at {} tokens on average: the shorter of our two contexts keeps as many
of the last tokens, which is no context that the model saw. The check is the expected share in
float64 of the same scores, 1 - prod over heads of (1 - min(1, S p)).)",
      settings.trace_name, lengths.front().heads.front().tensors.shape.query_heads, kSeeds,
      kIntervals, kPaperContext);
  part.label_columns = {"tokens", "share of", "S"};
  part.unit = "%";
  part.decimals = 2;
  part.check_columns = {"float64, same scores"};
  for (std::size_t l = 0; l < lengths.size(); ++l) {
    const bool as_long = l + 1 < lengths.size();
    const auto add = [&](const char* what, const std::string& samples, const Sample& golden,
                         std::vector<Estimate> checks, double paper) {
      Row row;
      row.labels = {lengths[l].name, what, samples};
      row.ours = golden.estimate();
      row.checks = std::move(checks);
      row.paper = PaperValue{paper, kLastDigit, false};
      part.rows.push_back(row);
    };
    Sample keys;
    for (const Shares& share : shares[l]) keys.add(share.keys);
    if (as_long) add("keys", "any", keys, {{keys.mean(), 0.0}}, 84.7);
    for (std::size_t b = 0; b < kPaperValues.size(); ++b) {
      Sample golden;
      Sample expected;
      for (const Shares& share : shares[l]) {
        golden.add(share.values[b]);
        expected.add(share.expected[b]);
      }
      add("values", fmt::format("{}", 1U << (kFirstLog2 + b)), golden, {expected.estimate()},
          kPaperValues[b]);
    }
  }
  part.summary = "the growth with S; another length and flatter attention";
  part.finding =
      R"(The share of value rows grows slower than S, as in the paper, for heads and draws meet on the same
rows. It cannot agree in size: over the whole context rows are S in thousands of tokens, not in
hundreds, and the short context is a cut of a longer one, of a model with six query heads a KV
head instead of four. What the integers drew is what float64 expects of the same scores.)";
  return part;
}

}  // namespace santa::paper
