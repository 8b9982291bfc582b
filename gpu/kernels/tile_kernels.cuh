// The kernels that read keys and values of the tile schemes. Grids are sized by maximum_length;
// blocks beyond a request's length end at once.
#pragma once

#include "tile_sample.cuh"
#include "tile_scores.cuh"

namespace santa::gpu {

// Grid (KV head, tile, request). Masses of the tile; then, for kTileProportional, its scores to
// global memory (algorithm 3), and for kTileUniform its draws and their sum (algorithm 7).
template <ElementType kType, int kDimension>
__global__ void __launch_bounds__(kTileThreads, 4)
    tile_scores_kernel(const __grid_constant__ TileParameters p) {
  using Scores = TileScores<kType, kDimension>;
  extern __shared__ __align__(16) char storage[];
  let_next_kernel_start();
  const DecodeArguments& a = p.arguments;
  const int kv_head = blockIdx.x, tile = blockIdx.y, request = blockIdx.z;
  const int length = __ldg(a.lengths + request);
  const int first = tile * a.tile_tokens;
  if (first >= length) return;
  const int tokens = min(a.tile_tokens, length - first);
  const int stride = score_stride(a.tile_tokens);
  float* scores = reinterpret_cast<float*>(storage + sizeof(typename Scores::Shared));
  const int lane = threadIdx.x % 32;
  Scores products(p, *reinterpret_cast<typename Scores::Shared*>(storage), request, kv_head, first,
                  tokens);
  products.start();
  // Of the head that is the lane's number, while the keys are on their way.
  const double offset_of_lane =
      a.scheme == ValueScheme::kTileUniform
          ? tile_offset(p, request, kv_head * p.group + min(lane, p.group - 1), tile)
          : 0;
  products.finish(scores, stride);

  const int whole = (tokens + 15) / 16 * 16;
  const int budget = uniform_budget(a.samples, tiles_of(p, length));
#pragma unroll 1
  for (int head = threadIdx.x / 32; head < p.group; head += kTileWarps) {
    float* own = scores + head * stride;
    const int query_head = kv_head * p.group + head;
    const std::size_t place = place_of(p, request, query_head) * p.maximum_tiles + tile;
    const Mass mass = mass_of(own, whole);
    if (lane == 0) p.masses[place] = mass;
    if (a.scheme == ValueScheme::kTileProportional) {
      float* to = p.scores + place * a.tile_tokens;
      for (int token = 4 * lane; token < whole; token += kPartTokens) {
        *reinterpret_cast<float4*>(to + token) = *reinterpret_cast<const float4*>(own + token);
      }
    } else {
      const double offset = __shfl_sync(kWarp, offset_of_lane, head);
      int listed = 0;
      if (mass.units != 0 && mass.units != kNotANumber) {
        listed = list_draws(own, whole, mass, budget, offset, own);
      }
      // As many rows of 8-bit elements, which give twice the sums, would spill registers.
      gather_rows<kType, element_bytes(kType) == 1 ? 4 : 8>(
          tile_rows(p, a.values, element_bytes(kType), request, kv_head), kDimension, first, own,
          listed, p.partials + place * kDimension);
    }
  }
}

// Grid (warps' tiles and heads, KV head, request): algorithm 5 for one head of a tile a warp, those
// of a tile side by side so that a row that several of them draw is read once.
template <ElementType kType>
__global__ void __launch_bounds__(kTileThreads, 8)
    tile_gather_kernel(const __grid_constant__ TileParameters p) {
  extern __shared__ __align__(16) char storage[];
  let_next_kernel_start();
  const DecodeArguments& a = p.arguments;
  const int warp = threadIdx.x / 32;
  const int work = static_cast<int>(blockIdx.x) * kTileWarps + warp;
  const int tile = work / p.group, kv_head = blockIdx.y, request = blockIdx.z;
  const int query_head = kv_head * p.group + work % p.group;
  const int first = tile * a.tile_tokens;
  const int tokens = min(a.tile_tokens, __ldg(a.lengths + request) - first);
  const double offset = tile_offset(p, request, query_head, tile);
  wait_for_kernel_before();
  if (tokens <= 0) return;
  const std::size_t place = place_of(p, request, query_head) * p.maximum_tiles + tile;
  float* list = reinterpret_cast<float*>(storage) + warp * a.tile_tokens;
  const int budget = p.budgets[place];
  int listed = 0;
  if (budget > 0) {
    listed = list_draws(p.scores + place * a.tile_tokens, (tokens + 15) / 16 * 16, p.masses[place],
                        budget, offset, list);
  }
  gather_rows<kType, 4>(tile_rows(p, a.values, element_bytes(kType), request, kv_head),
                        a.head_dimension, first, list, listed,
                        p.partials + place * a.head_dimension);
}

}  // namespace santa::gpu
