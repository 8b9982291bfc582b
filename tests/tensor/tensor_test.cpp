#include "santa/tensor/tensor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "santa/error.hpp"
#include "support.hpp"

namespace santa::tensor {
namespace {

// The definition of the formats: sign, exponent field, fraction field.
double by_definition(std::uint32_t bits, int exponent_bits, int fraction_bits) {
  const int exponent = static_cast<int>(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = static_cast<int>(bits) & ((1 << fraction_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = (bits >> (exponent_bits + fraction_bits)) & 1U ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

void expect_same(float actual, double expected, std::uint32_t bits) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(actual)) << bits;
    return;
  }
  EXPECT_EQ(static_cast<double>(actual), expected) << bits;
  EXPECT_EQ(std::signbit(actual), std::signbit(expected)) << bits;
}

TEST(Conversion, EveryF16PatternByDefinition) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    expect_same(float_from_f16(static_cast<std::uint16_t>(bits)), by_definition(bits, 5, 10), bits);
  }
}

TEST(Conversion, EveryBf16PatternByDefinition) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    expect_same(float_from_bf16(static_cast<std::uint16_t>(bits)), by_definition(bits, 8, 7), bits);
  }
}

TEST(Conversion, WholeTensorsLikeSinglePatterns) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    Tensor tensor{"t", dtype, {65536}, std::vector<std::uint8_t>(131072)};
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
      tensor.bytes[2 * bits] = static_cast<std::uint8_t>(bits & 255);
      tensor.bytes[2 * bits + 1] = static_cast<std::uint8_t>(bits >> 8);
    }
    const std::vector<float> values = tensor.to_floats();
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
      const bool half = dtype == DType::kF16;
      expect_same(values[bits], by_definition(bits, half ? 5 : 8, half ? 10 : 7), bits);
    }
  }
}

TEST(Conversion, EveryInt8) {
  std::vector<int> numbers;
  for (int i = -128; i < 128; ++i) numbers.push_back(i);
  const Tensor tensor = i8_tensor("t", {256}, numbers);
  for (std::uint64_t i = 0; i < 256; ++i) {
    EXPECT_EQ(tensor.at(i), static_cast<float>(i) - 128.0F);
    EXPECT_EQ(tensor.int8_data()[i], static_cast<int>(i) - 128);
  }
}

TEST(Tensor, RangesAreChecked) {
  const Tensor tensor = f32_tensor("t", {2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(tensor.elements(), 6U);
  EXPECT_EQ(tensor.to_floats(2, 3), (std::vector<float>{2, 3, 4}));
  EXPECT_TRUE(tensor.to_floats(6, 0).empty());
  EXPECT_THROW(tensor.to_floats(6, 1), std::out_of_range);
  EXPECT_THROW(tensor.to_floats(7, 0), std::out_of_range);
  EXPECT_THROW(tensor.to_floats(1, UINT64_MAX), std::out_of_range);
  EXPECT_THROW(tensor.at(6), std::out_of_range);
  EXPECT_THROW(tensor.int8_data(), std::logic_error);
}

TEST(RequireFinite, NamesFileTensorIndexAndValue) {
  const TemporaryFolder folder;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  f32_tensor("t", {2, 3}, {0, 1, 2, 3, 4, 5}).require_finite("f");
  const auto message = [&](const Tensor& tensor) {
    return message_of([&] { tensor.require_finite("f"); }, folder);
  };
  EXPECT_EQ(message(f32_tensor("t", {2, 3}, {0, 1, 2, 3, kNaN, kInfinity})),
            "f: tensor \"t\": NaN at index [1, 1] of [2, 3], element 4; allowed: finite values");
  EXPECT_EQ(message(f32_tensor("a\nb", {1}, {-kInfinity})),
            "f: tensor \"a\\nb\": -Inf at index [0] of [1], element 0; allowed: finite values");
  EXPECT_EQ(message(Tensor{"h", DType::kF16, {2}, {0, 0, 0, 0x7c}}),
            "f: tensor \"h\": Inf at index [1] of [2], element 1; allowed: finite values");
  EXPECT_EQ(message(Tensor{"b", DType::kBF16, {}, {0xc0, 0x7f}}),
            "f: tensor \"b\": NaN at index [] of [], element 0; allowed: finite values");
}

}  // namespace
}  // namespace santa::tensor
