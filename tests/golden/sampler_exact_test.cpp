// The sampler against the exact oracle: every offset at small masses, random heads at large ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "oracle/exact_sampler.hpp"
#include "santa/arithmetic/sampler.hpp"
#include "santa/attention/blocks.hpp"

namespace santa::attention {
namespace {

using oracle::Integer;

// A head by hand: the same tiles for the unit and for the oracle.
struct HandMadeHead {
  std::string name;
  std::vector<oracle::Tile> tiles;

  HeadStatistics statistics() const {
    std::vector<TileStatistics> all;
    for (const oracle::Tile& tile : tiles) {
      TileStatistics one;
      one.exponent = 5 - static_cast<std::int32_t>(tile.distance);
      for (const std::uint32_t weight : tile.weights) one.sum += weight;
      all.push_back(one);
    }
    return combine_tiles(all.data(), static_cast<std::uint32_t>(all.size()), 1);
  }
};

// What the unit draws, tile after tile, for ascending thresholds.
std::vector<std::uint64_t> unit_counts(const HandMadeHead& hand, const HeadStatistics& head,
                                       const std::vector<std::uint64_t>& thresholds,
                                       unsigned samples_log2) {
  std::vector<std::uint64_t> all;
  std::uint32_t cursor = 0;
  for (std::uint32_t t = 0; t < hand.tiles.size(); ++t) {
    const std::vector<std::uint32_t>& wide = hand.tiles[t].weights;
    std::vector<std::uint16_t> weights(wide.begin(), wide.end());
    std::vector<std::uint16_t> counts(weights.size(), 0);
    const std::uint32_t taken =
        sample_tile(head, t, weights.data(), static_cast<std::uint32_t>(weights.size()), thresholds,
                    cursor, samples_log2, counts.data());
    std::uint64_t sum = 0;
    for (const std::uint16_t count : counts) sum += count;
    EXPECT_EQ(sum, taken) << hand.name << " tile " << t;
    cursor += taken;
    all.insert(all.end(), counts.begin(), counts.end());
  }
  EXPECT_EQ(cursor, thresholds.size()) << hand.name;
  return all;
}

// Small masses: weights of a few units, as if the whole tile lay far below its own maximum.
std::vector<HandMadeHead> small_heads() {
  return {
      {"one key", {{{3}, 0}}},
      {"one tile", {{{1, 2, 0, 5, 1}, 0}}},
      {"equal keys", {{{1, 1, 1, 1, 1, 1, 1}, 0}}},
      {"zero weights at both ends", {{{0, 0, 3, 0, 1, 0}, 0}}},
      {"two tiles", {{{1, 2}, 0}, {{3, 1}, 3}}},
      {"distant tile first", {{{3, 1, 4}, 5}, {{1, 1}, 0}}},
      {"parts of a unit", {{{1, 3, 5, 7}, 9}, {{1}, 0}, {{2, 0, 7, 1, 1}, 10}}},
      {"a tile that underflows", {{{1, 1}, 0}, {{1, 1, 1}, 10}, {{2}, 1}}},
      {"only the last tile counts", {{{1, 0}, 11}, {{0, 1}, 63}, {{0, 2, 0}, 0}}},
      {"first tile empty", {{{0, 0}, 63}, {{1, 2}, 0}}},
  };
}

std::vector<std::uint64_t> systematic(std::uint64_t mass, std::uint64_t offset, unsigned s) {
  std::vector<std::uint64_t> thresholds;
  for (std::uint64_t j = 0; j < (std::uint64_t{1} << s); ++j) {
    thresholds.push_back(arithmetic::stratum_threshold(j, mass, offset));
  }
  return thresholds;
}

TEST(SamplerExact, MassIsTheOraclesMass) {
  for (const HandMadeHead& hand : small_heads()) {
    EXPECT_EQ(Integer(hand.statistics().mass), oracle::Head(hand.tiles).mass()) << hand.name;
  }
}

// Over all offsets a key's counts add up to the points of the axis that it owns: its mean count is
// S * w / Z exactly, w being points / S.
TEST(SamplerExact, SystematicIsUnbiasedOverEveryOffset) {
  for (const HandMadeHead& hand : small_heads()) {
    const HeadStatistics head = hand.statistics();
    for (const unsigned s : {0U, 1U, 3U, 4U}) {
      const std::uint64_t samples = std::uint64_t{1} << s;
      const std::vector<Integer> points = oracle::Head(hand.tiles).points(samples);
      std::vector<std::uint64_t> total(points.size(), 0);
      for (std::uint64_t offset = 0; offset < head.mass; ++offset) {
        const auto counts = unit_counts(hand, head, systematic(head.mass, offset, s), s);
        for (std::size_t k = 0; k < counts.size(); ++k) total[k] += counts[k];
      }
      Integer all = 0;
      for (std::size_t k = 0; k < points.size(); ++k) {
        EXPECT_EQ(Integer(total[k]), points[k]) << hand.name << " S " << samples << " key " << k;
        all += points[k];
      }
      EXPECT_EQ(all, Integer(samples) * head.mass) << hand.name;
    }
  }
}

// Each stratum alone: its offset runs through 0..Z-1 and does not depend on the other strata's, so
// the sum over the strata is the sum over independent offsets.
TEST(SamplerExact, StratifiedIsUnbiasedStratumByStratum) {
  constexpr unsigned kSamplesLog2 = 3;
  for (const HandMadeHead& hand : small_heads()) {
    const HeadStatistics head = hand.statistics();
    const std::vector<Integer> points = oracle::Head(hand.tiles).points(8);
    std::vector<std::uint64_t> total(points.size(), 0);
    for (std::uint64_t j = 0; j < 8; ++j) {
      for (std::uint64_t offset = 0; offset < head.mass; ++offset) {
        const auto counts = unit_counts(
            hand, head, {arithmetic::stratum_threshold(j, head.mass, offset)}, kSamplesLog2);
        for (std::size_t k = 0; k < counts.size(); ++k) total[k] += counts[k];
      }
    }
    for (std::size_t k = 0; k < points.size(); ++k) {
      EXPECT_EQ(Integer(total[k]), points[k]) << hand.name << " key " << k;
    }
  }
}

// All pairs of offsets at S = 2: stratified sampling in full.
TEST(SamplerExact, StratifiedIsUnbiasedOverEveryPairOfOffsets) {
  HandMadeHead hand{"two tiles", {{{1, 0}, 0}, {{3, 5, 1}, 6}}};
  const HeadStatistics head = hand.statistics();
  const std::vector<Integer> points = oracle::Head(hand.tiles).points(2);
  std::vector<std::uint64_t> total(points.size(), 0);
  for (std::uint64_t a = 0; a < head.mass; ++a) {
    for (std::uint64_t b = 0; b < head.mass; ++b) {
      const auto counts = unit_counts(hand, head, {a, head.mass + b}, 1);
      for (std::size_t k = 0; k < counts.size(); ++k) total[k] += counts[k];
    }
  }
  for (std::size_t k = 0; k < points.size(); ++k) {
    EXPECT_EQ(Integer(total[k]), points[k] * head.mass) << "key " << k;
  }
}

// Independent draws: every threshold of the axis once gives each key the points that it owns.
TEST(SamplerExact, IndependentDrawsAreUnbiasedOverTheWholeAxis) {
  for (const HandMadeHead& hand : small_heads()) {
    const HeadStatistics head = hand.statistics();
    for (const unsigned s : {0U, 2U, 5U}) {
      const std::vector<Integer> points = oracle::Head(hand.tiles).points(std::uint64_t{1} << s);
      std::vector<std::uint64_t> axis(head.mass << s);
      for (std::uint64_t i = 0; i < axis.size(); ++i) axis[i] = i;
      const auto counts = unit_counts(hand, head, axis, s);
      for (std::size_t k = 0; k < points.size(); ++k) {
        EXPECT_EQ(Integer(counts[k]), points[k]) << hand.name << " s " << s << " key " << k;
      }
    }
  }
}

// At distance 0 the effective weight is the weight with its guard bits, nothing rounded.
TEST(SamplerExact, EffectiveWeightIsTheWeightAtDistanceZero) {
  for (const HandMadeHead& hand : small_heads()) {
    for (const std::uint64_t samples : {1ULL, 256ULL, 4096ULL}) {
      const std::vector<Integer> points = oracle::Head(hand.tiles).points(samples);
      std::size_t key = 0;
      for (const oracle::Tile& tile : hand.tiles) {
        for (const std::uint32_t weight : tile.weights) {
          if (tile.distance == 0) {
            EXPECT_EQ(points[key], Integer(weight) * 256 * samples) << hand.name;
          }
          if (weight == 0) {
            EXPECT_EQ(points[key], 0) << hand.name;
          }
          ++key;
        }
      }
    }
  }
}

// At any distance a key's effective weight differs from its exact one by less than 1 / S of a unit
// of mass; keys that reach beyond the tile's whole units share the loss of the last part of one.
TEST(SamplerExact, EffectiveWeightIsWithinOneUnitAtAnyDistance) {
  boost::random::mt19937 engine(3);
  for (unsigned distance = 0; distance <= 40; ++distance) {
    oracle::Tile tile;
    tile.distance = distance;
    for (int k = 0; k < 20; ++k) tile.weights.push_back(engine() % 65536);
    const oracle::Rational mass(oracle::Head::tile_mass(tile));
    for (const std::uint64_t samples : {1ULL, 64ULL}) {
      const std::vector<Integer> points = oracle::Head({tile}).points(samples);
      oracle::Rational end = 0;
      oracle::Rational lost = 0;
      for (std::size_t k = 0; k < points.size(); ++k) {
        const oracle::Rational effective(points[k], Integer(samples));
        const oracle::Rational exact =
            tile.weights[k] * oracle::power_of_two(8 - static_cast<int>(distance));
        end += exact;
        lost += exact - effective;
        if (end <= mass) {
          EXPECT_LT(abs(effective - exact), oracle::Rational(1, samples)) << distance << ' ' << k;
        }
      }
      EXPECT_GE(lost, 0) << distance;
      EXPECT_LT(lost, 1) << distance;
    }
  }
}

HandMadeHead random_head(boost::random::mt19937& engine) {
  HandMadeHead hand{"random", {}};
  const unsigned tiles = 1 + engine() % 6;
  const unsigned spread = 1 + engine() % 41;
  for (unsigned t = 0; t < tiles; ++t) {
    oracle::Tile tile;
    tile.distance = engine() % spread;
    const unsigned keys = 1 + engine() % 16;
    const unsigned width = engine() % 17;
    for (unsigned k = 0; k < keys; ++k) {
      const bool zero = engine() % 4 == 0;
      tile.weights.push_back(zero ? 0 : engine() & ((1U << width) - 1));
    }
    hand.tiles.push_back(tile);
  }
  // The tile of the largest exponent holds a weight of one half or more, as real tiles do.
  oracle::Tile& first = hand.tiles[engine() % tiles];
  first.distance = 0;
  first.weights[engine() % first.weights.size()] = 32768 + engine() % 32591;
  return hand;
}

TEST(SamplerExact, CountsEqualTheOraclesOnRandomHeads) {
  boost::random::mt19937 engine(4);
  std::uint64_t empty_tiles = 0;
  for (int n = 0; n < 4000; ++n) {
    const HandMadeHead hand = random_head(engine);
    const oracle::Head exact(hand.tiles);
    const HeadStatistics head = hand.statistics();
    ASSERT_EQ(Integer(head.mass), exact.mass()) << n;
    for (std::size_t t = 0; t < hand.tiles.size(); ++t) {
      empty_tiles += head.prefix_mass[t] == head.prefix_mass[t + 1] ? 1U : 0U;
    }
    const unsigned s = n % 200 == 0 ? 12 : engine() % 7;
    const std::uint64_t samples = std::uint64_t{1} << s;
    const std::uint64_t random = (std::uint64_t{engine()} << 32 | engine()) % head.mass;
    for (const std::uint64_t offset : {random, head.mass - 1, std::uint64_t{0}}) {
      const auto counts = unit_counts(hand, head, systematic(head.mass, offset, s), s);
      ASSERT_EQ(counts,
                exact.counts(oracle::systematic_thresholds(head.mass, offset, samples), samples))
          << n << " S " << samples << " offset " << offset;
    }
    std::vector<std::uint64_t> thresholds;
    std::vector<Integer> wide;
    for (std::uint64_t j = 0; j < samples; ++j) {
      thresholds.push_back((std::uint64_t{engine()} << 32 | engine()) % (head.mass << s));
      wide.emplace_back(thresholds.back());
    }
    std::sort(thresholds.begin(), thresholds.end());
    ASSERT_EQ(unit_counts(hand, head, thresholds, s), exact.counts(wide, samples)) << n;
  }
  EXPECT_GT(empty_tiles, 1000U) << "tiles whose mass underflows to 0 must be among the cases";
}

}  // namespace
}  // namespace santa::attention
