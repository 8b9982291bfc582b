// A cache that grows against one that is quantised as a whole.
#include "santa/attention/growing_kv_head.hpp"

#include <gtest/gtest.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "santa/error.hpp"

namespace santa::attention {
namespace {

constexpr std::uint32_t kDimension = 24;
constexpr std::uint32_t kTileKeys = 16;
constexpr std::uint32_t kTokens = 70;

// Magnitudes of very different rows, so that scales change often; feature 3 is 0 for a while.
std::vector<float> rows_of(std::uint32_t seed) {
  boost::random::mt19937 generator(seed);
  boost::random::normal_distribution<double> normal;
  std::vector<float> rows;
  for (std::uint32_t n = 0; n < kTokens; ++n) {
    const double factor = std::exp(1.5 * normal(generator));
    for (std::uint32_t i = 0; i < kDimension; ++i) {
      const double value = factor * normal(generator);
      rows.push_back(i == 3 && n < 20 ? 0.0F : static_cast<float>(value));
    }
  }
  return rows;
}

void expect_same(const KvHead& grown, const KvHead& whole) {
  EXPECT_EQ(grown.context, whole.context);
  EXPECT_EQ(grown.keys, whole.keys);
  EXPECT_EQ(grown.values, whole.values);
  EXPECT_EQ(grown.key_scale, whole.key_scale);
  EXPECT_EQ(grown.value_exponent, whole.value_exponent);
  EXPECT_EQ(grown.key_bits, whole.key_bits);
  EXPECT_EQ(grown.value_bits, whole.value_bits);
}

TEST(GrowingKvHead, IsTheWholeQuantisedAtOnceAfterEachToken) {
  const std::vector<float> keys = rows_of(1);
  const std::vector<float> values = rows_of(2);
  for (const CacheBits bits : {CacheBits{8, 8}, CacheBits{4, 8}, CacheBits{8, 4}}) {
    for (const std::uint32_t first : {0U, 1U, 16U, 33U}) {
      GrowingKvHead head(kDimension, kTileKeys, bits);
      head.append(keys.data(), values.data(), first);
      for (std::uint32_t n = first; n < kTokens; ++n) {
        head.append(keys.data() + n * kDimension, values.data() + n * kDimension, 1);
        expect_same(head.head(), quantize_kv_head(keys.data(), values.data(), n + 1, kDimension,
                                                  kTileKeys, bits));
      }
      EXPECT_EQ(head.keys(), keys);
      EXPECT_EQ(head.values(), values);
    }
  }
}

TEST(GrowingKvHead, CopiesGrowApart) {
  const std::vector<float> keys = rows_of(1);
  const std::vector<float> values = rows_of(2);
  GrowingKvHead first(kDimension, kTileKeys, {});
  first.append(keys.data(), values.data(), 30);
  GrowingKvHead second(first);
  first.append(keys.data() + 30 * kDimension, values.data() + 30 * kDimension, 20);
  expect_same(second.head(),
              quantize_kv_head(keys.data(), values.data(), 30, kDimension, kTileKeys));
  std::vector<float> other(keys.begin(), keys.begin() + 30 * kDimension);
  other.insert(other.end(), keys.end() - 10 * kDimension, keys.end());
  second.append(other.data() + 30 * kDimension, values.data() + 30 * kDimension, 10);
  expect_same(second.head(),
              quantize_kv_head(other.data(), values.data(), 40, kDimension, kTileKeys));
  expect_same(first.head(),
              quantize_kv_head(keys.data(), values.data(), 50, kDimension, kTileKeys));
}

TEST(GrowingKvHead, ARefusedTokenLeavesItAsItWas) {
  const std::vector<float> keys = rows_of(1);
  std::vector<float> values = rows_of(2);
  GrowingKvHead head(kDimension, kTileKeys, {});
  head.append(keys.data(), values.data(), 10);
  const std::vector<float> huge(kDimension, std::numeric_limits<float>::max());
  EXPECT_THROW(head.append(huge.data(), huge.data(), 1), InputError);
  head.append(keys.data() + 10 * kDimension, values.data() + 10 * kDimension, 5);
  expect_same(head.head(), quantize_kv_head(keys.data(), values.data(), 15, kDimension, kTileKeys));
  EXPECT_THROW(GrowingKvHead(kDimension, 17, {}), InputError);
  EXPECT_THROW(GrowingKvHead(kDimension, kTileKeys, {5, 8}), InputError);
}

}  // namespace
}  // namespace santa::attention
