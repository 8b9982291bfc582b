// The sampler's comparisons and the normaliser (docs/numerics.md, sections 6 and 7; paper section
// 2.1 and appendix A).
#pragma once

#include <cstdint>

#include "santa/arithmetic/host_device.hpp"
#include "santa/arithmetic/limits.hpp"

namespace santa::arithmetic {

// Threshold of sample j = 0..S-1 on the axis 0..S*Z-1. Systematic sampling uses one offset for all
// j, stratified sampling one per j; offset is uniform on 0..Z-1. i.i.d. sampling draws thresholds
// uniform on the whole axis instead.
SANTA_HD constexpr std::uint64_t stratum_threshold(std::uint64_t j, std::uint64_t total_mass,
                                                   std::uint64_t offset) {
  return j * total_mass + offset;
}

// Does a threshold fall inside or before a tile whose cumulative mass, itself included, is given?
SANTA_HD constexpr bool threshold_within(std::uint64_t threshold, std::uint64_t cumulative_mass,
                                         unsigned samples_log2) {
  return threshold < (cumulative_mass << samples_log2);
}

// Distance of a threshold from the start of the tile that holds it, at the tile's own scale.
SANTA_HD constexpr std::uint64_t tile_residual(std::uint64_t threshold, std::uint64_t mass_before,
                                               unsigned samples_log2, unsigned distance) {
  return (threshold - (mass_before << samples_log2)) << distance;
}

// Inside a tile: does the residual fall on or before the key whose cumulative weight, itself
// included, is `cumulative_weight`? The last key of the tile always answers true.
SANTA_HD constexpr bool residual_within(std::uint64_t residual, std::uint64_t cumulative_weight,
                                        unsigned samples_log2) {
  return residual < (cumulative_weight << (kMassGuardBits + samples_log2));
}

// Value rows summed with their counts, divided by S = 2^samples_log2: a shift with 8 fraction bits
// kept, round to nearest, ties to even (no bias). The result fits int16.
SANTA_HD constexpr std::int16_t normalize(std::int32_t sum, unsigned samples_log2) {
  if (samples_log2 <= kOutputFractionBits) {
    return static_cast<std::int16_t>(sum * (1 << (kOutputFractionBits - samples_log2)));
  }
  const unsigned shift = samples_log2 - kOutputFractionBits;
  const std::int32_t floor = sum >> shift;
  const std::int32_t remainder = sum - floor * (1 << shift);
  const std::int32_t half = 1 << (shift - 1);
  const bool up = remainder > half || (remainder == half && (floor & 1) != 0);
  return static_cast<std::int16_t>(floor + (up ? 1 : 0));
}

}  // namespace santa::arithmetic
