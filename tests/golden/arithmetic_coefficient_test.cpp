// Signed digits and the ternary gather's operation against plain integer arithmetic.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "santa/arithmetic/coefficient.hpp"

namespace santa::arithmetic {
namespace {

constexpr std::uint32_t kLargestValue = 1U << 14;

// Fewest signed powers of two that sum to each value, by breadth of digits: a value is even (halve
// it) or one more digit away from one of its two even neighbours.
std::vector<unsigned> fewest_digits() {
  std::vector<unsigned> fewest(2 * kLargestValue + 2, 0);
  for (std::uint32_t value = 1; value < fewest.size(); ++value) {
    if (value % 2 == 0) {
      fewest[value] = fewest[value / 2];
    } else if (value == 1) {
      fewest[value] = 1;
    } else {
      fewest[value] = 1 + std::min(fewest[(value - 1) / 2], fewest[(value + 1) / 2]);
    }
  }
  return fewest;
}

TEST(SignedDigits, ValueIsExactAndNoTwoDigitsAreAdjacent) {
  for (std::uint32_t value = 0; value <= kLargestValue; ++value) {
    const SignedDigits digits = signed_digits(value);
    ASSERT_EQ(std::int64_t{digits.plus} - std::int64_t{digits.minus}, std::int64_t{value});
    const std::uint32_t set = digits.plus | digits.minus;
    ASSERT_EQ(digits.plus & digits.minus, 0U) << value;
    ASSERT_EQ(set & (set << 1), 0U) << value;
  }
}

TEST(SignedDigits, CountIsTheSmallestPossible) {
  const std::vector<unsigned> fewest = fewest_digits();
  for (std::uint32_t value = 0; value <= kLargestValue; ++value) {
    ASSERT_EQ(digit_count(static_cast<std::int32_t>(value)), fewest[value]) << value;
    ASSERT_EQ(digit_count(-static_cast<std::int32_t>(value)), fewest[value]) << value;
  }
}

TEST(SignedDigits, HoldForTheLargestPermittedValues) {
  for (std::uint32_t value = (1U << 30) - 1; value > (1U << 30) - 5000; --value) {
    const SignedDigits digits = signed_digits(value);
    ASSERT_EQ(std::int64_t{digits.plus} - std::int64_t{digits.minus}, std::int64_t{value});
  }
}

TEST(SignedDigits, PopulationCountOfEveryBitPattern) {
  EXPECT_EQ(popcount32(0), 0U);
  EXPECT_EQ(popcount32(0xFFFFFFFFU), 32U);
  for (unsigned bit = 0; bit < 32; ++bit) EXPECT_EQ(popcount32(1U << bit), 1U);
  for (std::uint32_t value = 1; value < 65536; ++value) {
    ASSERT_EQ(popcount32(value), popcount32(value / 2) + value % 2);
  }
}

TEST(ShiftAdd, EqualsTheProductForEveryExactCoefficientAndKey) {
  for (std::int32_t coefficient = -kMaxExactCoefficient; coefficient <= kMaxExactCoefficient;
       ++coefficient) {
    for (std::int32_t key = -128; key <= 127; ++key) {
      ASSERT_EQ(shift_add(1000, coefficient, static_cast<std::int8_t>(key)),
                1000 + coefficient * key)
          << coefficient << " * " << key;
    }
  }
}

TEST(ShiftAdd, EqualsTheProductForEveryGroupCoefficient) {
  ASSERT_EQ(kMaxGroupCoefficient, 8192);
  for (std::int32_t count = 0; count <= static_cast<std::int32_t>(kMaxBernoulliDraws); ++count) {
    for (int shift = 0; shift <= 7; ++shift) {
      const std::int32_t coefficient = count * (1 << shift);
      for (const std::int32_t key : {-128, -127, -1, 0, 1, 127}) {
        const std::int8_t byte = static_cast<std::int8_t>(key);
        ASSERT_EQ(shift_add(-7, coefficient, byte), -7 + coefficient * key);
        ASSERT_EQ(shift_add(-7, -coefficient, byte), -7 - coefficient * key);
      }
    }
  }
}

TEST(ShiftAdd, NegationOfTheMostNegativeKeyDoesNotWrap) {
  EXPECT_EQ(shift_add(0, -1, -128), 128);
  EXPECT_EQ(shift_add(0, 1, -128), -128);
  EXPECT_EQ(shift_add(0, -127, -128), 127 * 128);
  EXPECT_EQ(shift_add(0, -8192, -128), 8192 * 128);
}

TEST(ShiftAdd, LargestAccumulatorFitsInt32) {
  std::int32_t accumulator = 0;
  for (std::uint32_t i = 0; i < kMaxHeadDimension; ++i) {
    accumulator =
        shift_add(accumulator, static_cast<std::int32_t>(kMaxGroupCoefficient), std::int8_t{-128});
  }
  EXPECT_EQ(std::int64_t{accumulator}, -kMaxGroupCoefficient * 128 * kMaxHeadDimension);
}

TEST(Counts, ExactCountRoundsHalvesUp) {
  for (std::uint32_t whole = 0; whole <= 127; ++whole) {
    const std::uint32_t a = whole << kOperandFractionBits;
    EXPECT_EQ(exact_count(a), static_cast<std::int32_t>(whole));
    EXPECT_EQ(exact_count(a + kOperandOne / 2 - 1), static_cast<std::int32_t>(whole));
    EXPECT_EQ(exact_count(a + kOperandOne / 2), static_cast<std::int32_t>(whole + 1));
  }
}

// Over all 65,536 values of r the mean of floor(a + r) is a exactly, and its variance f(1 - f).
TEST(Counts, StratifiedCountIsUnbiasedExactly) {
  for (const std::uint32_t a :
       {0U, 1U, 32767U, 32768U, 65535U, 65536U, 65537U, 200001U, 4194303U, 4194304U}) {
    std::uint64_t sum = 0;
    std::uint64_t above = 0;
    const std::int32_t floor = static_cast<std::int32_t>(a >> kOperandFractionBits);
    for (std::uint32_t r = 0; r < kOperandOne; ++r) {
      const std::int32_t count = stratified_count(a, r);
      ASSERT_TRUE(count == floor || count == floor + 1);
      sum += static_cast<std::uint64_t>(count);
      above += count == floor + 1 ? 1 : 0;
    }
    EXPECT_EQ(sum, a);
    EXPECT_EQ(above, a % kOperandOne);
  }
}

// Mean of the group coefficient over all r equals shared count * ratio exactly.
TEST(Counts, GroupCoefficientIsUnbiasedExactly) {
  const auto mean_times_one = [](std::int32_t shared, GroupRatio ratio) {
    std::int64_t sum = 0;
    for (std::uint32_t r = 0; r < kOperandOne; ++r) sum += group_coefficient(shared, ratio, r);
    return sum;
  };
  for (int exponent = -static_cast<int>(kRatioFractionBits); exponent <= 4; ++exponent) {
    for (const std::uint32_t probability : {0U, 1U, 30000U, 65535U}) {
      if (exponent == 4 && probability != 0) continue;  // a ratio above the largest group
      const GroupRatio ratio{static_cast<std::int8_t>(exponent),
                             static_cast<std::uint16_t>(probability)};
      const std::int64_t low = std::int64_t{1} << (exponent + 3);
      for (const std::int32_t shared : {0, 1, 5, 64}) {
        EXPECT_EQ(mean_times_one(shared, ratio), shared * low * (kOperandOne + probability));
      }
    }
  }
  for (const std::uint32_t probability : {0U, 1U, 65535U}) {
    const GroupRatio ratio{kRatioZeroExponent, static_cast<std::uint16_t>(probability)};
    EXPECT_EQ(mean_times_one(64, ratio), std::int64_t{64} * probability);
  }
}

TEST(Counts, IndependentCountIsNothingAtZeroAndEverythingAtOne) {
  for (unsigned draws_log2 = 0; draws_log2 <= 6; ++draws_log2) {
    LaneStream lanes(0xFFFFFFFFFFFFFFFFULL);
    const std::int32_t draws = 1 << draws_log2;
    EXPECT_EQ(independent_count(0, draws_log2, lanes), 0);
    EXPECT_EQ(independent_count(kOperandOne << draws_log2, draws_log2, lanes), draws);
    EXPECT_EQ(lanes.words_drawn(), static_cast<std::uint64_t>((2 * draws + 3) / 4));
  }
}

}  // namespace
}  // namespace santa::arithmetic
