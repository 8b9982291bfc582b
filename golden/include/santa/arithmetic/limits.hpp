// Widths and ranges of the integer contract, and the static proofs that nothing overflows.
// docs/numerics.md derives each number; the RTL takes its widths from the same constants.
#pragma once

#include <cstdint>

namespace santa::arithmetic {

// Ranges a request may take.
inline constexpr std::uint32_t kMaxHeadDimension = 1024;
inline constexpr std::uint32_t kMaxGroup = 16;  // query heads that share a KV head
inline constexpr std::uint32_t kMinTileKeys = 16;
inline constexpr std::uint32_t kMaxTileKeys = 1024;
inline constexpr unsigned kMaxContextLog2 = 20;
inline constexpr std::uint32_t kMaxContext = 1U << kMaxContextLog2;
inline constexpr unsigned kMaxSamplesLog2 = 12;
inline constexpr std::uint32_t kMaxSamples = 1U << kMaxSamplesLog2;
inline constexpr std::uint32_t kMaxBernoulliDraws = 64;

// Fixed-point formats.
inline constexpr unsigned kOperandFractionBits = 16;  // |q_i| * sK_i / step, unsigned Q8.16
inline constexpr unsigned kScoreFractionBits = 8;     // x, the score in the log2 domain
inline constexpr unsigned kWeightFractionBits = 16;   // u, unsigned 0.16
inline constexpr unsigned kMassGuardBits = 8;         // tile mass keeps these below weight 2^-16
inline constexpr unsigned kOutputFractionBits = 8;    // output, signed 8.8
inline constexpr unsigned kRatioFractionBits = 3;     // smallest group ratio is 2^-3
inline constexpr std::int32_t kMaxExactCoefficient = 127;
inline constexpr std::int32_t kMaxKeyMagnitude = 128;

// Largest coefficient of the mean-group-query scheme: B draws times the ratio |q_gi| / m_i, which
// cannot exceed the group size, in units of 2^-kRatioFractionBits.
inline constexpr std::int64_t kMaxGroupCoefficient =
    static_cast<std::int64_t>(kMaxBernoulliDraws) * kMaxGroup << kRatioFractionBits;

// Score accumulator: int32 cannot overflow.
static_assert(kMaxExactCoefficient * static_cast<std::int64_t>(kMaxKeyMagnitude) *
                  kMaxHeadDimension <=
              INT32_MAX);
static_assert(kMaxGroupCoefficient * kMaxKeyMagnitude * kMaxHeadDimension <= INT32_MAX);

// Tile sum l < 2^(16+10) fits 32 bits; total mass Z < 2^(20+16+8) = 2^44.
inline constexpr unsigned kTileSumBits = kWeightFractionBits + 10;
static_assert((1U << 10) == kMaxTileKeys && kTileSumBits <= 32);
inline constexpr unsigned kTotalMassBits = kMaxContextLog2 + kWeightFractionBits + kMassGuardBits;
static_assert(kTotalMassBits == 44);

// Thresholds lie below S * Z < 2^56. A residual shifted to its tile's scale stays below
// l << (G + s) < 2^46. Both fit 64-bit adders.
static_assert(kMaxSamplesLog2 + kTotalMassBits <= 63);
static_assert(kTileSumBits + kMassGuardBits + kMaxSamplesLog2 <= 63);

// Value accumulator: S rows of int8, and the same shifted left by the output's fraction bits.
static_assert((static_cast<std::int64_t>(kMaxSamples) * 128 << kOutputFractionBits) <= INT32_MAX);

}  // namespace santa::arithmetic
