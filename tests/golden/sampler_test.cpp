// Thresholds, counts on large heads, top k and log-sum-exp.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "santa/arithmetic/lfsr.hpp"
#include "santa/arithmetic/weight.hpp"
#include "santa/attention/blocks.hpp"

namespace santa::attention {
namespace {

constexpr std::uint32_t kTileKeys = 64;

// Scores x (log2 domain, 8 fraction bits) weighed tile by tile, as a decode does.
struct Weighed {
  std::vector<TileStatistics> tiles;
  std::vector<std::uint16_t> weights;
  HeadStatistics head;

  explicit Weighed(std::vector<std::int32_t> scores) : keys(scores.size()) {
    const std::size_t count = (keys + kTileKeys - 1) / kTileKeys;
    scores.resize(count * kTileKeys);
    weights.resize(count * kTileKeys);
    for (std::size_t t = 0; t < count; ++t) {
      tiles.push_back(weigh_tile(scores.data() + t * kTileKeys, valid(t), kTileKeys,
                                 {8, 0, 1, 0, 1}, weights.data() + t * kTileKeys));
    }
    head = combine_tiles(tiles.data(), static_cast<std::uint32_t>(count), 1);
  }

  std::uint32_t valid(std::size_t tile) const {
    return static_cast<std::uint32_t>(std::min<std::size_t>(kTileKeys, keys - tile * kTileKeys));
  }

  std::vector<std::uint16_t> sample(const std::vector<std::uint64_t>& thresholds,
                                    unsigned samples_log2) const {
    std::vector<std::uint16_t> counts(weights.size(), 0);
    std::uint32_t cursor = 0;
    for (std::size_t t = 0; t < tiles.size(); ++t) {
      cursor +=
          sample_tile(head, static_cast<std::uint32_t>(t), weights.data() + t * kTileKeys, valid(t),
                      thresholds, cursor, samples_log2, counts.data() + t * kTileKeys);
    }
    EXPECT_EQ(cursor, thresholds.size());
    EXPECT_TRUE(std::all_of(counts.begin() + static_cast<std::ptrdiff_t>(keys), counts.end(),
                            [](std::uint16_t count) { return count == 0; }));
    counts.resize(keys);
    return counts;
  }

  std::size_t keys;
};

constexpr ValueScheme kSampled[] = {ValueScheme::kSanta, ValueScheme::kStratified,
                                    ValueScheme::kSystematic};

std::uint64_t stream(std::uint64_t step) {
  return arithmetic::derive_stream(31, {0, 0, 0, step, arithmetic::StreamPurpose::kValues});
}

TEST(Sampler, EqualScoresGetFloorOrCeilingOfTheirShare) {
  for (const std::size_t n : {1U, 2U, 255U, 256U, 257U, 2047U, 2048U, 32768U}) {
    for (const std::int32_t score : {0, -8323072, 1234567}) {
      const Weighed weighed(std::vector<std::int32_t>(n, score));
      for (const unsigned s : {0U, 6U, 8U, 12U}) {
        const std::uint64_t samples = std::uint64_t{1} << s;
        for (const std::uint64_t offset :
             {std::uint64_t{0}, weighed.head.mass / 3, weighed.head.mass - 1}) {
          std::vector<std::uint64_t> thresholds;
          for (std::uint64_t j = 0; j < samples; ++j) {
            thresholds.push_back(j * weighed.head.mass + offset);
          }
          const auto counts = weighed.sample(thresholds, s);
          for (const std::uint16_t count : counts) {
            ASSERT_GE(count, samples / n) << n << " S " << samples;
            ASSERT_LE(count, (samples + n - 1) / n) << n << " S " << samples;
          }
          ASSERT_EQ(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}), samples);
        }
      }
    }
  }
}

TEST(Sampler, CountsAddUpAndZeroWeightsAreNeverDrawn) {
  boost::random::mt19937 engine(1);
  std::uint64_t zero_weights = 0;
  for (std::uint64_t n = 0; n < 600; ++n) {
    const std::int32_t spread = 256 << (engine() % 6);
    std::vector<std::int32_t> scores(1 + engine() % 700);
    for (std::int32_t& score : scores) {
      score =
          static_cast<std::int32_t>(engine() % static_cast<std::uint32_t>(spread * 8)) - spread * 4;
    }
    const Weighed weighed(scores);
    const unsigned s = static_cast<unsigned>(n % 13);
    for (const ValueScheme scheme : kSampled) {
      std::uint64_t words = 0;
      const auto thresholds = make_thresholds(scheme, weighed.head, s, stream(n), &words);
      const auto counts = weighed.sample(thresholds, s);
      ASSERT_EQ(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}),
                std::uint64_t{1} << s);
      for (std::size_t k = 0; k < counts.size(); ++k) {
        if (weighed.weights[k] != 0) continue;
        ++zero_weights;
        ASSERT_EQ(counts[k], 0U) << to_string(scheme) << " key " << k;
      }
    }
  }
  EXPECT_GT(zero_weights, 10000U);
}

