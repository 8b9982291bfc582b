// What one warp does for one head of a tile: the tile's mass, the tokens on which its draws fall
// (algorithm 5, lines 5 to 9), and the sum of their value rows.
//
// Weights are whole units of 2^-40 of the tile's power of two, so their sums have no order and the
// counts of a tile add up to its budget exactly. A token of less than half a unit is never drawn.
#pragma once

#include "draws.cuh"
#include "tile_parameters.cuh"
#include "value_rows.cuh"

namespace santa::gpu {

constexpr unsigned kWarp = 0xffffffffU;
constexpr int kPartTokens = 128;    // of a tile that a warp takes at once, four a lane
constexpr int kTileCountBits = 21;  // counts up to 2^20; a token of a tile has 10 bits

// Four scores of a lane; -inf from `tokens`, a multiple of 4, on.
__device__ inline float4 four_scores(const float* scores, int tokens, int part) {
  const int token = part + 4 * static_cast<int>(threadIdx.x % 32);
  const float none = -__int_as_float(0x7f800000);
  return token < tokens ? *reinterpret_cast<const float4*>(scores + token)
                        : make_float4(none, none, none, none);
}

__device__ inline std::uint64_t units_of(float score, float exponent) {
  return __float2ull_rn(power_of_two(score - exponent) *
                        static_cast<float>(std::uint64_t{1} << kMassBits));
}

// Algorithm 3, line 6. Units are kNotANumber if a score is none, or infinite.
__device__ inline Mass mass_of(const float* scores, int tokens) {
  float largest = -__int_as_float(0x7f800000);
  bool number = true;
#pragma unroll 1
  for (int part = 0; part < tokens; part += kPartTokens) {
    const float4 four = four_scores(scores, tokens, part);
    largest = fmaxf(fmaxf(largest, fmaxf(four.x, four.y)), fmaxf(four.z, four.w));
    number = number && four.x == four.x && four.y == four.y && four.z == four.z && four.w == four.w;
  }
  largest = fminf(fmaxf(largest, -0x1p29F), 0x1p29F);
  const int exponent = __reduce_max_sync(kWarp, __float2int_ru(largest));
  number = number && exponent < (1 << 29);
  if (__all_sync(kWarp, static_cast<int>(number)) == 0) return {kNotANumber, 0};
  if (exponent == -(1 << 29)) return {0, kNoExponent};
  std::uint64_t units = 0;
  const auto power = static_cast<float>(exponent);
#pragma unroll 1
  for (int part = 0; part < tokens; part += kPartTokens) {
    const float4 four = four_scores(scores, tokens, part);
    units += units_of(four.x, power) + units_of(four.y, power) + units_of(four.z, power) +
             units_of(four.w, power);
  }
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) units += __shfl_xor_sync(kWarp, units, offset);
  return {units, exponent};
}

// One systematic draw of `budget` over a tile that has a mass. Writes the tokens drawn to `list`,
// as token << kTileCountBits | count in the bits of a float, and returns how many they are. The
// list may be the scores themselves: no entry lies beyond what has been read.
__device__ inline int list_draws(const float* scores, int tokens, const Mass& mass, int budget,
                                 double offset, float* list) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const double stride = static_cast<double>(mass.units) / budget;
  const Draws draws{ValueScheme::kSystematic, budget, mass.units, stride,
                    reciprocal(stride),       offset, nullptr,    nullptr};
  const auto power = static_cast<float>(mass.exponent);
  std::uint64_t before = 0;  // units of the parts so far
  int listed = 0;
#pragma unroll 1
  for (int part = 0; part < tokens; part += kPartTokens) {
    const float4 four = four_scores(scores, tokens, part);
    std::uint64_t ends[4];
    ends[0] = units_of(four.x, power);
    ends[1] = ends[0] + units_of(four.y, power);
    ends[2] = ends[1] + units_of(four.z, power);
    ends[3] = ends[2] + units_of(four.w, power);
    std::uint64_t through = ends[3];
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const std::uint64_t other = __shfl_up_sync(kWarp, through, distance);
      if (lane >= distance) through += other;
    }
    const std::uint64_t start = before + through - ends[3];
    before += __shfl_sync(kWarp, through, 31);
    int below = draws.below(start);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int end = draws.below(start + ends[i]);
      const unsigned drawn = __ballot_sync(kWarp, end > below);
      if (end > below) {
        list[listed + __popc(drawn & ((1U << lane) - 1))] =
            __uint_as_float(static_cast<std::uint32_t>(part + 4 * lane + i) << kTileCountBits |
                            static_cast<std::uint32_t>(end - below));
      }
      listed += __popc(drawn);
      below = end;
    }
  }
  __syncwarp();
  return listed;
}

// Sum of the listed rows, `first` being the token of the tile's first row, to `sums` in global
// memory. A group of lanes reads a row, kRows rows of each group are on their way at once.
template <ElementType kType, int kRows>
__device__ inline void gather_rows(const PairRows& rows, int dimension, int first,
                                   const float* list, int listed, float* sums) {
  constexpr int kElements = 16 / element_bytes(kType);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int row_lanes = dimension / kElements;
  const int group = row_lanes <= 4 ? 4 : row_lanes <= 8 ? 8 : row_lanes <= 16 ? 16 : 32;
  const int groups = 32 / group;
  const int part = lane % group;
  float own[kElements] = {};
#pragma unroll 1
  for (int slot = lane / group; slot < listed; slot += kRows * groups) {
    uint4 words[kRows];
    float counts[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int index = slot + r * groups;
      counts[r] = 0;
      words[r] = make_uint4(0, 0, 0, 0);
      if (index < listed && part < row_lanes) {
        const std::uint32_t entry = __float_as_uint(list[index]);
        counts[r] = static_cast<float>(entry & ((1U << kTileCountBits) - 1));
        words[r] = __ldg(reinterpret_cast<const uint4*>(
            rows.row(first + static_cast<int>(entry >> kTileCountBits)) + 16 * part));
      }
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) add_row<kType>(own, words[r], counts[r]);
  }
#pragma unroll 1
  for (int offset = group; offset < 32; offset *= 2) {
#pragma unroll
    for (int e = 0; e < kElements; ++e) own[e] += __shfl_xor_sync(kWarp, own[e], offset);
  }
  if (lane < row_lanes) {
    auto* to = reinterpret_cast<float4*>(sums + lane * kElements);
#pragma unroll
    for (int e = 0; e < kElements; e += 4) {
      to[e / 4] = make_float4(own[e], own[e + 1], own[e + 2], own[e + 3]);
    }
  }
}

}  // namespace santa::gpu
