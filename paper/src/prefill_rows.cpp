#include "santa/paper/prefill_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "santa/attention/head.hpp"
#include "santa/paper/part.hpp"

namespace santa::paper {
namespace {

using namespace attention;

constexpr std::uint32_t kDimension = 128;
constexpr std::uint32_t kTileKeys = 64;
constexpr std::size_t kBudgets = kPrefillSamplesLog2.size();

// The rows that were read so far, for one budget.
using Rows = std::vector<bool>;

// One query's weights over its causal context, and the draws of every budget from them.
class Position {
 public:
  Position(std::uint32_t keys, std::uint64_t seed)
      : seed_(seed), weights_(keys + kTileKeys), counts_(kTileKeys) {}

  // `scores`: accumulators of the keys, tile after tile, `stride` apart.
  void weigh(std::uint32_t position, std::int32_t* scores, std::size_t stride,
             arithmetic::ScaleFactor scale) {
    position_ = position;
    const std::uint32_t tiles = (context() + kTileKeys - 1) / kTileKeys;
    statistics_.resize(tiles);
    for (std::uint32_t t = 0; t < tiles; ++t) {
      statistics_[t] = weigh_tile(scores + t * stride, valid(t), kTileKeys, scale,
                                  weights_.data() + static_cast<std::size_t>(t) * kTileKeys);
    }
    totals_ = combine_tiles(statistics_.data(), tiles, 1);
  }

  void draw(std::size_t budget, Rows& read) {
    const unsigned samples_log2 = kPrefillSamplesLog2[budget];
    const std::uint64_t stream = arithmetic::derive_stream(
        seed_, {budget, 0, 0, position_, arithmetic::StreamPurpose::kValues});
    std::uint64_t words = 0;
    const auto thresholds =
        make_thresholds(ValueScheme::kSanta, totals_, samples_log2, stream, &words);
    std::uint32_t cursor = 0;
    for (std::uint32_t t = 0; cursor < thresholds.size(); ++t) {
      std::fill(counts_.begin(), counts_.end(), std::uint16_t{0});
      const std::uint32_t taken =
          sample_tile(totals_, t, weights_.data() + static_cast<std::size_t>(t) * kTileKeys,
                      valid(t), thresholds, cursor, samples_log2, counts_.data());
      cursor += taken;
      for (std::uint32_t k = 0; taken > 0 && k < kTileKeys; ++k) {
        if (counts_[k] > 0) read[t * kTileKeys + k] = true;
      }
    }
  }

 private:
  std::uint32_t context() const { return position_ + 1; }
  std::uint32_t valid(std::uint32_t tile) const {
    return std::min(kTileKeys, context() - tile * kTileKeys);
  }

