// Scale, exponential, tile mass and normaliser against exact integers and 50-digit decimals.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_dec_float.hpp>
#include <boost/random/mersenne_twister.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "oracle/exact_number.hpp"
#include "santa/arithmetic/sampler.hpp"
#include "santa/arithmetic/weight.hpp"

namespace santa::arithmetic {
namespace {

using boost::multiprecision::cpp_dec_float_50;
using oracle::floor_of;
using oracle::Integer;
using oracle::power_of_two;
using oracle::Rational;

constexpr std::int32_t kInt32Min = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kInt32Max = std::numeric_limits<std::int32_t>::max();

// round(accumulator * kappa * 2^8), halves up.
Integer exact_score(std::int32_t accumulator, ScaleFactor scale) {
  Rational mantissa = 1;
  mantissa += int{scale.sign_a} * power_of_two(-int{scale.shift_a});
  mantissa += int{scale.sign_b} * power_of_two(-int{scale.shift_b});
  const Rational score =
      accumulator * mantissa * power_of_two(static_cast<int>(kScoreFractionBits) - scale.exponent);
  return floor_of(score + Rational(1, 2));
}

std::vector<ScaleFactor> every_mantissa() {
  std::vector<ScaleFactor> all;
  for (int sign_a = -1; sign_a <= 1; ++sign_a) {
    for (int sign_b = -1; sign_b <= 1; ++sign_b) {
      for (unsigned a = 1; a <= kMaxScaleShift; ++a) {
        for (unsigned b = 1; b <= kMaxScaleShift; ++b) {
          all.push_back({0, static_cast<std::int8_t>(sign_a), static_cast<std::uint8_t>(a),
                         static_cast<std::int8_t>(sign_b), static_cast<std::uint8_t>(b)});
        }
      }
    }
  }
  return all;
}

TEST(ScaleScore, EqualsTheExactRationalForEveryScaleFactor) {
  boost::random::mt19937 engine(1);
  for (ScaleFactor scale : every_mantissa()) {
    for (int exponent = kMinScaleExponent; exponent <= kMaxScaleExponent; ++exponent) {
      scale.exponent = static_cast<std::int8_t>(exponent);
      const std::int32_t random = static_cast<std::int32_t>(engine());
      for (const std::int32_t acc : {random, random >> (exponent & 15), kInt32Min, kInt32Max}) {
        ASSERT_EQ(Integer(scale_score(acc, scale)), exact_score(acc, scale))
            << acc << " exponent " << exponent << " signs " << int{scale.sign_a} << ' '
            << int{scale.sign_b} << " shifts " << int{scale.shift_a} << ' ' << int{scale.shift_b};
      }
    }
  }
}

TEST(ScaleScore, RoundsHalvesUpOnBothSidesOfZero) {
  const ScaleFactor half{9, 0, 1, 0, 1};  // x * 2^8 = acc / 2
  EXPECT_EQ(scale_score(1, half), 1);
  EXPECT_EQ(scale_score(-1, half), 0);
  EXPECT_EQ(scale_score(3, half), 2);
  EXPECT_EQ(scale_score(-3, half), -1);
  for (std::int32_t acc = -32768; acc <= 32767; ++acc) {
    for (const std::int8_t exponent : {std::int8_t{8}, std::int8_t{9}, std::int8_t{12}}) {
      const std::int64_t unit = std::int64_t{1} << (exponent - 8);
      const std::int64_t twice = 2 * std::int64_t{acc} + unit;  // floor((2 acc + unit) / (2 unit))
      const std::int64_t expected =
          twice >= 0 ? twice / (2 * unit) : -((-twice + 2 * unit - 1) / (2 * unit));
      ASSERT_EQ(scale_score(acc, {exponent, 0, 1, 0, 1}), expected) << acc;
    }
  }
}

TEST(Exponential, TableIsCorrectlyRounded) {
  ASSERT_EQ(kExponentialTable.size(), 256U);
  for (int f = 0; f < 256; ++f) {
    const cpp_dec_float_50 power = pow(cpp_dec_float_50(2), cpp_dec_float_50(f) / 256 - 1) * 65536;
    const cpp_dec_float_50 entry = kExponentialTable[static_cast<std::size_t>(f)];
    EXPECT_LT(abs(entry - power), cpp_dec_float_50("0.5")) << f;
  }
}

// Every distance that matters: beyond 2^-17 a weight is 0 and right to within half a unit.
TEST(Exponential, WeightErrorStaysBelowItsBoundForEveryDistance) {
  const std::int32_t m = -3;
  for (std::int32_t x = m * 256 - 1; x >= m * 256 - 40 * 256; --x) {
    const double power = std::exp2(x / 256.0 - m) * 65536.0;
    const std::int32_t shift = m - 1 - (x >> 8);
    // Half a unit of the table, shifted, and half a unit of the rounding shift.
    const double bound = shift == 0 ? 0.5 : 0.5 + std::ldexp(0.5, -shift);
    const double error = std::abs(weight(x, m) - power);
    ASSERT_LE(error, bound + 1e-9) << x;
  }
}

TEST(Exponential, WeightIsMonotoneAndBelowOne) {
  for (const std::int32_t m : {-4194304, -1, 0, 1, 77, 4194304}) {
    std::uint32_t previous = 65536;
    for (std::int32_t x = m * 256 - 1; x >= m * 256 - 30 * 256; --x) {
      const std::uint32_t u = weight(x, m);
      ASSERT_LE(u, previous) << x;
      ASSERT_LT(u, 65536U);
      previous = u;
    }
    EXPECT_EQ(previous, 0U);
  }
}

TEST(Exponential, LargestKeyOfATileWeighsAtLeastOneHalf) {
  for (std::int32_t x = -3000; x <= 3000; ++x) {
    ASSERT_GE(weight(x, tile_exponent(x)), 32768U);
  }
}

TEST(Exponential, WeightDependsOnTheDistanceOnly) {
  for (std::int32_t delta = 1; delta < 20 * 256; ++delta) {
    const std::uint16_t at_zero = weight(-delta, 0);
    ASSERT_EQ(weight(kInt32Min / 2 - delta, kInt32Min / 512), at_zero);
    ASSERT_EQ(weight((1 << 30) - delta, 1 << 22), at_zero);
  }
}

TEST(Exponential, FarBelowTheMaximumAWeightIsZero) {
  EXPECT_EQ(weight(-17 * 256 + 255, 0), 1U);  // shift 16, the largest fraction
  EXPECT_EQ(weight(-17 * 256, 0), 1U);        // 2^-17 exactly: half a unit rounds up
  EXPECT_EQ(weight(-17 * 256 - 1, 0), 0U);
  EXPECT_EQ(weight(-(1 << 30), 1 << 22), 0U);
  EXPECT_EQ(weight(kInt32Min, tile_exponent(kInt32Max)), 0U);
}

TEST(TileExponent, IsTheSmallestIntegerStrictlyAbove) {
  for (std::int32_t x = -70000; x <= 70000; ++x) {
    const std::int64_t m = tile_exponent(x);
    ASSERT_GT(m * 256, x);
    ASSERT_LE((m - 1) * 256, x);
  }
  EXPECT_EQ(tile_exponent(0), 1);
  EXPECT_EQ(tile_exponent(255), 1);
  EXPECT_EQ(tile_exponent(256), 2);
  EXPECT_EQ(tile_exponent(-1), 0);
  EXPECT_EQ(tile_exponent(-256), 0);
  EXPECT_EQ(tile_exponent(-257), -1);
  EXPECT_EQ(tile_exponent(kInt32Max), 1 << 23);
  EXPECT_EQ(tile_exponent(kInt32Min), -(1 << 23) + 1);
}

TEST(TileMass, DistanceSaturatesAt63) {
  for (std::int32_t distance = 0; distance <= 200; ++distance) {
    EXPECT_EQ(tile_distance(100, 100 - distance), static_cast<unsigned>(std::min(distance, 63)));
  }
  EXPECT_EQ(tile_distance(kInt32Max, kInt32Min), 63U);
  EXPECT_EQ(tile_distance(kInt32Min, kInt32Min), 0U);
}

TEST(TileMass, IsTheFlooredQuotientAndVanishesWhenTheSumDoes) {
  for (const std::uint32_t sum : {0U, 1U, 255U, 32768U, 65535U, 1U << 25, 1024U * 65535U}) {
    for (unsigned distance = 0; distance <= 63; ++distance) {
      const Integer expected = (Integer(sum) << kMassGuardBits) / (Integer(1) << distance);
      ASSERT_EQ(Integer(tile_mass(sum, distance)), expected) << sum << ' ' << distance;
    }
  }
  EXPECT_EQ(tile_mass(1, 8), 1U);
  EXPECT_EQ(tile_mass(1, 9), 0U);
  EXPECT_GT(tile_mass(1024U * 65535U, 33), 0U);
  EXPECT_EQ(tile_mass(1024U * 65535U, 34), 0U);
}

// round(sum * 2^8 / 2^s), ties to even.
std::int64_t exact_normalized(std::int64_t sum, unsigned samples_log2) {
  const std::int64_t numerator = sum * 256;
  const std::int64_t denominator = std::int64_t{1} << samples_log2;
  std::int64_t floor = numerator / denominator;
  if (floor * denominator > numerator) --floor;
  const std::int64_t twice = 2 * (numerator - floor * denominator);
  if (twice > denominator || (twice == denominator && floor % 2 != 0)) ++floor;
  return floor;
}

TEST(Normalize, EqualsTheRoundedQuotientForEverySum) {
  for (unsigned s = 0; s <= kMaxSamplesLog2; ++s) {
    const std::int32_t samples = 1 << s;  // sums of S int8 rows: 20 bits at most
    for (std::int32_t sum = -128 * samples; sum <= 127 * samples; ++sum) {
      ASSERT_EQ(normalize(sum, s), exact_normalized(sum, s)) << sum << " / 2^" << s;
    }
  }
}

TEST(Normalize, TiesGoToEvenOnBothSidesOfZero) {
  EXPECT_EQ(normalize(1, 9), 0);  // 0.5
  EXPECT_EQ(normalize(3, 9), 2);  // 1.5
  EXPECT_EQ(normalize(5, 9), 2);  // 2.5
  EXPECT_EQ(normalize(-1, 9), 0);
  EXPECT_EQ(normalize(-3, 9), -2);
  EXPECT_EQ(normalize(-5, 9), -2);
  EXPECT_EQ(normalize(8, 12), 0);
  EXPECT_EQ(normalize(24, 12), 2);
  EXPECT_EQ(normalize(-8, 12), 0);
  EXPECT_EQ(normalize(-24, 12), -2);
  EXPECT_EQ(normalize(-9, 12), -1);
  EXPECT_EQ(normalize(9, 12), 1);
}

TEST(Normalize, OneRowDrawnEveryTimeIsThatRow) {
  for (unsigned s = 0; s <= kMaxSamplesLog2; ++s) {
    for (std::int32_t value = -128; value <= 127; ++value) {
      ASSERT_EQ(normalize(value * (1 << s), s), value * 256);
    }
  }
}

}  // namespace
}  // namespace santa::arithmetic
