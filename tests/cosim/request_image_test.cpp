// Images against bytes that were worked out by hand from docs/rtl.md.
#include "santa/cosim/request_image.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "small_unit.hpp"

namespace santa::cosim {
namespace {

using attention::ScoreScheme;
using Bytes = std::vector<std::uint8_t>;

// Three features, two heads, 18 keys: one full tile and two keys of the next. Key n has the
// features n, -n and 100; its value row is n + 1, -128, 127.
CosimRequest small_request() {
  CosimRequest request;
  auto cache = std::make_shared<attention::KvHead>();
  cache->context = 18;
  cache->head_dimension = 3;
  cache->tile_keys = 16;
  cache->keys.assign(2 * 3 * 16, 0);
  for (std::uint32_t n = 0; n < 18; ++n) {
    const std::size_t tile = std::size_t{n / 16} * 48 + n % 16;
    cache->keys[tile] = static_cast<std::int8_t>(n);
    cache->keys[tile + 16] = static_cast<std::int8_t>(-static_cast<int>(n));
    cache->keys[tile + 32] = 100;
    cache->values.push_back(static_cast<std::int8_t>(n + 1));
    cache->values.push_back(-128);
    cache->values.push_back(127);
  }
  request.cache = cache;
  request.context = 18;
  attention::QueryOperands& query = request.request.query;
  query.group = 2;
  query.head_dimension = 3;
  query.magnitude = {0x7F0000, 0x000001, 0, 0x010203, 0x008000, 0x123456};
  query.negative = {0, 1, 0, 1, 0, 1};
  query.scale = {{-8, 0, 1, 0, 1}, {30, -1, 6, 1, 2}};
  request.request.score_stream = 0x0123456789ABCDEF;
  request.request.value_streams = {1, 0xFFFFFFFFFFFFFFFF};
  request.options.samples = 64;
  return request;
}

Placement small_placement() {
  return {0x100, 0x1000, 0x200000000ULL, 0x3000, 0x4000, 0x5000, 0x8877665544332210ULL};
}

RequestImage small_image(const CosimRequest& request) {
  Random noise(3);
  return make_image(request, small_unit(), small_placement(), 0xCAFEF00D, 5, noise);
}

Bytes slice(const Bytes& bytes, std::size_t from, std::size_t count) {
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

TEST(RequestImage, DescriptorIsTheTableOfTheDocument) {
  const RequestImage image = small_image(small_request());
  const RequestImage::Block* block = image.find(RegionKind::kDescriptor);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->region.begin, 0x100U);
  EXPECT_EQ(block->region.request, 5U);
  Bytes expected(256, 0);
  const auto set = [&](std::size_t offset, const Bytes& bytes) {
    std::copy(bytes.begin(), bytes.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset));
  };
  set(0x00, {18, 0, 0, 0, 3, 0, 2, 0, 6, 0, 0, 0, 0x0D, 0xF0, 0xFE, 0xCA});
  set(0x10, {0x00, 0x10});
  set(0x18, {0, 0, 0, 0, 2});
  set(0x20, {0x00, 0x30});
  set(0x28, {0x00, 0x40});
  set(0x30, {0x00, 0x50});
  set(0x38, {0x10, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88});
  set(0x40, {0xEF, 0xCD, 0xAB, 0x89, 0x67, 0x45, 0x23, 0x01});
  set(0x80, {1});
  set(0x88, {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF});
  set(0xC0, {0xF8, 0x01, 0x01, 0x00});  // e -8, no signs
  set(0xC4, {0x1E, 0x16, 0x0A, 0x00});  // e 30, a 6 minus (6 + 2 * 8), b 2 plus (2 + 1 * 8)
  EXPECT_EQ(block->bytes, expected);
}

TEST(RequestImage, OperandsLieFeatureByFeature) {
  const RequestImage image = small_image(small_request());
  const Bytes& bytes = image.find(RegionKind::kOperands)->bytes;
  ASSERT_EQ(bytes.size(), 32U);  // 24, in whole words of 16
  EXPECT_EQ(slice(bytes, 0, 24),
            (Bytes{0, 0,    0x7F, 0, 0x03, 0x02, 0x01, 0x80, 0x01, 0,    0,    0x80,
                   0, 0x80, 0,    0, 0,    0,    0,    0,    0x56, 0x34, 0x12, 0x80}));
}

TEST(RequestImage, GroupOperandsHaveTheSharedOneFirst) {
  CosimRequest request = small_request();
  attention::QueryOperands& query = request.request.query;
  query.scheme = ScoreScheme::kBernoulliGroup;
  query.magnitude = {0x080000, 0x000100, 0};
  query.ratio = {{-4, 0x8000}, {-3, 1}, {0, 2}, {3, 0}, {1, 0xFFFF}, {2, 5}};
  query.scale = {{4, 1, 3, 0, 1}};
  request.options.scores = ScoreScheme::kBernoulliGroup;
  EXPECT_EQ(make_operands(query),
            (std::vector<std::uint32_t>{0x00080000, 0x00008000, 0x80070000,  //
                                        0x00000100, 0x80010001, 0x0005FFFF,  //
                                        0x00000000, 0x00040002, 0x80060005}));
  const auto descriptor = make_descriptor(request, small_placement(), 1);
  EXPECT_EQ(descriptor[0x07], 2);
  for (const std::size_t offset : {0xC0U, 0xC4U}) {  // the one scale, for both heads
    EXPECT_EQ(descriptor[offset], 4);
    EXPECT_EQ(descriptor[offset + 1], 3 + 8);
    EXPECT_EQ(descriptor[offset + 2], 1);
  }
}

TEST(RequestImage, KeysTailAndValuesLieAsStated) {
  const RequestImage image = small_image(small_request());
  const Bytes& keys = image.find(RegionKind::kKeys)->bytes;
  ASSERT_EQ(keys.size(), 48U);  // the full tile alone
  EXPECT_EQ(keys[5], 5);
  EXPECT_EQ(keys[16 + 5], 0xFB);
  EXPECT_EQ(keys[32 + 5], 100);
  const Bytes& tail = image.find(RegionKind::kTail)->bytes;
  ASSERT_EQ(tail.size(), 32U);  // two keys, 16 bytes apart
  EXPECT_EQ(slice(tail, 0, 3), (Bytes{16, 0xF0, 100}));
  EXPECT_EQ(slice(tail, 16, 3), (Bytes{17, 0xEF, 100}));
  const Bytes& values = image.find(RegionKind::kValues)->bytes;
  ASSERT_EQ(values.size(), 18U * 16);
  EXPECT_EQ(slice(values, 17 * 16, 3), (Bytes{18, 0x80, 127}));
  EXPECT_EQ(image.find(RegionKind::kOutput)->bytes.size(), 2U * 2 * 16);
  EXPECT_EQ(image.find(RegionKind::kScratch), nullptr);
  // Padding is noise, and the same each time.
  EXPECT_NE(slice(tail, 3, 13), Bytes(13, 0));
  EXPECT_EQ(tail, small_image(small_request()).find(RegionKind::kTail)->bytes);
}

TEST(RequestImage, AShorterContextTakesItsTailFromAFullTile) {
  CosimRequest request = small_request();
  request.context = 15;
  const RequestImage image = small_image(request);
  EXPECT_EQ(image.find(RegionKind::kKeys), nullptr);
  const Bytes& tail = image.find(RegionKind::kTail)->bytes;
  ASSERT_EQ(tail.size(), 15U * 16);
  EXPECT_EQ(slice(tail, 14 * 16, 3), (Bytes{14, 0xF2, 100}));
}

// 4 KiB of stash: half of it holds 2048 bytes, 16 tiles of 2 * 16 * 4 bytes for 3 heads. A tile's
// statistics take 32 bytes for 4 heads.
TEST(RequestImage, ScratchIsThereWhenTilesDoNotFit) {
  CosimRequest request = small_request();
  request.request.query.group = 3;
  request.context = 16 * 16;
  EXPECT_EQ(region_sizes(request, small_unit())[5], 0U);
  request.context = 16 * 16 + 1;
  EXPECT_EQ(region_sizes(request, small_unit())[5], 17U * (128 + 32));
  request.request.query.group = 2;
  EXPECT_EQ(region_sizes(request, small_unit())[5], 0U);
}

TEST(RequestImage, EmptyContextsHaveNoKeysAndNoValues) {
  CosimRequest request = small_request();
  request.context = 0;
  const RequestImage image = small_image(request);
  EXPECT_EQ(image.blocks.size(), 3U);
  EXPECT_NE(image.find(RegionKind::kOutput), nullptr);
}

TEST(RequestImage, PlacesAreAlignedAndApart) {
  const CosimRequest request = small_request();
  Allocator allocator(Random(9));
  ByteMemory memory;
  Random noise(1);
  unsigned high = 0;
  for (std::uint32_t i = 0; i < 50; ++i) {
    const Placement placement = place(request, small_unit(), allocator);
    EXPECT_EQ(placement[0] % 256, 0U);
    for (const std::uint64_t address : placement) {
      EXPECT_EQ(address % 16, 0U);
      high += address >> 32 != 0 ? 1U : 0U;
    }
    install(make_image(request, small_unit(), placement, i, i, noise), memory);  // or it throws
  }
  EXPECT_GT(high, 20U);
  EXPECT_LT(high, 330U);
}

TEST(Expectation, HoldsWhatTheGoldenModelFound) {
  const CosimRequest request = small_request();
  const Expectation expected = expect(request);
  ASSERT_EQ(expected.accumulators.size(), 2U * 2 * 16);
  // Head 0: coefficients 127, 0, 0; head 1: -1, 1 (0.5, halves up), -18 (18.2).
  EXPECT_EQ(expected.accumulators[3], 127 * 3);
  EXPECT_EQ(expected.accumulators[16 + 3], -3 - 3 - 1800);
  EXPECT_EQ(expected.accumulators[expected.index(request, 1, 1) + 1], -17 - 17 - 1800);
  EXPECT_EQ(expected.result.tiles.size(), 4U);
  ASSERT_EQ(expected.offsets.size(), 2U);
  EXPECT_LT(expected.offsets[1], expected.result.heads[1].mass);
}

}  // namespace
}  // namespace santa::cosim