TEST(Sampler, OneKeyTakesEverySample) {
  const Weighed weighed({-777});
  for (const ValueScheme scheme : kSampled) {
    const auto thresholds = make_thresholds(scheme, weighed.head, 12, stream(1), nullptr);
    EXPECT_EQ(weighed.sample(thresholds, 12), (std::vector<std::uint16_t>{4096}));
  }
}

// A tile without a threshold draws nothing and its weights are not read.
TEST(Sampler, TileWithoutAThresholdIsNotRead) {
  const TileStatistics tiles[] = {{-100, 32768}, {0, 40000}, {-2, 65535}};
  const HeadStatistics head = combine_tiles(tiles, 3, 1);
  ASSERT_EQ(head.prefix_mass[1], 0U) << "100 octaves below: no mass";
  ASSERT_EQ(head.distance[0], 63U);
  const std::vector<std::uint64_t> thresholds = {0};
  EXPECT_EQ(sample_tile(head, 0, nullptr, 16, thresholds, 0, 0, nullptr), 0U);
  EXPECT_EQ(sample_tile(head, 2, nullptr, 16, thresholds, 1, 0, nullptr), 0U);
}

TEST(Thresholds, LieInTheirStrataAndAscend) {
  boost::random::mt19937 engine(2);
  std::vector<std::int32_t> scores(300);
  for (std::int32_t& score : scores) score = static_cast<std::int32_t>(engine() % 3000);
  const Weighed weighed(scores);
  const std::uint64_t mass = weighed.head.mass;
  for (unsigned s = 0; s <= 12; ++s) {
    const std::uint64_t samples = std::uint64_t{1} << s;
    for (const ValueScheme scheme : kSampled) {
      std::uint64_t words = 5;
      const auto thresholds = make_thresholds(scheme, weighed.head, s, stream(s), &words);
      ASSERT_EQ(thresholds.size(), samples);
      ASSERT_TRUE(std::is_sorted(thresholds.begin(), thresholds.end()));
      ASSERT_LT(thresholds.back(), samples * mass);
      ASSERT_GE(words, 5 + (scheme == ValueScheme::kSystematic ? 1 : samples));
      if (scheme == ValueScheme::kSanta) continue;
      for (std::uint64_t j = 0; j < samples; ++j) ASSERT_EQ(thresholds[j] / mass, j);
      if (scheme != ValueScheme::kSystematic) continue;
      for (const std::uint64_t threshold : thresholds) {
        ASSERT_EQ(threshold % mass, thresholds[0]);
      }
    }
  }
}

TEST(Thresholds, OffsetsDifferBetweenStreamsAndStrata) {
  const Weighed weighed(std::vector<std::int32_t>(100, 0));
  const auto first = make_thresholds(ValueScheme::kStratified, weighed.head, 6, stream(1), nullptr);
  std::uint64_t same = 0;
  for (std::size_t j = 1; j < first.size(); ++j) {
    same += first[j] % weighed.head.mass == first[0] ? 1U : 0U;
  }
  EXPECT_LT(same, 3U);
  EXPECT_NE(first, make_thresholds(ValueScheme::kStratified, weighed.head, 6, stream(2), nullptr));
}

TEST(Thresholds, WithoutKeysThereAreNone) {
  const HeadStatistics head = combine_tiles(nullptr, 0, 1);
  EXPECT_EQ(head.mass, 0U);
  EXPECT_EQ(head.prefix_mass, (std::vector<std::uint64_t>{0}));
  for (const ValueScheme scheme : kSampled) {
    std::uint64_t words = 0;
    EXPECT_TRUE(make_thresholds(scheme, head, 8, stream(1), &words).empty());
    EXPECT_EQ(words, 0U);
  }
  EXPECT_EQ(log_sum_exp(head), -std::numeric_limits<double>::infinity());
}

TEST(CombineTiles, HonoursTheStride) {
  const TileStatistics tiles[] = {{3, 40000}, {9, 1}, {5, 50000}, {9, 1}, {1, 60000}, {9, 1}};
  const HeadStatistics head = combine_tiles(tiles, 3, 2);
  EXPECT_EQ(head.exponent, 5);
  EXPECT_EQ(head.distance, (std::vector<std::uint8_t>{2, 0, 4}));
  const std::uint64_t a = (40000U * 256U) >> 2;
  const std::uint64_t b = 50000U * 256U;
  const std::uint64_t c = (60000U * 256U) >> 4;
  EXPECT_EQ(head.prefix_mass, (std::vector<std::uint64_t>{0, a, a + b, a + b + c}));
  EXPECT_EQ(head.mass, a + b + c);
}

