// The steps of a decode, in the order of the data. Grids: x blocks of a head, y heads of the widest
// group, z requests; a block beyond its request's shape ends at once. Integer sums may be taken in
// any order, so work is spread freely and the bits stay.
#pragma once

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "golden_device.cuh"

namespace santa::gpu::golden {

constexpr int kThreads = 256;
constexpr int kKeyThreads = 128;  // where a thread is a key, or a block a tile

// Coefficients of the whole group: grid (1, 1, requests). The generator is a chain, so one thread
// walks it; every element then starts at its own word.
__global__ void encode(const GoldenState* states) {
  const GoldenState& state = states[blockIdx.z];
  const GoldenRequest& r = state.request;
  if (threadIdx.x == 0) {
    arithmetic::Lfsr64 lfsr(r.score_stream);
    const std::uint32_t words = encoder_word_count(r);
    for (std::uint32_t w = 0; w < words; ++w) state.encoder_words[w] = lfsr.draw();
  }
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < r.group * r.head_dimension; i += blockDim.x) {
    const std::int32_t count =
        coefficient_magnitude(state, i / r.head_dimension, i % r.head_dimension);
    r.coefficients[i] = static_cast<std::int16_t>(r.negative[i] != 0 ? -count : count);
  }
}

// Accumulators, a thread a key: grid (keys / kKeyThreads, group, requests).
__global__ void score(const GoldenState* states) {
  const GoldenRequest& r = states[blockIdx.z].request;
  const std::uint32_t head = blockIdx.y;
  const std::uint32_t n = blockIdx.x * kKeyThreads + threadIdx.x;
  if (head >= r.group || n >= r.context) return;
  const std::int16_t* coefficients = r.coefficients + std::size_t{head} * r.head_dimension;
  const std::int8_t* keys =
      r.keys + std::size_t{n / r.tile_keys} * r.head_dimension * r.tile_keys + n % r.tile_keys;
  std::int32_t accumulator = 0;
  for (std::uint32_t i = 0; i < r.head_dimension; ++i) {
    if (coefficients[i] == 0) continue;  // the unit does not fetch it either
    accumulator =
        arithmetic::shift_add(accumulator, coefficients[i], keys[std::size_t{i} * r.tile_keys]);
  }
  r.accumulators[std::size_t{head} * r.context + n] = accumulator;
}

// Weights, exponent and sum of a tile: grid (tiles, group, requests).
__global__ void weigh(const GoldenState* states) {
  using Reduce = cub::BlockReduce<std::int32_t, kKeyThreads>;
  using Scan = cub::BlockScan<std::uint32_t, kKeyThreads>;
  __shared__ union {
    typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan;
  } shared;
  __shared__ std::int32_t exponent;

  const GoldenState& state = states[blockIdx.z];
  const GoldenRequest& r = state.request;
  const std::uint32_t tile = blockIdx.x;
  const std::uint32_t head = blockIdx.y;
  if (head >= r.group || tile >= tiles_of(r)) return;
  const std::uint32_t valid = valid_keys(r, tile);
  const std::size_t first = std::size_t{head} * r.context + std::size_t{tile} * r.tile_keys;

  std::int32_t largest = INT32_MIN;
  for (std::uint32_t k = threadIdx.x; k < valid; k += kKeyThreads) {
    largest = max(largest, score_of(r, head, first + k));
  }
  largest = Reduce(shared.reduce).Reduce(largest, Largest{});
  if (threadIdx.x == 0) exponent = arithmetic::tile_exponent(largest);
  __syncthreads();

  std::uint32_t sum = 0;
  for (std::uint32_t begin = 0; begin < valid; begin += kKeyThreads) {
    const std::uint32_t k = begin + threadIdx.x;
    const std::uint32_t weight = k < valid ? weight_of(score_of(r, head, first + k), exponent) : 0;
    std::uint32_t cumulative = 0;
    std::uint32_t together = 0;
    Scan(shared.scan).InclusiveSum(weight, cumulative, together);
    if (k < valid) {
      r.weights[first + k] = static_cast<std::uint16_t>(weight);
      state.cumulative[first + k] = sum + cumulative;
    }
    sum += together;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    r.tile_exponents[std::size_t{tile} * r.group + head] = exponent;
    r.tile_sums[std::size_t{tile} * r.group + head] = sum;
  }
}

