// Whole decodes against the exact oracle: the rows that are drawn, their counts, and the output as
// a rational number rounded once. The oracle takes the decode's integer weights and exponents and
// the thresholds of its streams, and shares no code with it.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "decode_fixture.hpp"
#include "oracle/exact_sampler.hpp"

namespace santa::attention {
namespace {

using oracle::Integer;
using oracle::Rational;

constexpr ValueScheme kSampled[] = {ValueScheme::kSanta, ValueScheme::kStratified,
                                    ValueScheme::kSystematic};

// Nearest integer, ties to even.
Integer nearest_even(const Rational& value) {
  const Integer low = oracle::floor_of(value);
  const Rational rest = value - Rational(low);
  const bool up = rest > Rational(1, 2) || (rest == Rational(1, 2) && low % 2 != 0);
  return up ? Integer(low + 1) : low;
}

struct Case {
  std::uint32_t group;
  std::uint32_t head_dimension;
  std::uint32_t context;
  std::uint32_t tile_keys;
  float sharpness;  // factor of the queries: how far tiles lie apart
  unsigned samples_log2;
};

// Tiles of one query head as the oracle wants them.
std::vector<oracle::Tile> tiles_of(const DecodeResult& result, const DecodeWorkspace& workspace,
                                   const KvHead& cache, std::uint32_t group, std::uint32_t g) {
  std::int64_t largest = INT64_MIN;
  for (std::uint32_t t = 0; t < cache.tiles(); ++t) {
    largest = std::max<std::int64_t>(largest, result.tiles[t * group + g].exponent);
  }
  std::vector<oracle::Tile> tiles;
  const std::size_t padded = static_cast<std::size_t>(cache.tiles()) * cache.tile_keys;
  for (std::uint32_t t = 0; t < cache.tiles(); ++t) {
    oracle::Tile tile;
    tile.distance = static_cast<unsigned>(largest - result.tiles[t * group + g].exponent);
    const std::uint16_t* weights = workspace.weights.data() + g * padded + t * cache.tile_keys;
    tile.weights.assign(weights, weights + cache.tile_valid_keys(t));
    tiles.push_back(std::move(tile));
  }
  return tiles;
}

// Returns how many keys were compared.
std::uint64_t check(const Case& c, std::uint64_t seed) {
  LayerTensors layer = make_gaussian(one_head(c.group, c.head_dimension, c.context), seed, 0);
  for (float& q : layer.query) q *= c.sharpness;
  const Head head(std::move(layer), c.tile_keys);
  const std::uint64_t samples = std::uint64_t{1} << c.samples_log2;
  std::uint64_t compared = 0;
  for (const ValueScheme scheme : kSampled) {
    DecodeOptions options;
    options.values = scheme;
    options.samples = static_cast<std::uint32_t>(samples);
    const DecodeRequest request = head.request(options, seed);
    DecodeWorkspace workspace;
    const DecodeResult result = decode(head.cache, c.context, request, options, workspace);
    for (std::uint32_t g = 0; g < c.group; ++g) {
      const oracle::Head exact(tiles_of(result, workspace, head.cache, c.group, g));
      EXPECT_EQ(exact.mass(), Integer(result.heads[g].mass));
      std::vector<Integer> thresholds;
      for (const std::uint64_t threshold : make_thresholds(scheme, result.heads[g], c.samples_log2,
                                                           request.value_streams[g], nullptr)) {
        thresholds.emplace_back(threshold);
      }
      const std::vector<std::uint64_t> counts = exact.counts(thresholds, samples);
      const std::vector<std::uint32_t> drawn = counts_of(result, g, c.context);
      EXPECT_TRUE(std::equal(counts.begin(), counts.end(), drawn.begin(), drawn.end()))
          << to_string(scheme) << " seed " << seed << " head " << g;
      for (std::uint32_t i = 0; i < c.head_dimension; ++i) {
        Integer sum = 0;
        for (std::uint32_t n = 0; n < c.context; ++n) {
          if (counts[n] != 0) sum += Integer(counts[n]) * int{head.cache.value_row(n)[i]};
        }
        const Rational output(Integer(sum * 256), Integer(samples));
        EXPECT_EQ(Integer(int{result.output[g * c.head_dimension + i]}), nearest_even(output))
            << to_string(scheme) << " seed " << seed << " feature " << i;
      }
      compared += counts.size();
    }
  }
  return compared;
}

TEST(DecodeOracle, RowsCountsAndOutputsAreTheOracles) {
  boost::random::mt19937 engine(6);
  const auto pick = [&](std::initializer_list<std::uint32_t> choices) {
    return choices.begin()[engine() % choices.size()];
  };
  std::uint64_t compared = 0;
  unsigned cases = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Case c{};
    c.group = 1 + engine() % 3;
    c.head_dimension = pick({1, 3, 16});
    c.context = pick({1, 2, 15, 16, 17, 63, 64, 65, 200});
    c.tile_keys = pick({16, 64, 256});
    c.sharpness = static_cast<float>(pick({0, 1, 5, 30}));
    c.samples_log2 = pick({0, 1, 4, 6, 9, 10});  // from 9 on the output is rounded
    compared += check(c, seed);
    ++cases;
    if (HasFailure()) FAIL() << "first failing seed: " << seed;
  }
  EXPECT_EQ(cases, 60U);
  EXPECT_GT(compared, 15000U);
}

// Nearest integer, halves away from zero.
Integer nearest_away(const Rational& value) {
  return value < 0 ? Integer(-oracle::floor_of(Rational(1, 2) - value))
                   : oracle::floor_of(value + Rational(1, 2));
}

// The baselines as docs/numerics.md defines them, in rationals: dense units floor a tile's value
// sum and its mass, top-k units floor each key's mass.
TEST(DecodeOracle, BaselinesAreTheirDefinition) {
  constexpr std::uint32_t kContext = 2000;
  constexpr std::uint32_t kTile = 16;
  constexpr std::uint32_t kFeatures = 24;
  unsigned checks = 0;
  for (const float sharpness : {1.0F, 8.0F, 20.0F}) {
    LayerTensors layer = make_gaussian(one_head(2, kFeatures, kContext), 77, 0);
    for (float& q : layer.query) q *= sharpness;
    const Head head(std::move(layer), kTile);
    for (const ValueScheme scheme : {ValueScheme::kDense, ValueScheme::kTopK}) {
      DecodeOptions options;
      options.values = scheme;
      options.samples = 300;
      DecodeWorkspace workspace;
      const DecodeResult result =
          decode(head.cache, kContext, head.request(options, 1), options, workspace);
      for (std::uint32_t g = 0; g < 2; ++g) {
        const std::vector<oracle::Tile> tiles = tiles_of(result, workspace, head.cache, 2, g);
        const std::vector<std::uint32_t> taken = counts_of(result, g, kContext);
        for (std::uint32_t i = 0; i < kFeatures; ++i) {
          Integer sum = 0;
          Integer mass = 0;
          for (std::uint32_t t = 0; t < tiles.size(); ++t) {
            const Rational unit = oracle::power_of_two(8 - static_cast<int>(tiles[t].distance));
            Rational tile_sum = 0;
            for (std::uint32_t k = 0; k < tiles[t].weights.size(); ++k) {
              const std::uint32_t key = t * kTile + k;
              const int value = head.cache.value_row(key)[i];
              if (scheme == ValueScheme::kDense) {
                tile_sum += Rational(tiles[t].weights[k]) * value;
              } else if (taken[key] != 0) {
                const Integer weight = oracle::floor_of(tiles[t].weights[k] * unit);
                sum += weight * value;
                mass += weight;
              }
            }
            if (scheme == ValueScheme::kDense) {
              sum += oracle::floor_of(tile_sum * unit);
              mass += oracle::Head::tile_mass(tiles[t]);
            }
          }
          ASSERT_EQ(Integer(int{result.output[g * kFeatures + i]}),
                    nearest_away(Rational(Integer(sum * 256), mass)))
              << to_string(scheme) << " sharpness " << sharpness << " feature " << i;
          ++checks;
        }
      }
    }
  }
  EXPECT_EQ(checks, 3U * 2 * 2 * kFeatures);
}

// Long contexts and large budgets, where the oracle would be slow: the counts add up, zero weights
// draw nothing, and in the stratified schemes no key passes its share by two.
TEST(DecodeOracle, CountsAddUpOnLongContexts) {
  unsigned checks = 0;
  for (const std::uint32_t context : {2047U, 2048U, 32767U, 32768U}) {
    LayerTensors layer = make_gaussian(one_head(2, 16, context), context, 0);
    for (float& q : layer.query) q *= 4.0F;
    const Head head(std::move(layer), 64);
    for (const ValueScheme scheme : kSampled) {
      for (const std::uint32_t samples : {1U, 64U, 4096U}) {
        DecodeOptions options;
        options.values = scheme;
        options.samples = samples;
        DecodeWorkspace workspace;
        const DecodeResult result =
            decode(head.cache, context, head.request(options, samples), options, workspace);
        const std::size_t padded = static_cast<std::size_t>(head.cache.tiles()) * 64;
        for (std::uint32_t g = 0; g < 2; ++g) {
          std::uint64_t sum = 0;
          for (const SampledRow& row : result.rows) {
            const std::uint64_t weight = workspace.weights[g * padded + row.key];
            sum += row.counts[g];
            if (row.counts[g] == 0) continue;
            ASSERT_NE(weight, 0U) << "key " << row.key;
            if (scheme == ValueScheme::kSanta) continue;
            // An interval of w S / Z strata meets at most that many, rounded up, and one more.
            const std::uint64_t mass = (weight << 8) >> result.heads[g].distance[row.key / 64];
            ASSERT_LE(row.counts[g], (mass + 1) * samples / result.heads[g].mass + 2);
          }
          ASSERT_EQ(sum, samples) << to_string(scheme) << " n " << context;
          ++checks;
        }
      }
    }
  }
  EXPECT_EQ(checks, 4U * 3 * 3 * 2);
}

}  // namespace
}  // namespace santa::attention
