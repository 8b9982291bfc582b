// What the kernels compute for one element, with the functions of santa/arithmetic.
#pragma once

#include <cstdint>

#include "santa/arithmetic/lfsr.hpp"
#include "santa/arithmetic/quotient.hpp"
#include "santa/arithmetic/sampler.hpp"
#include "state.hpp"

namespace santa::gpu::golden {

// kExponentialTable where device code can index it.
struct ExponentialTable {
  std::uint16_t entries[256] = {};
};
constexpr ExponentialTable exponential_table_entries() {
  ExponentialTable table;
  for (std::size_t f = 0; f < 256; ++f) table.entries[f] = arithmetic::kExponentialTable[f];
  return table;
}
__constant__ const ExponentialTable kDeviceTable = exponential_table_entries();

struct Largest {
  __device__ std::int32_t operator()(std::int32_t a, std::int32_t b) const { return max(a, b); }
};

SANTA_HD inline std::uint32_t tiles_of(const GoldenRequest& r) {
  return (r.context + r.tile_keys - 1) / r.tile_keys;
}

SANTA_HD inline std::uint32_t valid_keys(const GoldenRequest& r, std::uint32_t tile) {
  const std::uint32_t left = r.context - tile * r.tile_keys;
  return left < r.tile_keys ? left : r.tile_keys;
}

// Lanes of 16 random bits that the encoder draws for one feature: the shared one of the group
// scheme, then those of each head.
SANTA_HD inline std::uint32_t feature_lanes(const GoldenRequest& r) {
  switch (r.scores) {
    case attention::ScoreScheme::kBernoulli:
      return r.group;
    case attention::ScoreScheme::kBernoulliIid:
      return r.group * r.bernoulli_draws;
    case attention::ScoreScheme::kBernoulliGroup:
      return r.group + 1;
    default:
      return 0;
  }
}

SANTA_HD inline std::uint32_t encoder_word_count(const GoldenRequest& r) {
  return (r.head_dimension * feature_lanes(r) + 3) / 4;
}

SANTA_HD inline unsigned log2_of(std::uint32_t power) {
  unsigned exponent = 0;
  while ((power >> exponent) > 1) ++exponent;
  return exponent;
}

// The encoder's lanes from number `lane` on: a word is the state that it was drawn from.
__device__ inline arithmetic::LaneStream lanes_from(const GoldenState& state, std::uint32_t lane) {
  arithmetic::LaneStream lanes(state.encoder_words[lane / 4]);
  for (std::uint32_t skipped = 0; skipped < lane % 4; ++skipped) lanes.next16();
  return lanes;
}

__device__ inline std::int32_t coefficient_magnitude(const GoldenState& state, std::uint32_t head,
                                                     std::uint32_t feature) {
  const GoldenRequest& r = state.request;
  const std::size_t index = std::size_t{head} * r.head_dimension + feature;
  if (r.scores == attention::ScoreScheme::kExact)
    return arithmetic::exact_count(r.magnitude[index]);
  const std::uint32_t first = feature * feature_lanes(r);
  if (r.scores == attention::ScoreScheme::kBernoulli) {
    return arithmetic::stratified_count(r.magnitude[index],
                                        lanes_from(state, first + head).next16());
  }
  if (r.scores == attention::ScoreScheme::kBernoulliIid) {
    arithmetic::LaneStream lanes = lanes_from(state, first + head * r.bernoulli_draws);
    return arithmetic::independent_count(r.magnitude[index], log2_of(r.bernoulli_draws), lanes);
  }
  const std::int32_t shared =
      arithmetic::stratified_count(r.magnitude[feature], lanes_from(state, first).next16());
  return arithmetic::group_coefficient(shared, r.ratio[index],
                                       lanes_from(state, first + 1 + head).next16());
}

// x of the key at `at` of [group][n].
__device__ inline std::int32_t score_of(const GoldenRequest& r, std::uint32_t head,
                                        std::size_t at) {
  const bool shared = r.scores == attention::ScoreScheme::kBernoulliGroup;
  return static_cast<std::int32_t>(
      arithmetic::scale_score(r.accumulators[at], r.scale[shared ? 0 : head]));
}

__device__ inline std::uint32_t weight_of(std::int32_t score, std::int32_t exponent) {
  return arithmetic::weight_from_entry(
      kDeviceTable.entries[static_cast<std::uint32_t>(score) & 255U], score, exponent);
}

__device__ inline std::uint64_t mass_of_tile(const GoldenRequest& r, std::int32_t exponent,
                                             std::uint32_t tile, std::uint32_t head) {
  const std::size_t at = std::size_t{tile} * r.group + head;
  return arithmetic::tile_mass(r.tile_sums[at],
                               arithmetic::tile_distance(exponent, r.tile_exponents[at]));
}

// M - m, when the head's exponent is known.
__device__ inline unsigned distance_of(const GoldenRequest& r, std::uint32_t tile,
                                       std::uint32_t head) {
  return arithmetic::tile_distance(r.head_exponents[head],
                                   r.tile_exponents[std::size_t{tile} * r.group + head]);
}

__device__ inline std::uint64_t mass_of_key(const GoldenRequest& r, std::uint32_t head,
                                            std::uint32_t n) {
  return arithmetic::tile_mass(r.weights[std::size_t{head} * r.context + n],
                               distance_of(r, n / r.tile_keys, head));
}

__device__ inline std::uint64_t* prefix_of(const GoldenState& state, std::uint32_t head) {
  return state.prefix_mass + std::size_t{head} * (tiles_of(state.request) + 1);
}

__device__ inline void draw_thresholds(const GoldenState& state, std::uint64_t stream,
                                       std::uint64_t mass, std::uint64_t* thresholds) {
  const GoldenRequest& r = state.request;
  arithmetic::Lfsr64 lfsr(stream);
  std::uint64_t offset = 0;
  for (std::uint32_t j = 0; j < r.samples; ++j) {
    if (r.values == attention::ValueScheme::kSanta) {
      thresholds[j] = arithmetic::draw_below(lfsr, mass << state.samples_log2);
      continue;
    }
    if (j == 0 || r.values == attention::ValueScheme::kStratified) {
      offset = arithmetic::draw_below(lfsr, mass);
    }
    thresholds[j] = arithmetic::stratum_threshold(j, mass, offset);
  }
}

// First of `count` for which `holds`, which stays true once it is; the last if there is none.
template <typename Holds>
__device__ std::uint32_t first_that(std::uint32_t count, Holds holds) {
  std::uint32_t low = 0;
  std::uint32_t high = count - 1;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// The key that a threshold falls on.
__device__ inline std::uint32_t locate(const GoldenState& state, std::uint32_t head,
                                       std::uint64_t threshold) {
  const GoldenRequest& r = state.request;
  const unsigned samples_log2 = state.samples_log2;
  const std::uint64_t* prefix = prefix_of(state, head);
  const std::uint32_t tile = first_that(tiles_of(r), [&](std::uint32_t t) {
    return arithmetic::threshold_within(threshold, prefix[t + 1], samples_log2);
  });
  const std::uint64_t residual =
      arithmetic::tile_residual(threshold, prefix[tile], samples_log2, distance_of(r, tile, head));
  const std::uint32_t first = tile * r.tile_keys;
  const std::uint32_t* cumulative = state.cumulative + std::size_t{head} * r.context + first;
  return first + first_that(valid_keys(r, tile), [&](std::uint32_t k) {
           return arithmetic::residual_within(residual, cumulative[k], samples_log2);
         });
}

// Order of a head's keys for top-k: the largest score first, then the lowest key. All distinct.
constexpr int kRankBits = 32 + static_cast<int>(arithmetic::kMaxContextLog2);
__device__ inline std::uint64_t rank_of(std::int32_t score, std::uint32_t n) {
  const std::uint32_t falling = ~(static_cast<std::uint32_t>(score) ^ 0x80000000U);
  return (std::uint64_t{falling} << arithmetic::kMaxContextLog2) | n;
}

// What a key's values are multiplied with.
__device__ inline std::int64_t factor_of_key(const GoldenState& state, std::uint32_t head,
                                             std::uint32_t n) {
  const GoldenRequest& r = state.request;
  const std::size_t at = std::size_t{head} * r.context + n;
  if (r.values == attention::ValueScheme::kDense) return r.weights[at];
  if (r.values == attention::ValueScheme::kTopK) {
    return state.counts[at] == 0 ? 0 : static_cast<std::int64_t>(mass_of_key(r, head, n));
  }
  return state.counts[at];
}

__device__ inline std::int16_t output_of(const GoldenState& state, std::uint32_t head,
                                         std::int64_t sum) {
  const GoldenRequest& r = state.request;
  if (attention::is_sampled(r.values)) {
    return arithmetic::normalize(static_cast<std::int32_t>(sum), state.samples_log2);
  }
  const bool dense = r.values == attention::ValueScheme::kDense;
  return arithmetic::value_quotient(sum, dense ? r.head_masses[head] : state.selected_mass[head]);
}

}  // namespace santa::gpu::golden