// Exponent, masses and their prefix sums of a head: grid (1, group, requests).
__global__ void combine(const GoldenState* states) {
  using Reduce = cub::BlockReduce<std::int32_t, kThreads>;
  using Scan = cub::BlockScan<std::uint64_t, kThreads>;
  __shared__ union {
    typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan;
  } shared;
  __shared__ std::int32_t exponent;

  const GoldenState& state = states[blockIdx.z];
  const GoldenRequest& r = state.request;
  const std::uint32_t head = blockIdx.y;
  if (head >= r.group) return;
  const std::uint32_t tiles = tiles_of(r);

  std::int32_t largest = INT32_MIN;
  for (std::uint32_t t = threadIdx.x; t < tiles; t += kThreads) {
    largest = max(largest, r.tile_exponents[std::size_t{t} * r.group + head]);
  }
  largest = Reduce(shared.reduce).Reduce(largest, Largest{});
  if (threadIdx.x == 0) {
    exponent = tiles > 0 ? largest : 0;
    r.head_exponents[head] = exponent;
  }
  __syncthreads();

  std::uint64_t* prefix = prefix_of(state, head);  // prefix[0] is 0
  std::uint64_t mass = 0;
  for (std::uint32_t begin = 0; begin < tiles; begin += kThreads) {
    const std::uint32_t t = begin + threadIdx.x;
    const std::uint64_t own = t < tiles ? mass_of_tile(r, exponent, t, head) : 0;
    std::uint64_t cumulative = 0;
    std::uint64_t together = 0;
    Scan(shared.scan).InclusiveSum(own, cumulative, together);
    if (t < tiles) prefix[t + 1] = mass + cumulative;
    mass += together;
    __syncthreads();
  }
  if (threadIdx.x == 0) r.head_masses[head] = mass;
}

// Thresholds of a head, and the key that each falls on: grid (1, group, requests). The draws come
// one after another from one generator; where they fall is found side by side, unsorted.
__global__ void sample(const GoldenState* states) {
  const GoldenState& state = states[blockIdx.z];
  const GoldenRequest& r = state.request;
  const std::uint32_t head = blockIdx.y;
  if (head >= r.group || !attention::is_sampled(r.values)) return;
  const std::uint64_t mass = r.head_masses[head];
  std::uint64_t* thresholds = state.thresholds + std::size_t{head} * r.samples;
  if (threadIdx.x == 0) {
    const bool systematic = r.values == attention::ValueScheme::kSystematic;
    if (mass > 0) draw_thresholds(state, r.value_streams[head], mass, thresholds);
    r.head_offsets[head] = systematic && mass > 0 ? thresholds[0] : 0;
  }
  __syncthreads();
  if (mass == 0) return;
  for (std::uint32_t j = threadIdx.x; j < r.samples; j += blockDim.x) {
    const std::uint32_t key = locate(state, head, thresholds[j]);
    atomicAdd(&state.counts[std::size_t{head} * r.context + key], 1U);
  }
}

// Keys of the k largest scores of a head, ties to the lower key: grid (1, group, requests). The
// k-th of the distinct numbers rank_of() is built bit by bit.
__global__ void select(const GoldenState* states) {
  using ReduceCount = cub::BlockReduce<std::uint32_t, kThreads>;
  using ReduceMass = cub::BlockReduce<std::uint64_t, kThreads>;
  __shared__ union {
    typename ReduceCount::TempStorage count;
    typename ReduceMass::TempStorage mass;
  } shared;
  __shared__ std::uint64_t found;

  const GoldenState& state = states[blockIdx.z];
  const GoldenRequest& r = state.request;
  const std::uint32_t head = blockIdx.y;
  if (head >= r.group || r.values != attention::ValueScheme::kTopK) return;
  const std::size_t first = std::size_t{head} * r.context;
  const auto rank = [&](std::uint32_t n) { return rank_of(score_of(r, head, first + n), n); };

  if (threadIdx.x == 0) found = r.samples < r.context ? 0 : UINT64_MAX;
  __syncthreads();
  for (int bit = kRankBits - 1; bit >= 0 && r.samples < r.context; --bit) {
    const std::uint64_t candidate = found | (std::uint64_t{1} << bit);
    std::uint32_t below = 0;
    for (std::uint32_t n = threadIdx.x; n < r.context; n += kThreads) {
      below += rank(n) < candidate ? 1 : 0;
    }
    below = ReduceCount(shared.count).Sum(below);
    __syncthreads();
    if (threadIdx.x == 0 && below < r.samples) found = candidate;
    __syncthreads();
  }
  std::uint64_t mass = 0;
  for (std::uint32_t n = threadIdx.x; n < r.context; n += kThreads) {
    if (rank(n) > found) continue;
    state.counts[first + n] = 1;
    mass += mass_of_key(r, head, n);
  }
  mass = ReduceMass(shared.mass).Sum(mass);
  if (threadIdx.x == 0) state.selected_mass[head] = mass;
}

