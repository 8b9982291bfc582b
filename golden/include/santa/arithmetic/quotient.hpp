// What a multiply-accumulate unit does with weighted sums of values: the dense and top-k baselines
// (docs/numerics.md, error of the baselines).
#pragma once

#include <cstdint>

#include "santa/arithmetic/host_device.hpp"
#include "santa/arithmetic/limits.hpp"

namespace santa::arithmetic {

// Weighted value sum of a tile at the head's scale, `distance` = tile_distance(): as tile_mass()
// for the weights.
SANTA_HD constexpr std::int64_t tile_value_sum(std::int64_t sum, unsigned distance) {
  return (sum * (1 << kMassGuardBits)) >> distance;
}

// sum / mass with 8 fraction bits, to nearest, halves away from zero; 0 without mass. A mean of
// int8 values lies in their range, and so does the output: a tile's sums and its mass are floored
// apart, so with thousands of tiles below one unit of mass the bare quotient could leave that range
// and wrap.
SANTA_HD constexpr std::int16_t value_quotient(std::int64_t sum, std::uint64_t mass) {
  if (mass == 0) return 0;
  constexpr std::int64_t kOne = 1 << kOutputFractionBits;
  const std::int64_t half = static_cast<std::int64_t>(mass / 2);
  const std::int64_t numerator = sum * kOne;
  const std::int64_t quotient =
      (numerator < 0 ? numerator - half : numerator + half) / static_cast<std::int64_t>(mass);
  if (quotient < -128 * kOne) return -128 * kOne;
  if (quotient > 127 * kOne) return 127 * kOne;
  return static_cast<std::int16_t>(quotient);
}

}  // namespace santa::arithmetic
