// Budgets of the tiles of a head by largest remainder (algorithm 4), in integers: the quota of a
// tile is S * mass / total, its budget the whole part, and the draws that are left go one each to
// the largest remainders, of equal ones to those of lower tiles. Budgets add up to S for any number
// of tiles.
#pragma once

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "tile_parameters.cuh"

namespace santa::gpu {

constexpr int kBudgetThreads = 256;

// What the masses of a head's tiles have in common, the same in all threads.
struct HeadMass {
  int exponent;
  std::uint64_t total;  // of common_units; kNotANumber if a tile's is
};

// All threads of a block of kBudgetThreads.
__device__ inline HeadMass head_mass(const Mass* masses, int tiles) {
  using MaxReduce = cub::BlockReduce<int, kBudgetThreads>;
  using SumReduce = cub::BlockReduce<std::uint64_t, kBudgetThreads>;
  __shared__ union {
    typename MaxReduce::TempStorage max;
    typename SumReduce::TempStorage sum;
  } storage;
  __shared__ HeadMass shared;
  int exponent = kNoExponent;
  bool number = true;
  for (int t = threadIdx.x; t < tiles; t += kBudgetThreads) {
    exponent = max(exponent, masses[t].exponent);
    number = number && masses[t].units != kNotANumber;
  }
  exponent = MaxReduce(storage.max).Reduce(exponent, [](int a, int b) { return max(a, b); });
  if (threadIdx.x == 0) shared.exponent = exponent;
  number = __syncthreads_and(static_cast<int>(number)) != 0;
  exponent = shared.exponent;
  std::uint64_t sum = 0;
  for (int t = threadIdx.x; t < tiles; t += kBudgetThreads)
    sum += common_units(masses[t], exponent);
  sum = SumReduce(storage.sum).Sum(sum);
  if (threadIdx.x == 0) shared.total = number ? sum : kNotANumber;
  __syncthreads();
  return shared;
}

// Remainders above `threshold` in the bits of `mask`, and the first `ties` equal to it, get one
// more draw.
struct RemainderCut {
  std::uint64_t threshold, mask;
  int ties;
};

// Where the `left` largest of the keys begin: eight bits at a time from the top, until all keys
// that agree so far are wanted.
__device__ inline RemainderCut cut_of(const std::uint64_t* keys, int tiles, int left) {
  using Scan = cub::BlockScan<int, kBudgetThreads>;
  static_assert(kBudgetThreads == 256, "a thread a digit");
  __shared__ typename Scan::TempStorage storage;
  __shared__ int counts[256];
  __shared__ struct { int digit, above, count; } found;
  RemainderCut cut{0, 0, left};
#pragma unroll 1
  for (int shift = 56; shift >= 0; shift -= 8) {
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int t = threadIdx.x; t < tiles; t += kBudgetThreads) {
      if ((keys[t] & cut.mask) == cut.threshold) atomicAdd(&counts[keys[t] >> shift & 255], 1);
    }
    __syncthreads();
    const int digit = 255 - static_cast<int>(threadIdx.x);
    const int count = counts[digit];
    int through;
    Scan(storage).InclusiveSum(count, through);
    if (through >= cut.ties && through - count < cut.ties) found = {digit, through - count, count};
    __syncthreads();
    cut.threshold |= static_cast<std::uint64_t>(found.digit) << shift;
    cut.mask |= std::uint64_t{255} << shift;
    cut.ties -= found.above;
    if (cut.ties == found.count) break;
  }
  return cut;
}

// Grid (query head, request).
__global__ void __launch_bounds__(kBudgetThreads)
    tile_budget_kernel(const __grid_constant__ TileParameters p) {
  using Reduce = cub::BlockReduce<int, kBudgetThreads>;
  using Scan = cub::BlockScan<int, kBudgetThreads>;
  __shared__ union {
    typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan;
  } storage;
  __shared__ int shared_left;
  let_next_kernel_start();
  wait_for_kernel_before();
  const int request = blockIdx.y, samples = p.arguments.samples;
  const int tiles = tiles_of(p, __ldg(p.arguments.lengths + request));
  const std::size_t place = place_of(p, request, blockIdx.x) * p.maximum_tiles;
  const Mass* masses = p.masses + place;
  std::int32_t* budgets = p.budgets + place;
  std::uint64_t* remainders = p.remainders + place;
  const HeadMass head = head_mass(masses, tiles);
  const bool drawn = head.total != 0 && head.total != kNotANumber;
  int given = 0;
  for (int t = threadIdx.x; t < tiles; t += kBudgetThreads) {
    const std::uint64_t quota =
        drawn ? static_cast<std::uint64_t>(samples) * common_units(masses[t], head.exponent) : 0;
    const std::uint64_t whole = drawn ? quota / head.total : 0;
    budgets[t] = static_cast<std::int32_t>(whole);
    // The top bit of the total first, so that few digits of the remainders tell them apart.
    if (drawn) remainders[t] = (quota - whole * head.total) << __clzll(head.total);
    given += static_cast<int>(whole);
  }
  if (!drawn) return;
  given = Reduce(storage.reduce).Sum(given);
  if (threadIdx.x == 0) shared_left = samples - given;
  __syncthreads();
  if (shared_left == 0) return;
  const RemainderCut cut = cut_of(remainders, tiles, shared_left);
  int ties_before = 0;
  for (int base = 0; base < tiles; base += kBudgetThreads) {
    const int t = base + static_cast<int>(threadIdx.x);
    const std::uint64_t key = t < tiles ? remainders[t] & cut.mask : 0;
    const int tie = t < tiles && key == cut.threshold ? 1 : 0;
    int rank, ties;
    Scan(storage.scan).ExclusiveSum(tie, rank, ties);
    __syncthreads();
    if (t < tiles && (key > cut.threshold || (tie != 0 && ties_before + rank < cut.ties))) {
      ++budgets[t];
    }
    ties_before += ties;
  }
}

}  // namespace santa::gpu