// Values of a tile times counts or weights, added to the head's sums: grid (tiles, group,
// requests).
__global__ void gather(const GoldenState* states) {
  const GoldenState& state = states[blockIdx.z];
  const GoldenRequest& r = state.request;
  const std::uint32_t tile = blockIdx.x;
  const std::uint32_t head = blockIdx.y;
  if (head >= r.group || tile >= tiles_of(r)) return;
  const std::uint32_t valid = valid_keys(r, tile);
  for (std::uint32_t i = threadIdx.x; i < r.head_dimension; i += blockDim.x) {
    std::int64_t sum = 0;
    for (std::uint32_t k = 0; k < valid; ++k) {
      const std::uint32_t n = tile * r.tile_keys + k;
      const std::int64_t factor = factor_of_key(state, head, n);
      if (factor == 0) continue;
      sum += factor * r.values_of_keys[std::size_t{n} * r.head_dimension + i];
    }
    if (r.values == attention::ValueScheme::kDense) {
      sum = arithmetic::tile_value_sum(sum, distance_of(r, tile, head));
    }
    if (sum == 0) continue;
    atomicAdd(&state.value_sums[std::size_t{head} * r.head_dimension + i],
              static_cast<unsigned long long>(sum));
  }
}

// Sums to outputs: grid (1, group, requests).
__global__ void finish(const GoldenState* states) {
  const GoldenState& state = states[blockIdx.z];
  const GoldenRequest& r = state.request;
  const std::uint32_t head = blockIdx.y;
  if (head >= r.group) return;
  if (threadIdx.x == 0 && !attention::is_sampled(r.values)) r.head_offsets[head] = 0;
  for (std::uint32_t i = threadIdx.x; i < r.head_dimension; i += blockDim.x) {
    const std::size_t at = std::size_t{head} * r.head_dimension + i;
    const std::int64_t sum = static_cast<std::int64_t>(state.value_sums[at]);
    r.output[at] = output_of(state, head, sum);
  }
}

// Rows that some head drew, rising by key: grid (1, 1, requests).
__global__ void collect(const GoldenState* states) {
  using Scan = cub::BlockScan<std::uint32_t, kThreads>;
  __shared__ typename Scan::TempStorage shared;

  const GoldenState& state = states[blockIdx.z];
  const GoldenRequest& r = state.request;
  std::uint32_t rows = 0;
  const bool dense = r.values == attention::ValueScheme::kDense;
  for (std::uint32_t begin = 0; begin < r.context && !dense; begin += kThreads) {
    const std::uint32_t n = begin + threadIdx.x;
    std::uint32_t drawn = 0;
    for (std::uint32_t g = 0; g < r.group && n < r.context; ++g) {
      drawn |= state.counts[std::size_t{g} * r.context + n];
    }
    std::uint32_t place = 0;
    std::uint32_t together = 0;
    Scan(shared).ExclusiveSum(drawn != 0 ? 1U : 0U, place, together);
    if (drawn != 0) {
      r.row_keys[rows + place] = n;
      for (std::uint32_t g = 0; g < r.group; ++g) {
        r.row_counts[std::size_t{rows + place} * r.group + g] =
            static_cast<std::uint16_t>(state.counts[std::size_t{g} * r.context + n]);
      }
    }
    rows += together;
    __syncthreads();
  }
  if (threadIdx.x == 0) *r.row_total = rows;
}

}  // namespace santa::gpu::golden
