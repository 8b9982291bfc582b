// The quantised cache: rounding, exponents, layout, refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "santa/attention/kv_head.hpp"
#include "santa/error.hpp"

namespace santa::attention {
namespace {

template <typename Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::int8_t key_of(const KvHead& head, std::uint32_t token, std::uint32_t feature) {
  return head.tile(token / head.tile_keys)[feature * head.tile_keys + token % head.tile_keys];
}

// One feature, one column of values: quantised values and exponent.
KvHead quantize_values(const std::vector<float>& values) {
  const std::vector<float> keys(values.size(), 0.0F);
  return quantize_kv_head(keys.data(), values.data(), static_cast<std::uint32_t>(values.size()), 1,
                          16);
}
KvHead quantize_keys(const std::vector<float>& keys) {
  const std::vector<float> values(keys.size(), 0.0F);
  return quantize_kv_head(keys.data(), values.data(), static_cast<std::uint32_t>(keys.size()), 1,
                          16);
}

TEST(QuantizeCache, StaysWithinHalfAStep) {
  boost::random::mt19937 engine(1);
  boost::random::normal_distribution<float> normal;
  constexpr std::uint32_t kContext = 333;
  constexpr std::uint32_t kDimension = 37;
  std::vector<float> keys(kContext * kDimension);
  std::vector<float> values(keys.size());
  for (std::size_t n = 0; n < keys.size(); ++n) {
    keys[n] = normal(engine) * std::exp2(static_cast<float>(n % kDimension) - 18.0F);
    values[n] = normal(engine) * std::exp2(static_cast<float>(n % kDimension) - 18.0F);
  }
  const KvHead head = quantize_kv_head(keys.data(), values.data(), kContext, kDimension, 64);
  ASSERT_EQ(head.tiles(), 6U);
  EXPECT_EQ(head.tile_valid_keys(4), 64U);
  EXPECT_EQ(head.tile_valid_keys(5), 13U);
  for (std::uint32_t i = 0; i < kDimension; ++i) {
    const double value_step = std::exp2(head.value_exponent[i]);
    std::int32_t largest = 0;
    for (std::uint32_t n = 0; n < kContext; ++n) {
      const std::int32_t key = key_of(head, n, i);
      const std::int32_t value = head.value_row(n)[i];
      const std::size_t index = n * kDimension + i;
      ASSERT_LE(std::abs(key * head.key_scale[i] - static_cast<double>(keys[index])),
                head.key_scale[i] * (0.5 + 1e-12));
      ASSERT_LE(std::abs(value * value_step - static_cast<double>(values[index])),
                value_step * 0.5);
      ASSERT_LE(std::abs(value), 127);
      largest = std::max(largest, std::abs(key));
    }
    EXPECT_EQ(largest, 127);
  }
  for (std::uint32_t slot = 13; slot < 64; ++slot) {
    for (std::uint32_t i = 0; i < kDimension; ++i) EXPECT_EQ(head.tile(5)[i * 64 + slot], 0);
  }
}

TEST(QuantizeCache, TiesGoToEven) {
  const KvHead values = quantize_values({127.0F, 0.5F, 1.5F, 2.5F, -0.5F, -1.5F, -2.5F, 126.5F});
  EXPECT_EQ(values.value_exponent[0], 0);
  EXPECT_EQ(values.values, (std::vector<std::int8_t>{127, 0, 2, 2, 0, -2, -2, 126}));
  const KvHead keys = quantize_keys({127.0F, 0.5F, 1.5F, 2.5F, -0.5F, -1.5F, -2.5F});
  const std::vector<std::int32_t> expected = {127, 0, 2, 2, 0, -2, -2};
  for (std::uint32_t n = 0; n < 7; ++n) EXPECT_EQ(key_of(keys, n, 0), expected[n]) << n;
}

// Half of the largest key is 63.5 steps whatever the scale: it goes to 64.
TEST(QuantizeCache, HalfOfTheLargestKeyIsATieForEveryScale) {
  boost::random::mt19937 engine(2);
  for (int n = 0; n < 20000; ++n) {
    const float largest = 1.0F + static_cast<float>(engine() >> 8) / 16777216.0F;
    const KvHead head = quantize_keys({largest, largest / 2.0F, -largest / 2.0F});
    ASSERT_EQ(key_of(head, 0, 0), 127) << largest;
    ASSERT_EQ(key_of(head, 1, 0), 64) << largest;
    ASSERT_EQ(key_of(head, 2, 0), -64) << largest;
  }
}

TEST(QuantizeCache, FourBitsHoldSevenSteps) {
  const std::vector<float> data = {7.0F, 3.5F, -2.5F, -14.0F};
  const KvHead head = quantize_kv_head(data.data(), data.data(), 4, 1, 64, {4, 4});
  EXPECT_EQ(head.key_bits, 4U);
  EXPECT_EQ(head.value_bits, 4U);
  EXPECT_EQ(head.key_scale[0], 2.0);
  EXPECT_EQ(head.value_exponent[0], 1);
  // 3.5 / 2 goes to 2, the tie -2.5 / 2 = -1.25 to -1.
  EXPECT_EQ(head.values, (std::vector<std::int8_t>{4, 2, -1, -7}));
  const std::vector<std::int32_t> keys = {4, 2, -1, -7};
  for (std::uint32_t n = 0; n < 4; ++n) EXPECT_EQ(key_of(head, n, 0), keys[n]) << n;
  EXPECT_EQ(message_of([&] {
              quantize_kv_head(data.data(), data.data(), 4, 1, 64, {5, 8});
            }),
            "key/value cache: key_bits: got 5; allowed: 4 or 8");
  EXPECT_EQ(message_of([] {
              const float large = 3e38F;
              quantize_kv_head(&large, &large, 1, 1, 64, {8, 4});
            }),
            "values: magnitude: got 3e+38; allowed: 0 or a largest magnitude per feature between "
            "2^-117 and 2^122");
}

TEST(QuantizeCache, ZeroFeatureHasNoScale) {
  const KvHead head = quantize_keys({0.0F, -0.0F, 0.0F});
  EXPECT_EQ(head.key_scale[0], 0.0);
  EXPECT_EQ(head.value_exponent[0], 0);
  EXPECT_EQ(head.values, (std::vector<std::int8_t>{0, 0, 0}));
  for (std::uint32_t n = 0; n < 3; ++n) EXPECT_EQ(key_of(head, n, 0), 0);
}

TEST(QuantizeCache, ExponentIsTheSmallestThatHolds) {
  for (int e = -120; e <= 120; ++e) {
    const float edge = std::ldexp(127.0F, e);
    const KvHead at = quantize_values({edge});
    ASSERT_EQ(at.value_exponent[0], e);
    ASSERT_EQ(at.values[0], 127);
    const KvHead below = quantize_values({std::nextafter(edge, 0.0F)});
    ASSERT_EQ(below.value_exponent[0], e);
    ASSERT_EQ(below.values[0], 127);
    if (e == 120) continue;
    const KvHead above = quantize_values({-std::nextafter(edge, INFINITY)});
    ASSERT_EQ(above.value_exponent[0], e + 1);
    ASSERT_EQ(above.values[0], -64);
  }
}

TEST(QuantizeCache, RefusesMagnitudesWithoutAnExponent) {
  const std::string allowed =
      "; allowed: 0 or a largest magnitude per feature between 2^-113 and 2^126";
  EXPECT_EQ(message_of([] { quantize_values({3e38F}); }), "values: magnitude: got 3e+38" + allowed);
  EXPECT_EQ(message_of([] { quantize_values({1e-39F}); }),
            "values: magnitude: got 1e-39" + allowed);
  EXPECT_EQ(message_of([] {
              quantize_values({std::ldexp(1.0F, -113), std::ldexp(1.0F, -114)});
            }),
            "no error");
}

TEST(QuantizeCache, RefusesDimensionsOutOfRange) {
  const std::vector<float> data(16, 1.0F);
  const auto quantize = [&](std::uint32_t context, std::uint32_t d, std::uint32_t tile_keys) {
    return message_of([&] { quantize_kv_head(data.data(), data.data(), context, d, tile_keys); });
  };
  const std::string cache = "key/value cache: ";
  EXPECT_EQ(quantize(1, 1, 16), "no error");
  EXPECT_EQ(quantize(0, 1, 16), "no error");
  EXPECT_EQ(quantize(1048577, 1, 16), cache + "context: got 1048577; allowed: 0 to 1048576");
  EXPECT_EQ(quantize(1, 0, 16), cache + "head_dimension: got 0; allowed: 1 to 1024");
  EXPECT_EQ(quantize(1, 1025, 16), cache + "head_dimension: got 1025; allowed: 1 to 1024");
  EXPECT_EQ(quantize(1, 1, 8), cache + "tile_keys: got 8; allowed: 16 to 1024");
  EXPECT_EQ(quantize(1, 1, 2048), cache + "tile_keys: got 2048; allowed: 16 to 1024");
  EXPECT_EQ(quantize(1, 1, 48), cache + "tile_keys: got 48; allowed: a power of two");
}

TEST(AdoptCache, TakesInt8AsItIs) {
  const std::vector<std::int8_t> keys = {-128, 127, 0, 5, -5, 1};
  const std::vector<std::int8_t> values = {1, -128, 127, 4, 5, 6};
  const std::vector<float> key_scale = {0.25F, 0.0F};
  const std::vector<float> value_scale = {std::ldexp(1.0F, -120), std::ldexp(1.0F, 120)};
  const KvHead head =
      adopt_kv_head(keys.data(), values.data(), key_scale.data(), value_scale.data(), 3, 2, 16);
  EXPECT_EQ(head.values, values);
  for (std::uint32_t n = 0; n < 3; ++n) {
    for (std::uint32_t i = 0; i < 2; ++i) EXPECT_EQ(key_of(head, n, i), keys[n * 2 + i]);
  }
  EXPECT_EQ(head.key_scale, (std::vector<double>{0.25, 0.0}));
  EXPECT_EQ(head.value_exponent, (std::vector<std::int8_t>{-120, 120}));
}

TEST(AdoptCache, RefusesScalesThatTheUnitCannotHold) {
  const std::int8_t zero = 0;
  const auto adopt = [&](float key_scale, float value_scale) {
    return message_of([&] { adopt_kv_head(&zero, &zero, &key_scale, &value_scale, 1, 1, 16); });
  };
  const auto key_message = [](const std::string& got) {
    return "key_scale: feature 0: got " + got + "; allowed: a finite number, 0 or more";
  };
  const auto value_message = [](const std::string& got) {
    return "value_scale: feature 0: got " + got + "; allowed: a power of two, 2^-120 to 2^120";
  };
  EXPECT_EQ(adopt(0.0F, 1.0F), "no error");
  EXPECT_EQ(adopt(-0.5F, 1.0F), key_message("-0.5"));
  EXPECT_EQ(adopt(INFINITY, 1.0F), key_message("inf"));
  EXPECT_EQ(adopt(std::numeric_limits<float>::quiet_NaN(), 1.0F), key_message("nan"));
  EXPECT_EQ(adopt(1.0F, 0.75F), value_message("0.75"));
  EXPECT_EQ(adopt(1.0F, 0.0F), value_message("0"));
  EXPECT_EQ(adopt(1.0F, -1.0F), value_message("-1"));
  EXPECT_EQ(adopt(1.0F, INFINITY), value_message("inf"));
  EXPECT_EQ(adopt(1.0F, std::ldexp(1.0F, 121)), value_message("2.658456e+36"));
  EXPECT_EQ(adopt(1.0F, std::ldexp(1.0F, -121)), value_message("3.761582e-37"));
}

}  // namespace
}  // namespace santa::attention
