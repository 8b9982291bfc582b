// Table 9 of the paper from the golden model: distinct value rows that i.i.d. sampling reads in a
// causal prefill, Gaussian inputs, 32 heads of dimension 128.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "decode_fixture.hpp"

namespace santa::attention {
namespace {

constexpr std::uint32_t kDimension = 128;
constexpr std::uint32_t kHeads = 32;
constexpr std::uint32_t kTileKeys = 64;
constexpr unsigned kBudgets = 4;
constexpr unsigned kSamplesLog2[kBudgets] = {0, 2, 3, 4};  // S = 1, 4, 8, 16

// Percent of rows read by the union over all query positions, for each budget; one head.
std::array<double, kBudgets> unique_rows(std::uint32_t keys, std::uint64_t seed) {
  // One query a position: the layer's "query heads" are the positions.
  const Head head(make_gaussian(one_head(keys, kDimension, keys), seed, 0), kTileKeys);
  std::vector<std::int32_t> scores(kTileKeys);
  std::vector<std::uint16_t> weights(keys);
  std::vector<std::uint16_t> counts(kTileKeys);
  std::array<std::vector<bool>, kBudgets> read;
  read.fill(std::vector<bool>(keys, false));
  for (std::uint32_t position = 0; position < keys; ++position) {
    const EncodedQuery query = encode_query(
        prepare_query(head.tensors.query.data() + static_cast<std::size_t>(position) * kDimension,
                      1, kDimension, head.cache.key_scale.data(), head.tensors.softmax_scale,
                      ScoreScheme::kExact, 0),
        0);
    const std::uint32_t context = position + 1;
    const std::uint32_t tiles = (context + kTileKeys - 1) / kTileKeys;
    std::vector<TileStatistics> statistics(tiles);
    const auto valid = [&](std::uint32_t t) {
      return std::min(kTileKeys, context - t * kTileKeys);
    };
    for (std::uint32_t t = 0; t < tiles; ++t) {
      score_tile(query, head.cache.tile(t), kTileKeys, scores.data());
      statistics[t] = weigh_tile(scores.data(), valid(t), kTileKeys, query.scale[0],
                                 weights.data() + static_cast<std::size_t>(t) * kTileKeys);
    }
    const HeadStatistics totals = combine_tiles(statistics.data(), tiles, 1);
    for (unsigned b = 0; b < kBudgets; ++b) {
      const std::uint64_t stream =
          arithmetic::derive_stream(seed, {b, 0, 0, position, arithmetic::StreamPurpose::kValues});
      std::uint64_t words = 0;
      const auto thresholds =
          make_thresholds(ValueScheme::kSanta, totals, kSamplesLog2[b], stream, &words);
      std::uint32_t cursor = 0;
      for (std::uint32_t t = 0; t < tiles && cursor < thresholds.size(); ++t) {
        std::fill(counts.begin(), counts.end(), std::uint16_t{0});
        const std::uint32_t taken =
            sample_tile(totals, t, weights.data() + static_cast<std::size_t>(t) * kTileKeys,
                        valid(t), thresholds, cursor, kSamplesLog2[b], counts.data());
        cursor += taken;
        for (std::uint32_t k = 0; taken > 0 && k < kTileKeys; ++k) {
          if (counts[k] > 0) read[b][t * kTileKeys + k] = true;
        }
      }
    }
  }
  std::array<double, kBudgets> percent{};
  for (unsigned b = 0; b < kBudgets; ++b) {
    percent[b] =
        100.0 * static_cast<double>(std::count(read[b].begin(), read[b].end(), true)) / keys;
  }
  return percent;
}

void compare(std::uint32_t keys, unsigned trials, const std::array<double, kBudgets>& paper) {
  const unsigned heads = trials * kHeads;
  std::array<double, kBudgets> sum{};
  std::array<double, kBudgets> squares{};
  for (unsigned h = 0; h < heads; ++h) {
    const auto percent = unique_rows(keys, 1000 + h);
    for (unsigned b = 0; b < kBudgets; ++b) {
      sum[b] += percent[b];
      squares[b] += percent[b] * percent[b];
    }
  }
  const double t =
      boost::math::quantile(boost::math::complement(boost::math::students_t(heads - 1), 0.025));
  for (unsigned b = 0; b < kBudgets; ++b) {
    const double mean = sum[b] / heads;
    const double deviation = std::sqrt((squares[b] / heads - mean * mean) * heads / (heads - 1));
    const double interval = t * deviation / std::sqrt(heads);
    fmt::print("Table 9, n_k {}, S {:2}: ours {:.2f} +- {:.2f}, paper {:.2f}, difference {:+.2f}\n",
               keys, 1U << kSamplesLog2[b], mean, interval, paper[b], mean - paper[b]);
    EXPECT_NEAR(mean, paper[b], 0.4) << "S " << (1U << kSamplesLog2[b]);
    EXPECT_LT(interval, 0.2) << "too few trials to tell";
  }
}

TEST(PaperTable9, UniqueRows1024) {
  compare(1024, 8, {49.90, 79.95, 88.92, 94.07});
}

TEST(PaperTable9, UniqueRows2048) {
  compare(2048, 3, {50.04, 80.00, 88.83, 94.11});
}

}  // namespace
}  // namespace santa::attention