  std::uint64_t seed_;
  std::uint32_t position_ = 0;
  std::vector<std::uint16_t> weights_;
  std::vector<std::uint16_t> counts_;
  std::vector<TileStatistics> statistics_;
  HeadStatistics totals_;
};

// Percent of rows read if all keys of a context weighed the same: the row at place j, from 0, is
// missed by all later queries with a chance of (j / n)^S.
double equal_weights_percent(std::uint32_t keys, double samples) {
  double missed = 0.0;
  for (std::uint32_t j = 0; j < keys; ++j)
    missed += std::pow(static_cast<double>(j) / keys, samples);
  return 100.0 * (1.0 - missed / keys);
}

}  // namespace

std::array<double, kBudgets> prefill_rows_percent(std::uint32_t keys, std::uint64_t seed) {
  // One query a position: the layer's "query heads" are the positions. Positions are scored
  // together, as many as share a gather.
  const Head head(make_gaussian({keys, 1, kDimension, keys}, seed, 0), kTileKeys);
  constexpr std::uint32_t kTogether = arithmetic::kMaxGroup;
  std::vector<std::int32_t> scores(static_cast<std::size_t>(keys + kTileKeys) * kTogether);
  std::array<Rows, kBudgets> read;
  read.fill(Rows(keys, false));
  Position query(keys, seed);
  for (std::uint32_t first = 0; first < keys; first += kTogether) {
    const std::uint32_t group = std::min(kTogether, keys - first);
    const EncodedQuery encoded = encode_query(
        prepare_query(head.tensors.query.data() + static_cast<std::size_t>(first) * kDimension,
                      group, kDimension, head.cache.key_scale.data(), head.tensors.softmax_scale,
                      ScoreScheme::kExact, 0),
        0);
    const std::size_t stride = static_cast<std::size_t>(group) * kTileKeys;
    for (std::uint32_t t = 0; t * kTileKeys < first + group; ++t) {
      score_tile(encoded, head.cache.tile(t), kTileKeys, scores.data() + t * stride);
    }
    for (std::uint32_t g = 0; g < group; ++g) {
      query.weigh(first + g, scores.data() + static_cast<std::size_t>(g) * kTileKeys, stride,
                  encoded.scale[g]);
      for (std::size_t b = 0; b < kBudgets; ++b) query.draw(b, read[b]);
    }
  }
  std::array<double, kBudgets> percent{};
  for (std::size_t b = 0; b < kBudgets; ++b) {
    percent[b] =
        100.0 * static_cast<double>(std::count(read[b].begin(), read[b].end(), true)) / keys;
  }
  return percent;
}

Part make_table9(const Settings& settings, const Execution& execution) {
  struct Length {
    std::uint32_t keys;
    unsigned heads;  // ours; the paper has 10 trials of 32
    std::array<double, kBudgets> paper;
  };
  constexpr Length kLengths[] = {{1024, 320, {49.90, 79.95, 88.92, 94.07}},
                                 {2048, 160, {50.04, 80.00, 88.83, 94.11}},
                                 {4096, 80, {49.96, 79.96, 88.86, 94.10}},
                                 {8192, 40, {49.95, 79.96, 88.86, 94.09}},
                                 {16384, 20, {49.95, 79.95, 88.85, 94.08}}};
  constexpr double kPaperHeads = 320.0;
  constexpr double kLastDigit = 0.005;
  Part part;
  part.name = "table9";
  part.title = "Table 9: value rows that a causal prefill reads";
  part.method =
      R"(Gaussian inputs, head dimension 128. Each query of a causal prefill draws S keys independently; a
row counts when any query of the head drew it. Means over heads, fewer for longer contexts: 320,
160, 80, 40 and 20. The paper's own interval is taken from the deviation between our heads, for
its 10 trials of 32. The check is the share for equal weights, where the key at place j is missed by
every later query with a chance of (j / n)^S: near S / (S + 1).)";
  part.label_columns = {"n_k", "S"};
  part.unit = "%";
  part.check_columns = {"equal weights"};
  part.summary = "every length and budget, but for chance";
  part.finding =
      R"(One row in twenty lies outside its interval by chance alone, and the four budgets of a length share
their heads, so such rows come together. The share does not depend on the length, as in the paper,
and lies just below that for equal weights: softmax weights of Gaussian scores are nearly equal
against the number of keys. Integer weights and draws change nothing that shows.)";
  // All heads of all lengths as one list, the longest first, so that no core waits for the last.
  struct Piece {
    std::size_t length;
    unsigned head;
  };
  std::vector<Piece> pieces;
  for (std::size_t l = std::size(kLengths); l-- > 0;) {
    for (unsigned h = 0; h < kLengths[l].heads; ++h) pieces.push_back({l, h});
  }
  std::vector<std::array<double, kBudgets>> percent(pieces.size());
  for_each(pieces.size(), execution, [&](std::size_t i) {
    const std::uint64_t seed = settings.seed * 1000000 + pieces[i].length * 10000 + pieces[i].head;
    percent[i] = prefill_rows_percent(kLengths[pieces[i].length].keys, seed);
  });
  for (std::size_t l = 0; l < std::size(kLengths); ++l) {
    for (std::size_t b = 0; b < kBudgets; ++b) {
      Sample sample;
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (pieces[i].length == l) sample.add(percent[i][b]);
      }
      const double samples = static_cast<double>(1U << kPrefillSamplesLog2[b]);
      Row row;
      row.labels = {fmt::format("{}", kLengths[l].keys), fmt::format("{}", samples)};
      row.ours = sample.estimate();
      row.checks = {{equal_weights_percent(kLengths[l].keys, samples), 0.0}};
      row.paper =
          PaperValue{kLengths[l].paper[b], t_factor(static_cast<std::size_t>(kPaperHeads) - 1) *
                                                   sample.deviation() / std::sqrt(kPaperHeads) +
                                               kLastDigit};
      part.rows.push_back(row);
    }
  }
  return part;
}

}  // namespace santa::paper