TEST(CombineTiles, LargestContextStaysBelow44Bits) {
  std::vector<TileStatistics> tiles(1024, {7, 1024U * 65535U});
  const HeadStatistics head = combine_tiles(tiles.data(), 1024, 1);
  EXPECT_EQ(head.mass, std::uint64_t{1} * 1024 * 1024 * 65535 * 256);
  EXPECT_LT(head.mass, std::uint64_t{1} << 44);
  // The last threshold there is, in the last tile.
  const std::vector<std::uint16_t> weights(1024, 65535);
  std::vector<std::uint16_t> counts(1024, 0);
  const std::vector<std::uint64_t> last = {4096 * head.mass - 1};
  EXPECT_EQ(sample_tile(head, 1022, weights.data(), 1024, last, 0, 12, counts.data()), 0U);
  EXPECT_EQ(sample_tile(head, 1023, weights.data(), 1024, last, 0, 12, counts.data()), 1U);
  EXPECT_EQ(counts[1023], 1U);
}

// Relative error: half a unit of 2^-16 on weights of 2^-17 and more, at 2^-9 on scores.
TEST(LogSumExp, IsNearTheRealOne) {
  boost::random::mt19937 engine(3);
  for (int n = 0; n < 200; ++n) {
    std::vector<std::int32_t> scores(1 + engine() % 500);
    const std::int32_t base = static_cast<std::int32_t>(engine() % 200000) - 100000;
    double sum = 0.0;
    for (std::int32_t& score : scores) {
      const std::int32_t delta = static_cast<std::int32_t>(engine() % 4096);
      score = base + delta;
      sum += std::exp2(delta / 256.0);
    }
    const double expected = (std::log2(sum) + base / 256.0) * std::log(2.0);
    // Each weight is off by at most 0.75 of 2^-16, the largest one is at least one half; each
    // tile's mass is cut by less than a unit of 2^-24.
    const double bound = static_cast<double>(scores.size()) * 2.0 * 0.76 / 65536.0;
    EXPECT_NEAR(log_sum_exp(Weighed(scores).head), expected, bound) << n;
  }
}

TEST(LogSumExp, OfEqualScoresIsExact) {
  for (const std::size_t n : {1U, 2U, 256U, 4096U}) {
    for (const std::int32_t score : {0, 256, -512, 25600}) {
      EXPECT_NEAR(log_sum_exp(Weighed(std::vector<std::int32_t>(n, score)).head),
                  std::log(static_cast<double>(n)) + score / 256.0 * std::log(2.0), 1e-12);
    }
  }
}

TEST(SelectTopK, TiesGoToTheLowerKey) {
  const std::vector<std::int32_t> scores = {5, 7, 7, 5, 9, 7, 5};
  const auto top = [&](std::uint32_t k) { return select_top_k(scores.data(), 7, k); };
  using Keys = std::vector<std::uint32_t>;
  EXPECT_EQ(top(1), (Keys{4}));
  EXPECT_EQ(top(2), (Keys{1, 4}));
  EXPECT_EQ(top(3), (Keys{1, 2, 4}));
  EXPECT_EQ(top(5), (Keys{0, 1, 2, 4, 5}));
  EXPECT_EQ(top(7), (Keys{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(top(8), (Keys{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(top(4096), (Keys{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(top(0).empty());
  EXPECT_TRUE(select_top_k(scores.data(), 0, 3).empty());
}

TEST(SelectTopK, EqualsASortOnRandomScores) {
  boost::random::mt19937 engine(4);
  for (int n = 0; n < 300; ++n) {
    std::vector<std::int32_t> scores(1 + engine() % 200);
    for (std::int32_t& score : scores) score = static_cast<std::int32_t>(engine() % 20) - 10;
    scores[engine() % scores.size()] = std::numeric_limits<std::int32_t>::min();
    std::vector<std::uint32_t> keys(scores.size());
    std::iota(keys.begin(), keys.end(), 0U);
    std::stable_sort(keys.begin(), keys.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return scores[a] > scores[b]; });
    const std::uint32_t k = 1 + engine() % 220;
    keys.resize(std::min<std::size_t>(k, keys.size()));
    std::sort(keys.begin(), keys.end());
    ASSERT_EQ(select_top_k(scores.data(), static_cast<std::uint32_t>(scores.size()), k), keys);
  }
}

}  // namespace
}  // namespace santa::attention
