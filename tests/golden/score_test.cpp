// Tile scores: vectorised code, portable code and the definition give the same integers.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <cstdint>
#include <vector>

#include "santa/arithmetic/coefficient.hpp"
#include "santa/attention/blocks.hpp"

namespace santa::attention {
namespace {

struct ScoreCase {
  EncodedQuery query;
  std::vector<std::int8_t> keys;
  std::uint32_t tile_keys = 0;
};

void find_needed(EncodedQuery& query) {
  for (std::uint32_t i = 0; i < query.head_dimension; ++i) {
    bool any = false;
    for (std::uint32_t g = 0; g < query.group; ++g) {
      any |= query.coefficients[g * query.head_dimension + i] != 0;
    }
    if (any) query.needed_features.push_back(i);
  }
}

// Random coefficients up to `limit`, about a quarter of them zero, keys over all of int8.
ScoreCase random_case(boost::random::mt19937& engine, std::uint32_t group,
                      std::uint32_t head_dimension, std::uint32_t tile_keys, std::int32_t limit) {
  ScoreCase one;
  one.tile_keys = tile_keys;
  one.query.group = group;
  one.query.head_dimension = head_dimension;
  const auto random = [&](std::int32_t low, std::int32_t high) {
    return low + static_cast<std::int32_t>(engine() % static_cast<std::uint32_t>(high - low + 1));
  };
  for (std::uint32_t i = 0; i < group * head_dimension; ++i) {
    const bool zero = engine() % 4 == 0 || (i % head_dimension) % 5 == 3;
    one.query.coefficients.push_back(zero ? std::int16_t{0}
                                          : static_cast<std::int16_t>(random(-limit, limit)));
  }
  for (std::uint32_t i = 0; i < head_dimension * tile_keys; ++i) {
    one.keys.push_back(static_cast<std::int8_t>(random(-128, 127)));
  }
  find_needed(one.query);
  return one;
}

std::vector<std::int32_t> by_definition(const ScoreCase& one) {
  std::vector<std::int32_t> scores(one.query.group * one.tile_keys, 0);
  for (std::uint32_t g = 0; g < one.query.group; ++g) {
    for (std::uint32_t k = 0; k < one.tile_keys; ++k) {
      std::int32_t& score = scores[g * one.tile_keys + k];
      for (std::uint32_t i = 0; i < one.query.head_dimension; ++i) {
        score =
            arithmetic::shift_add(score, one.query.coefficients[g * one.query.head_dimension + i],
                                  one.keys[i * one.tile_keys + k]);
      }
    }
  }
  return scores;
}

// Runs both functions with garbage in the output and with one more row behind it as a guard.
void expect_equal(const ScoreCase& one) {
  const std::vector<std::int32_t> expected = by_definition(one);
  constexpr std::int32_t kGarbage = 0x5A5A5A5A;
  std::vector<std::int32_t> with_guard = expected;
  with_guard.insert(with_guard.end(), one.tile_keys, kGarbage);
  std::vector<std::int32_t> scores(with_guard.size(), kGarbage);
  score_tile(one.query, one.keys.data(), one.tile_keys, scores.data());
  ASSERT_EQ(scores, with_guard) << "group " << one.query.group << " d " << one.query.head_dimension
                                << " tile " << one.tile_keys;
  scores.assign(with_guard.size(), kGarbage);
  score_tile_portable(one.query, one.keys.data(), one.tile_keys, scores.data());
  ASSERT_EQ(scores, with_guard) << "portable, group " << one.query.group;
}

TEST(ScoreTile, EqualsTheDefinitionForEveryGroupAndDimension) {
  boost::random::mt19937 engine(1);
  for (std::uint32_t group = 1; group <= 16; ++group) {
    for (const std::uint32_t d : {1U, 16U, 46U, 64U, 96U, 128U, 192U, 256U, 1024U}) {
      expect_equal(random_case(engine, group, d, 16, 127));
    }
  }
}

TEST(ScoreTile, EqualsTheDefinitionForEveryTileSize) {
  boost::random::mt19937 engine(2);
  for (std::uint32_t tile_keys = 16; tile_keys <= 1024; tile_keys *= 2) {
    for (const std::uint32_t group : {1U, 3U, 6U}) {
      expect_equal(random_case(engine, group, 47, tile_keys, 127));
    }
  }
}

TEST(ScoreTile, EqualsTheDefinitionForOddNumbersOfFeatures) {
  boost::random::mt19937 engine(3);
  for (std::uint32_t d = 1; d <= 40; ++d) expect_equal(random_case(engine, 1 + d % 5, d, 32, 127));
}

TEST(ScoreTile, EqualsTheDefinitionForGroupCoefficients) {
  boost::random::mt19937 engine(4);
  for (const std::uint32_t group : {2U, 7U, 16U}) {
    expect_equal(random_case(engine, group, 65, 16, 8192));
  }
}

TEST(ScoreTile, SaturatedInputsDoNotOverflow) {
  for (const std::int32_t coefficient : {-8192, -127, 127, 8192}) {
    for (const std::int32_t key : {-128, 127}) {
      ScoreCase one;
      one.tile_keys = 16;
      one.query.group = 5;
      one.query.head_dimension = 1024;
      one.query.coefficients.assign(5 * 1024, static_cast<std::int16_t>(coefficient));
      one.keys.assign(1024 * 16, static_cast<std::int8_t>(key));
      find_needed(one.query);
      expect_equal(one);
      std::vector<std::int32_t> scores(5 * 16);
      score_tile(one.query, one.keys.data(), 16, scores.data());
      EXPECT_EQ(scores.back(), 1024 * coefficient * key);
    }
  }
}

TEST(ScoreTile, WithoutFeaturesEveryScoreIsZero) {
  boost::random::mt19937 engine(5);
  ScoreCase one = random_case(engine, 3, 8, 64, 127);
  one.query.coefficients.assign(one.query.coefficients.size(), 0);
  one.query.needed_features.clear();
  expect_equal(one);
}

// Skipped features are not read: keys there may hold anything.
TEST(ScoreTile, SkippedFeaturesAreNotRead) {
  boost::random::mt19937 engine(6);
  ScoreCase one = random_case(engine, 2, 33, 16, 127);
  std::vector<std::int32_t> before(32);
  score_tile(one.query, one.keys.data(), 16, before.data());
  std::uint32_t skipped = 0;
  for (std::uint32_t i = 0; i < 33; ++i) {
    if (one.query.coefficients[i] != 0 || one.query.coefficients[33 + i] != 0) continue;
    for (std::uint32_t k = 0; k < 16; ++k) one.keys[i * 16 + k] = -77;
    ++skipped;
  }
  ASSERT_GT(skipped, 3U);
  std::vector<std::int32_t> after(32);
  score_tile(one.query, one.keys.data(), 16, after.data());
  EXPECT_EQ(before, after);
}

TEST(WeighTile, SumsTheWeightsAndClearsThePadding) {
  boost::random::mt19937 engine(7);
  for (const std::uint32_t valid : {1U, 2U, 15U, 16U, 31U, 32U}) {
    std::vector<std::int32_t> scores;
    for (int k = 0; k < 32; ++k)
      scores.push_back(static_cast<std::int32_t>(engine() % 4000) - 2000);
    const std::vector<std::int32_t> accumulators = scores;
    std::vector<std::uint16_t> weights(32, 999);
    const arithmetic::ScaleFactor scale{8, 1, 2, -1, 4};
    const TileStatistics tile = weigh_tile(scores.data(), valid, 32, scale, weights.data());
    std::int64_t largest = INT64_MIN;
    std::uint32_t sum = 0;
    for (std::uint32_t k = 0; k < 32; ++k) {
      if (k >= valid) {
        EXPECT_EQ(weights[k], 0U);
        continue;
      }
      EXPECT_EQ(scores[k], arithmetic::scale_score(accumulators[k], scale));
      largest = std::max<std::int64_t>(largest, scores[k]);
      EXPECT_EQ(weights[k], arithmetic::weight(scores[k], tile.exponent));
      sum += weights[k];
    }
    EXPECT_EQ(tile.exponent, arithmetic::tile_exponent(static_cast<std::int32_t>(largest)));
    EXPECT_EQ(tile.sum, sum);
    EXPECT_GE(tile.sum, 32768U);
  }
}

TEST(WeighTile, AllScoresMostNegativeWeighAlike) {
  std::vector<std::int32_t> scores(1024, -127 * 128 * 1024);
  std::vector<std::uint16_t> weights(1024);
  const TileStatistics tile =
      weigh_tile(scores.data(), 1024, 1024, {3, 0, 1, 0, 1}, weights.data());
  for (const std::uint16_t weight : weights) EXPECT_EQ(weight, weights[0]);
  EXPECT_EQ(tile.sum, 1024U * weights[0]);
  EXPECT_EQ(weights[0], 32768U);
}

}  // namespace
}  // namespace santa::attention
