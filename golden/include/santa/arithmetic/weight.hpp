// From accumulated scores to weights: scale, tile maximum, base-2 exponential, tile mass
// (docs/numerics.md, sections 4 and 5).
#pragma once

#include <array>
#include <cstdint>

#include "santa/arithmetic/host_device.hpp"
#include "santa/arithmetic/limits.hpp"

namespace santa::arithmetic {

// kappa = 2^-exponent * (1 + sign_a 2^-shift_a + sign_b 2^-shift_b): a shift and two additions.
// Signs are -1, 0 or +1; shifts 1..kMaxScaleShift.
inline constexpr unsigned kMaxScaleShift = 6;
struct ScaleFactor {
  std::int8_t exponent = 0;  // kMinScaleExponent..kMaxScaleExponent
  std::int8_t sign_a = 0;
  std::uint8_t shift_a = 1;
  std::int8_t sign_b = 0;
  std::uint8_t shift_b = 1;
};
inline constexpr int kMinScaleExponent = -8;
inline constexpr int kMaxScaleExponent = 30;

// Score in the log2 domain, signed fixed point with kScoreFractionBits: round(acc * kappa * 2^8),
// halves up. A constant rounding bias is the same for every key and cancels in the softmax.
SANTA_HD constexpr std::int64_t scale_score(std::int32_t accumulator, ScaleFactor scale) {
  const std::int64_t acc = accumulator;
  std::int64_t sum = acc * (1 << kMaxScaleShift);
  sum += scale.sign_a * (acc * (1 << (kMaxScaleShift - scale.shift_a)));
  sum += scale.sign_b * (acc * (1 << (kMaxScaleShift - scale.shift_b)));
  const int shift =
      scale.exponent + static_cast<int>(kMaxScaleShift) - static_cast<int>(kScoreFractionBits);
  if (shift <= 0) return sum * (std::int64_t{1} << -shift);
  return (sum + (std::int64_t{1} << (shift - 1))) >> shift;
}

// Tile maximum as an integer exponent: the smallest integer strictly above x, so that every weight
// stays below 1 and fits 0.16, and rescaling between tiles is a shift.
SANTA_HD constexpr std::int32_t tile_exponent(std::int32_t max_score) {
  return (max_score >> kScoreFractionBits) + 1;
}

namespace detail {
// 2^y for y in [-1, 0), correctly rounded far beyond 16 bits: Taylor series in double.
constexpr double exp2_series(double y) {
  const double z = y * 0.693147180559945309417232121458;
  double term = 1.0;
  double sum = 1.0;
  for (int k = 1; k < 30; ++k) {
    term *= z / k;
    sum += term;
  }
  return sum;
}
constexpr std::array<std::uint16_t, 256> make_exponential_table() {
  std::array<std::uint16_t, 256> table{};
  for (int f = 0; f < 256; ++f) {
    const double entry = exp2_series(f / 256.0 - 1.0) * 65536.0;
    // Positive, and std::lround is not constexpr. NOLINTNEXTLINE(bugprone-incorrect-roundings)
    table[static_cast<std::size_t>(f)] = static_cast<std::uint16_t>(entry + 0.5);
  }
  return table;
}
}  // namespace detail

// table[f] = round(2^(f/256 - 1) * 2^16): the unit's only table, 256 x 16 bits.
inline constexpr std::array<std::uint16_t, 256> kExponentialTable =
    detail::make_exponential_table();

// Weight u = 2^(x - m) in unsigned 0.16 with m = tile_exponent(max) > x: table for the fraction,
// rounding right shift for the integer part. `entry` is the table's word for the low 8 bits of x.
SANTA_HD constexpr std::uint16_t weight_from_entry(std::uint32_t entry, std::int32_t x,
                                                   std::int32_t m) {
  const std::int32_t shift = m - 1 - (x >> kScoreFractionBits);  // >= 0
  if (shift == 0) return static_cast<std::uint16_t>(entry);
  if (shift > 17) return 0;
  return static_cast<std::uint16_t>((entry + (1U << (shift - 1))) >> shift);
}

#if !defined(__CUDA_ARCH__)
inline constexpr std::uint16_t weight(std::int32_t x, std::int32_t m) {
  return weight_from_entry(kExponentialTable[static_cast<std::uint32_t>(x) & 255U], x, m);
}
#endif

// Distance of a tile's exponent to the global one, saturated at 63: masses vanish long before.
SANTA_HD constexpr unsigned tile_distance(std::int32_t global_exponent,
                                          std::int32_t tile_exponent_value) {
  const std::int64_t distance =
      static_cast<std::int64_t>(global_exponent) - static_cast<std::int64_t>(tile_exponent_value);
  return distance > 63 ? 63U : static_cast<unsigned>(distance);
}

// Mass of a tile at the global scale: (l << G) >> (M - m).
SANTA_HD constexpr std::uint64_t tile_mass(std::uint32_t tile_sum, unsigned distance) {
  return (static_cast<std::uint64_t>(tile_sum) << kMassGuardBits) >> distance;
}

}  // namespace santa::arithmetic
