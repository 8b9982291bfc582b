// One small signed integer per feature: the query as the unit sees it (docs/numerics.md, section 2;
// paper section 5 and appendix C).
#pragma once

#include <cstdint>

#include "santa/arithmetic/host_device.hpp"
#include "santa/arithmetic/lfsr.hpp"
#include "santa/arithmetic/limits.hpp"

namespace santa::arithmetic {

inline constexpr std::uint32_t kOperandOne = 1U << kOperandFractionBits;

// Exact scores: round to nearest, halves up. `a` is |q_i| sK_i / step in Q8.16, at most 127.
SANTA_HD constexpr std::int32_t exact_count(std::uint32_t a) {
  return static_cast<std::int32_t>((a + kOperandOne / 2) >> kOperandFractionBits);
}

// Stratified Bernoulli draws: floor(a + r) with `r` uniform on 16 bits. Of B stratified draws the
// number below p is floor(pB) plus one Bernoulli draw on the remainder, so with a = pB this is the
// paper's estimator in one addition.
SANTA_HD constexpr std::int32_t stratified_count(std::uint32_t a, std::uint32_t r) {
  return static_cast<std::int32_t>((a + r) >> kOperandFractionBits);
}

// Independent Bernoulli draws: how many of 2^draws_log2 uniform lanes lie below p = a /
// 2^draws_log2.
SANTA_HD constexpr std::int32_t independent_count(std::uint32_t a, unsigned draws_log2,
                                                  LaneStream& lanes) {
  // Unbiased when `a` is a multiple of 2^draws_log2, which prepare_query() sees to.
  std::int32_t count = 0;
  for (std::uint32_t b = 0; b < (1U << draws_log2); ++b) {
    count += (static_cast<std::uint64_t>(lanes.next16()) << draws_log2) < a ? 1 : 0;
  }
  return count;
}

// A ratio |q_gi| / m_i between two neighbouring powers of two, low = 2^exponent, or between 0 and
// 2^-kRatioFractionBits when exponent is kRatioZeroExponent. `upper_probability` (0.16) is the
// chance of the upper neighbour that makes the choice unbiased.
struct GroupRatio {
  std::int8_t exponent = 0;
  std::uint16_t upper_probability = 0;
};
inline constexpr std::int8_t kRatioZeroExponent = -static_cast<std::int8_t>(kRatioFractionBits) - 1;

// Mean group query: the shared count times the ratio, rounded at random to a power of two. Unit of
// the result: 2^-kRatioFractionBits.
SANTA_HD constexpr std::int32_t group_coefficient(std::int32_t shared_count, GroupRatio ratio,
                                                  std::uint32_t r) {
  const bool upper = r < ratio.upper_probability;
  if (ratio.exponent == kRatioZeroExponent) return upper ? shared_count : 0;
  const int shift = ratio.exponent + static_cast<int>(kRatioFractionBits) + (upper ? 1 : 0);
  return shared_count * (1 << shift);
}

// Canonical signed digits (non-adjacent form) of value >= 0: value = plus - minus, no two adjacent
// digits set. `plus` and `minus` are bit masks over the planes; value < 2^30.
struct SignedDigits {
  std::uint32_t plus = 0;
  std::uint32_t minus = 0;
};
SANTA_HD constexpr SignedDigits signed_digits(std::uint32_t value) {
  const std::uint32_t triple = value + (value << 1);
  return {(triple & ~value) >> 1, (value & ~triple) >> 1};
}

SANTA_HD constexpr unsigned popcount32(std::uint32_t bits) {
  unsigned count = 0;
  for (; bits != 0; bits &= bits - 1) ++count;
  return count;
}

// Additions that a coefficient of this magnitude costs per key: its non-zero signed digits.
SANTA_HD constexpr unsigned digit_count(std::int32_t coefficient) {
  const std::uint32_t magnitude =
      static_cast<std::uint32_t>(coefficient < 0 ? -coefficient : coefficient);
  const SignedDigits digits = signed_digits(magnitude);
  return popcount32(digits.plus | digits.minus);
}

// The ternary gather's one operation: accumulator plus coefficient times key, by shifted additions
// and subtractions only. This is the definition; vectorised host code multiplies and is tested to
// give the same integer.
SANTA_HD constexpr std::int32_t shift_add(std::int32_t accumulator, std::int32_t coefficient,
                                          std::int8_t key) {
  const bool negative = coefficient < 0;
  const SignedDigits digits =
      signed_digits(static_cast<std::uint32_t>(negative ? -coefficient : coefficient));
  const std::uint32_t plus = negative ? digits.minus : digits.plus;
  const std::uint32_t minus = negative ? digits.plus : digits.minus;
  for (unsigned plane = 0; plane < 20; ++plane) {
    const std::int32_t shifted = static_cast<std::int32_t>(key) * (1 << plane);
    if (((plus >> plane) & 1U) != 0) accumulator += shifted;
    if (((minus >> plane) & 1U) != 0) accumulator -= shifted;
  }
  return accumulator;
}

}  // namespace santa::arithmetic
