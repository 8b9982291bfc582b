// Sums of the tiles to the output of a head: as they are over S for kTileProportional (algorithm 2,
// line 5), weighted by the tiles' masses for kTileUniform (algorithm 8). Added up in an order that
// the number of tiles alone decides.
#pragma once

#include "tile_budget.cuh"
#include "value_rows.cuh"

namespace santa::gpu {

constexpr int kMergeFeatures = 32;  // of a block, four a thread

// Grid (features, query head, request).
__global__ void __launch_bounds__(kBudgetThreads)
    tile_merge_kernel(const __grid_constant__ TileParameters p) {
  constexpr int kLanes = kMergeFeatures / 4;  // of a tile's row
  constexpr int kRows = kBudgetThreads / kLanes;
  constexpr int kAhead = 4;
  __shared__ float sums[kBudgetThreads / 32][kMergeFeatures];
  wait_for_kernel_before();
  const DecodeArguments& a = p.arguments;
  const int query_head = blockIdx.y, request = blockIdx.z, dimension = a.head_dimension;
  const int tiles = tiles_of(p, __ldg(a.lengths + request));
  const std::size_t place = place_of(p, request, query_head);
  const Mass* masses = p.masses + place * p.maximum_tiles;
  const HeadMass head = head_mass(masses, tiles);
  const bool number = head.total != kNotANumber;
  const bool weighted = a.scheme == ValueScheme::kTileUniform;
  const float inverse_total = head.total != 0 ? 1.0F / static_cast<float>(head.total) : 0.0F;

  const int thread = threadIdx.x, lane = thread % kLanes;
  const float* rows =
      p.partials + place * p.maximum_tiles * dimension + blockIdx.x * kMergeFeatures + 4 * lane;
  float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 1
  for (int base = thread / kLanes; base < tiles; base += kRows * kAhead) {
    float4 row[kAhead];
    float weight[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int t = base + i * kRows;
      row[i] = make_float4(0, 0, 0, 0);
      weight[i] = 0;
      if (t < tiles) {
        row[i] = *reinterpret_cast<const float4*>(rows + static_cast<std::size_t>(t) * dimension);
        weight[i] = weighted
                        ? static_cast<float>(common_units(masses[t], head.exponent)) * inverse_total
                        : 1.0F;
      }
    }
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (weight[i] > 0) {
        sum.x += weight[i] * row[i].x;
        sum.y += weight[i] * row[i].y;
        sum.z += weight[i] * row[i].z;
        sum.w += weight[i] * row[i].w;
      }
    }
  }
#pragma unroll
  for (int offset = kLanes; offset < 32; offset *= 2) {
    sum.x += __shfl_xor_sync(0xffffffffU, sum.x, offset);
    sum.y += __shfl_xor_sync(0xffffffffU, sum.y, offset);
    sum.z += __shfl_xor_sync(0xffffffffU, sum.z, offset);
    sum.w += __shfl_xor_sync(0xffffffffU, sum.w, offset);
  }
  if (thread % 32 < kLanes) reinterpret_cast<float4*>(sums[thread / 32])[lane] = sum;
  __syncthreads();
  if (thread < kMergeFeatures) {
    float all = 0;
#pragma unroll
    for (int w = 0; w < kBudgetThreads / 32; ++w) all += sums[w][thread];
    const int kv_head = query_head / p.group;
    const float scale = a.values.head_scales != nullptr ? __ldg(a.values.head_scales + kv_head) : 1;
    const int draws = weighted && tiles > 0 ? uniform_budget(a.samples, tiles) : a.samples;
    const float value =
        number ? all * scale / static_cast<float>(draws) : __int_as_float(0x7fc00000);
    store_output(
        a.output, a.query_type,
        static_cast<std::int64_t>(place) * dimension + blockIdx.x * kMergeFeatures + thread, value);
  }
  if (thread == 0 && blockIdx.x == 0 && a.log_sum_exp != nullptr) {
    const float binary = log2f(static_cast<float>(head.total)) +
                         static_cast<float>(head.exponent + kMassShift - kMassBits);
    a.log_sum_exp[place] = number ? 0.69314718055994531F * binary : __int_as_float(0x7fc00000);
  }
}

}  // namespace santa::gpu
