// The generator is deterministic, stays within the unit's limits and reaches its corners.
#include "santa/cosim/generator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "santa/cosim/integer_data.hpp"
#include "santa/cosim/request_image.hpp"
#include "small_unit.hpp"

namespace santa::cosim {
namespace {

using attention::ScoreScheme;

constexpr std::uint32_t kEffort = 4096;

UnitParameters wide_unit() {
  UnitParameters unit = small_unit();
  unit.port_bytes = 64;
  unit.tile_keys = 128;
  unit.group_heads = 8;
  unit.max_head_dimension = 256;
  unit.scan_lanes = 16;
  unit.stash_kib = 512;
  return unit;
}

// FNV-1a of the whole image: every byte of the request.
std::uint64_t digest(const CosimRequest& request, const UnitParameters& unit) {
  Random noise(1);
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  const RequestImage image = make_image(request, unit, {}, 0, 0, noise);
  for (const RequestImage::Block& block : image.blocks) {
    for (const std::uint8_t byte : block.bytes) hash = (hash ^ byte) * 0x100000001B3ULL;
  }
  return hash;
}

std::uint64_t digest_of_seed(std::uint64_t seed, const UnitParameters& unit) {
  Random random(seed);
  std::uint64_t hash = 0;
  for (int i = 0; i < 5; ++i)
    hash = hash * 31 + digest(random_request(unit, kEffort, random), unit);
  return hash;
}

// A request that a host may send (docs/rtl.md, "Descriptor"; docs/numerics.md, section 4).
void expect_legal(const CosimRequest& request, const UnitParameters& unit) {
  const attention::QueryOperands& query = request.request.query;
  ASSERT_GE(query.group, 1U);
  ASSERT_LE(query.group, unit.group_heads);
  ASSERT_GE(query.head_dimension, 1U);
  ASSERT_LE(query.head_dimension, unit.max_head_dimension);
  ASSERT_EQ(query.head_dimension, request.cache->head_dimension);
  ASSERT_LE(request.context, request.cache->context);
  ASSERT_EQ(request.cache->tile_keys, unit.tile_keys);
  ASSERT_EQ(query.scheme, request.options.scores);
  ASSERT_LE(request.options.samples, 4096U);
  ASSERT_NE(request.request.score_stream, 0U);
  ASSERT_EQ(request.request.value_streams.size(), query.group);
  for (const std::uint64_t stream : request.request.value_streams) ASSERT_NE(stream, 0U);
  const std::uint32_t largest =
      query.scheme == ScoreScheme::kExact ? 127U << 16 : request.options.bernoulli_draws << 16;
  for (const std::uint32_t magnitude : query.magnitude) ASSERT_LE(magnitude, largest);
  for (const arithmetic::ScaleFactor& scale : query.scale) {
    ASSERT_GE(scale.exponent, arithmetic::kMinScaleExponent);
    ASSERT_LE(scale.exponent, arithmetic::kMaxScaleExponent);
    ASSERT_TRUE(scale.shift_a >= 1 && scale.shift_a <= 6);
    ASSERT_TRUE(scale.shift_b >= 1 && scale.shift_b <= 6);
  }
  for (const arithmetic::GroupRatio& ratio : query.ratio) {
    ASSERT_GE(ratio.exponent, arithmetic::kRatioZeroExponent);
    const int upper = ratio.exponent + (ratio.upper_probability != 0 ? 1 : 0);
    ASSERT_LE(upper, std::ceil(std::log2(query.group)));
  }
  const Expectation expected = expect(request);
  for (std::size_t i = 0; i < expected.accumulators.size(); ++i) {
    const std::size_t head = i / unit.tile_keys % query.group;
    const double octaves = expected.accumulators[i] *
                           attention::scale_value(query.scale[query.scale.size() == 1 ? 0 : head]);
    ASSERT_LT(std::abs(octaves), 4194304.0);
  }
}

TEST(Generator, TheSameSeedGivesTheSameRequests) {
  for (const UnitParameters& unit : {small_unit(), wide_unit()}) {
    std::set<std::uint64_t> all;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const std::uint64_t first = digest_of_seed(seed, unit);
      EXPECT_EQ(first, digest_of_seed(seed, unit));
      all.insert(first);
    }
    EXPECT_EQ(all.size(), 10U);
  }
}

// What a seed stands for must not change unnoticed: reports name it.
TEST(Generator, SeedsKeepTheirMeaning) {
  EXPECT_EQ(Random(1).next(), 0x910A2DEC89025CC1ULL);  // published SplitMix64, seed 1
  Random random(7);
  for (int i = 0; i < 1000; ++i) {
    const std::int32_t value = random.between(-128, 127);
    ASSERT_TRUE(value >= -128 && value <= 127);
  }
}

TEST(Generator, RandomRequestsAreLegalAndReachTheCorners) {
  const UnitParameters unit = small_unit();
  Random random(5);
  std::map<std::string, unsigned> seen;
  constexpr int kRequests = 600;
  for (int i = 0; i < kRequests; ++i) {
    const CosimRequest request = random_request(unit, kEffort, random);
    expect_legal(request, unit);
    if (HasFatalFailure()) FAIL() << "request " << i;
    ++seen[request.workload];
    seen["no keys"] += request.context == 0 ? 1U : 0U;
    seen["one key"] += request.context == 1 ? 1U : 0U;
    seen["full tiles"] += request.context > 0 && request.context % 16 == 0 ? 1U : 0U;
    seen["one beyond"] += request.context % 16 == 1 ? 1U : 0U;
    seen["spill"] += scratch_bytes(unit, request.context, request.group()) > 0 ? 1U : 0U;
    seen["one feature"] += request.head_dimension() == 1 ? 1U : 0U;
    seen["all features"] += request.head_dimension() == 64 ? 1U : 0U;
    seen["one sample"] += request.options.samples == 1 ? 1U : 0U;
    seen["4096 samples"] += request.options.samples == 4096 ? 1U : 0U;
    seen["group " + std::to_string(request.group())] += 1;
    const Expectation expected = expect(request);
    for (std::size_t g = 0; g < expected.offsets.size(); ++g) {
      seen["offset 0"] += expected.offsets[g] == 0 ? 1U : 0U;
      seen["offset Z-1"] += expected.offsets[g] + 1 == expected.result.heads[g].mass ? 1U : 0U;
    }
  }
  for (const char* corner :
       {"random, exact", "random, bernoulli", "random, bernoulli-group", "no keys", "one key",
        "full tiles", "one beyond", "spill", "one feature", "all features", "one sample",
        "4096 samples", "group 1", "group 2", "group 3", "group 4", "offset 0", "offset Z-1"}) {
    EXPECT_GE(seen[corner], 5U) << corner;
  }
}

TEST(Generator, DirectedRequestsAreLegal) {
  for (const UnitParameters& unit : {small_unit(), wide_unit()}) {
    std::map<std::string, unsigned> seen;
    for (const CosimRequest& request : directed_requests(unit, 4096)) {
      expect_legal(request, unit);
      if (HasFatalFailure()) FAIL() << request.workload;
      ++seen[request.workload];
    }
    EXPECT_EQ(seen["equal scores"], 7U);
    EXPECT_EQ(seen["all scores most negative"], 2U);
    EXPECT_EQ(seen["offset U at its ends"], 9U);
    EXPECT_EQ(seen["weights spill"], unit.stash_kib == 4 ? 4U : 0U);
    EXPECT_GE(seen.size(), 17U);
  }
}

TEST(Generator, EmptyTilesAreEmptyAndOffsetsAreWhereTheyShouldBe) {
  const UnitParameters unit = small_unit();
  unsigned empty = 0;
  unsigned far = 0;
  unsigned first = 0;
  unsigned last = 0;
  for (const CosimRequest& request : directed_requests(unit, 4096)) {
    const Expectation expected = expect(request);
    for (std::size_t g = 0; g < expected.offsets.size(); ++g) {
      const attention::HeadStatistics& head = expected.result.heads[g];
      if (request.workload == "tiles below the last") {
        empty += head.prefix_mass[1] == 0 ? 1U : 0U;
        far += head.distance[0] == 63 ? 1U : 0U;
      }
      if (request.workload == "offset U at its ends") {
        first += expected.offsets[g] == 0 ? 1U : 0U;
        last += expected.offsets[g] + 1 == head.mass ? 1U : 0U;
      }
    }
  }
  EXPECT_GE(empty, 3U);
  EXPECT_GE(far, 2U);
  EXPECT_GE(first, 12U);
  EXPECT_GE(last, 12U);
}

// One sample a head: at the border it is the key's, a step below it of a key before. Not of keys
// without a weight, of the first with one, and where a tile's mass is rounded away: two of three
// here.
TEST(Generator, ThresholdsAreSteeredToTheBordersOfKeys) {
  const UnitParameters unit = small_unit();
  Random random(3);
  unsigned borders = 0;
  unsigned far_tiles = 0;
  for (std::uint32_t i = 0; i < 100; ++i) {
    Recipe recipe;
    recipe.context = 5 * unit.tile_keys;
    recipe.head_dimension = 2;
    recipe.samples_log2 = 0;
    recipe.octaves = 30.0;
    CosimRequest request = make_request(recipe, unit.tile_keys, random);
    const std::uint32_t key = 1 + random.below(recipe.context - 1);
    const auto drawn = [&](bool below) {
      steer_to_border(request, 0, key, below);
      return expect(request).result.rows.at(0).key;
    };
    if (drawn(false) != key || drawn(true) >= key) continue;
    ++borders;
    far_tiles += expect(request).result.heads[0].distance[key / unit.tile_keys] > 8 ? 1U : 0U;
  }
  EXPECT_GE(borders, 30U);
  EXPECT_GE(far_tiles, 3U);
}

// A step of 2^-16 of an operand takes it over the border, in one direction or the other.
TEST(Generator, OperandsAreSteeredToTheBordersOfTheirLanes) {
  for (const ScoreScheme scheme : {ScoreScheme::kBernoulli, ScoreScheme::kBernoulliGroup}) {
    Random random(5);
    Recipe recipe;
    recipe.context = 1;
    recipe.group = 3;
    recipe.head_dimension = 20;
    recipe.scores = scheme;
    recipe.draws_log2 = 4;
    CosimRequest request = make_request(recipe, 16, random);
    steer_operands(request, random);
    attention::QueryOperands& query = request.request.query;
    const std::uint64_t stream = request.request.score_stream;
    const auto before = attention::encode_query(query, stream).coefficients;
    std::vector<bool> decided(before.size(), false);
    for (const int step : {-1, 1}) {
      attention::QueryOperands moved = query;
      if (scheme == ScoreScheme::kBernoulli) {
        for (std::uint32_t& m : moved.magnitude) m += static_cast<std::uint32_t>(step);
      } else {
        for (auto& ratio : moved.ratio) {
          ratio.upper_probability = static_cast<std::uint16_t>(ratio.upper_probability + step);
        }
      }
      const auto after = attention::encode_query(moved, stream).coefficients;
      for (std::size_t i = 0; i < before.size(); ++i) {
        if (before[i] != after[i]) decided[i] = true;
      }
    }
    const auto count = std::count(decided.begin(), decided.end(), true);
    EXPECT_GE(count, static_cast<std::ptrdiff_t>(before.size()) * 2 / 3) << to_string(scheme);
  }
}

TEST(Generator, LongRequestsReachTheLongestContext) {
  for (const UnitParameters& unit : {small_unit(), wide_unit()}) {
    std::uint32_t most = 0;
    std::uint64_t most_mass = 0;
    std::uint32_t last_row = 0;
    for (const CosimRequest& request : long_requests(unit)) {
      expect_legal(request, unit);
      EXPECT_GT(request.context, 1U << 16);
      most = std::max(most, request.context);
      const Expectation expected = expect(request);
      for (const attention::HeadStatistics& head : expected.result.heads) {
        most_mass = std::max(most_mass, head.mass);
      }
      for (const auto& row : expected.result.rows) last_row = std::max(last_row, row.key);
    }
    EXPECT_EQ(most, arithmetic::kMaxContext);
    EXPECT_GE(most_mass, std::uint64_t{1} << 35);  // 2^20 keys of nearly the largest weight, 2^16
    EXPECT_GE(last_row, arithmetic::kMaxContext - 256);
  }
}

TEST(Generator, GaussianRequestsArePreparedAsTheCommandLineDoes) {
  attention::DecodeOptions options;
  options.scores = ScoreScheme::kBernoulliGroup;
  const CosimRequest request = gaussian_request({300, 24, 3}, options, 16, 4);
  expect_legal(request, small_unit());
  EXPECT_EQ(request.context, 300U);
  EXPECT_EQ(request.workload, "gaussian, bernoulli-group");
}

}  // namespace
}  // namespace santa::cosim
