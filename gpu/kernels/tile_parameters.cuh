// What the kernels of the tile schemes (S2ANTA-prop and -flash, arXiv 2605.01910, section 3 and
// algorithms 2 to 8) share: the checked arguments, the places of what one kernel leaves for the
// next, and how a kernel waits for the one before it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "block_state.cuh"
#include "draws.cuh"
#include "santa/gpu/decode.hpp"

namespace santa::gpu {

constexpr int kTileWarps = 4;  // of a block
constexpr int kTileThreads = 32 * kTileWarps;
constexpr int kMassShift = 7;  // bits that masses lose so that S times the sum fits in 64

struct TileParameters {
  DecodeArguments arguments;
  int group = 0;
  int maximum_tiles = 0;  // of maximum_length tokens
  int block_tokens_log2 = 0;

  Mass* masses = nullptr;     // [request][query head][tile]
  float* partials = nullptr;  // [request][query head][tile][feature], sums of drawn rows
  // Of kTileProportional only:
  float* scores = nullptr;              // [request][query head][tile][token], powers of two
  std::int32_t* budgets = nullptr;      // [request][query head][tile]
  std::uint64_t* remainders = nullptr;  // [request][query head][tile]
};

// Between scores of two heads in shared memory; a distance of 4 modulo 16 puts heads in different
// banks.
__host__ __device__ constexpr int score_stride(int tile_tokens) {
  return tile_tokens + 4;
}

__device__ inline int tiles_of(const TileParameters& p, int length) {
  const int tile = p.arguments.tile_tokens;
  return length > 0 ? (length + tile - 1) / tile : 0;
}

// Number of a query head of the batch.
__device__ inline std::size_t place_of(const TileParameters& p, int request, int query_head) {
  return static_cast<std::size_t>(request) * p.arguments.query_heads + query_head;
}

// S of a tile of kTileUniform: S / T rounded, at least 1.
__device__ inline int uniform_budget(int samples, int tiles) {
  return max(1, (2 * samples + tiles) / (2 * tiles));
}

// A tile's mass in units that all tiles of a head share: below 2^(10 + 40 - 7), as a tile has at
// most 2^10 tokens of weight up to 1. Times S, up to 2^20, or summed over 2^15 tiles it fits 64
// bits.
__device__ inline std::uint64_t common_units(const Mass& mass, int exponent) {
  const std::int64_t distance = kMassShift + std::int64_t{exponent} - mass.exponent;
  return distance < 64 ? mass.units >> distance : 0;
}

__device__ inline PairRows tile_rows(const TileParameters& p, const CacheView& view,
                                     int element_size, int request, int kv_head) {
  const bool paged = p.arguments.block_table != nullptr;
  PairRows rows;
  rows.data =
      static_cast<const char*>(view.data) +
      element_size * (kv_head * view.head_stride + (paged ? 0 : request * view.block_stride));
  rows.block_table = paged ? p.arguments.block_table + request * p.arguments.table_stride : nullptr;
  rows.block_bytes = view.block_stride * element_size;
  rows.token_bytes = static_cast<std::uint32_t>(view.token_stride * element_size);
  rows.block_tokens_log2 = p.block_tokens_log2;
  return rows;
}

__device__ inline double tile_offset(const TileParameters& p, int request, int query_head,
                                     int tile) {
  const DecodeArguments& a = p.arguments;
  const DrawStream stream{a.seed[a.seed_stride != 0 ? request : 0], *a.offset,
                          a.seed_stride != 0 ? 0U : static_cast<std::uint32_t>(request),
                          static_cast<std::uint32_t>(query_head)};
  return stream.uniform(static_cast<std::uint32_t>(tile));
}

// Programmatic dependent launch (compute capability 9.0): the next kernel's blocks may be placed
// when all blocks of this one are, and wait for its end themselves. Every block of every kernel but
// the first must wait, so that the end of a kernel is the end of all before it too.
__device__ inline void let_next_kernel_start() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
__device__ inline void wait_for_kernel_before() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace santa::gpu
