// Queries for feature-major keys: given ones, or Bernoulli estimates of them (paper section 5 and
// appendix C), with the features that no head of the group needs left out.
//
// Of B stratified draws of a Bernoulli variable with mean x / norm, floor(x B / norm + u) are 1, u
// uniform on [0, 1).
#pragma once

#include "block_state.cuh"
#include "draws.cuh"
#include "stream_warps.cuh"

namespace santa::gpu {

template <typename Shape>
class QueryEncoder {
  using Shared = typename Shape::Shared;
  using Tile = typename Shape::Tile;
  static constexpr int kDimension = Shape::kDimension;
  static constexpr int kSlots = Shape::kSlots;
  // Type of what the products take: the cache's, or halves for 8-bit caches.
  static constexpr bool kBf16 = Shape::kType == ElementType::kBf16;
  static_assert(kDimension <= kStreamThreads);

 public:
  __device__ QueryEncoder(const Parameters& p, Shared& shared, int thread)
      : p_(p), q_(shared.queries), feature_(thread), warp_(thread / 32), lane_(thread % 32) {}

  // Asks for the queries of a pair, ahead of encode().
  __device__ void stage(const PairCursor& pair) {
    const char* query =
        static_cast<const char*>(p_.arguments.queries) +
        2 * (pair.request * p_.arguments.query_request_stride +
             static_cast<std::int64_t>(pair.kv_head) * p_.group * p_.arguments.query_head_stride);
#pragma unroll 1
    for (int i = feature_; i < p_.group * (kDimension / 8); i += kStreamThreads) {
      const int head = i / (kDimension / 8), piece = i % (kDimension / 8);
      copy_later(&q_.given[head][8 * piece],
                 query + 2 * head * p_.arguments.query_head_stride + 16 * piece);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }

  // Encodes the staged queries into one half of the shared memory; all streaming threads, a feature
  // each.
  __device__ void encode(const PairCursor& pair, int half) {
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    barrier_sync(kStreamBarrier, kStreamThreads);
    const bool has_feature = feature_ < kDimension;
    const bool shared_draw = p_.arguments.scores == ScoreScheme::kBernoulliGroup;
    const float mean = note_maxima(has_feature, shared_draw);
    barrier_sync(kStreamBarrier, kStreamThreads);
    bool needed = false;
    float count = 0;  // of a group that shares its draws
    for (int head = 0; head < p_.group; ++head) {
      const float norm = norm_of(shared_draw ? 0 : head);
      if (feature_ == 0) q_.factors[half][head] = factor_of(norm);
      if (!has_feature) continue;
      const float given = value_of(q_.given[head][feature_]);
      float value = given;
      Random4 random{};
      if (p_.arguments.scores == ScoreScheme::kExact) {
        value *= power_of_two(-exponent_of(norm));
      } else {
        random = philox_of(pair, head);
        if (!shared_draw) {
          value = copysignf(drawn(fabsf(given), norm, random.words[0]), given);
        } else {
          if (head == 0) count = drawn(mean, norm, random.words[0]);
          value = count > 0 ? count * given / mean : 0;
        }
        if (!isfinite(given)) value = __int_as_float(0x7fc00000);
      }
      needed = needed || !(value == 0);
      q_.given[head][feature_] = encoded(value, random.words[1]);
    }
    choose(needed, half);
  }

 private:
  __device__ float value_of(std::uint16_t bits) const {
    return p_.arguments.query_type == ElementType::kBf16
               ? __uint_as_float(static_cast<std::uint32_t>(bits) << 16)
               : __half2float(__ushort_as_half(bits));
  }

  // Rounded up or down by the random bits, so that the mean is the value.
  __device__ static std::uint16_t encoded(float value, std::uint32_t random) {
    const std::uint32_t bits = __float_as_uint(value);
    if ((bits & 0x7f800000U) == 0x7f800000U) return kBf16 ? 0x7fc0 : 0x7e00;
    if constexpr (kBf16) {
      return static_cast<std::uint16_t>((bits + (random & 0xffffU)) >> 16);
    } else {
      const float cut = __uint_as_float((bits + (random & 0x1fffU)) & ~0x1fffU);
      return __half_as_ushort(__float2half_rn(cut));
    }
  }

  // Largest magnitudes of this warp's features; returns the mean magnitude of this thread's.
  __device__ float note_maxima(bool has_feature, bool shared_draw) {
    float mean = 0;
#pragma unroll 1
    for (int head = 0; head < p_.group; ++head) {
      const float given = has_feature ? fabsf(value_of(q_.given[head][feature_])) : 0;
      mean += given;
      if (!shared_draw) note_maximum(head, given);
    }
    mean /= static_cast<float>(p_.group);
    if (shared_draw) note_maximum(0, mean);
    return mean;
  }

  __device__ void note_maximum(int head, float magnitude) {
    // As integers, magnitudes are ordered the same, and NaN is the largest.
    const unsigned largest = __reduce_max_sync(0xffffffffU, __float_as_uint(magnitude));
    if (lane_ == 0) q_.maxima[warp_][head] = __uint_as_float(largest);
  }

  __device__ float norm_of(int head) const {
    unsigned largest = 0;
#pragma unroll
    for (int w = 0; w < kStreamWarps; ++w) {
      largest = max(largest, __float_as_uint(q_.maxima[w][head]));
    }
    return __uint_as_float(largest);
  }

  __device__ static float exponent_of(float norm) {
    return norm > 0 && norm < 3e38F
               ? fmaxf(-100.0F, fminf(100.0F, static_cast<float>(ilogbf(norm))))
               : 0;
  }

  __device__ float factor_of(float norm) const {
    return p_.arguments.scores == ScoreScheme::kExact
               ? power_of_two(exponent_of(norm))
               : norm / static_cast<float>(p_.arguments.bernoulli_draws);
  }

  __device__ float drawn(float magnitude, float norm, std::uint32_t random) const {
    if (!(norm > 0)) return 0;
    const auto draws = static_cast<float>(p_.arguments.bernoulli_draws);
    return floorf(magnitude / norm * draws + static_cast<float>(random >> 8) * 0x1p-24F);
  }

  __device__ Random4 philox_of(const PairCursor& pair, int head) const {
    const auto request =
        p_.arguments.seed_stride != 0 ? 0U : static_cast<std::uint32_t>(pair.request);
    const std::uint64_t seed =
        __ldg(reinterpret_cast<const unsigned long long*>(p_.arguments.seed) +
              (p_.arguments.seed_stride != 0 ? pair.request : 0));
    const std::uint64_t offset =
        __ldg(reinterpret_cast<const unsigned long long*>(p_.arguments.offset));
    return philox(seed, offset + (static_cast<std::uint64_t>(kFirstQueryDraw + feature_) << 40),
                  static_cast<std::uint64_t>(request) << 32 |
                      static_cast<std::uint32_t>(pair.kv_head * p_.group + head));
  }

  // Lists the needed features, spread evenly over groups of four chunks, with their queries.
  __device__ void choose(bool needed, int half) {
    const unsigned voted = __ballot_sync(0xffffffffU, needed);
    if (lane_ == 0) q_.counts[warp_] = __popc(voted);
    for (int i = feature_; i < Shape::FeatureMajorQueries::kPlaces; i += kStreamThreads) {
      q_.features[half][i] = kNoFeature;
    }
    std::uint32_t* chosen = reinterpret_cast<std::uint32_t*>(q_.chosen[half]);
    for (int i = feature_; i < kSlots * Shape::FeatureMajorQueries::kRow / 2; i += kStreamThreads) {
      chosen[i] = 0;
    }
    barrier_sync(kStreamBarrier, kStreamThreads);
    int before = 0, all = 0;
#pragma unroll
    for (int w = 0; w < kStreamWarps; ++w) {
      if (w < warp_) before += q_.counts[w];
      all += q_.counts[w];
    }
    const int groups = max(1, (all + kGroupFeatures - 1) / kGroupFeatures);
    if (feature_ == 0) q_.groups[half] = groups;
    if (needed) {
      const int number = before + __popc(voted & ((1U << lane_) - 1));
      const int chunk = number % (4 * groups), inside = number / (4 * groups);
      const int place = Tile::kChunkFeatures * chunk + 4 * (inside % 4) + inside / 4;
      q_.features[half][place] = static_cast<std::uint16_t>(feature_);
      for (int head = 0; head < p_.group; ++head) {
        q_.chosen[half][head][place] = q_.given[head][feature_];
      }
    }
    barrier_sync(kStreamBarrier, kStreamThreads);
  }

 public:
  static constexpr std::uint16_t kNoFeature = 0xffff;

 private:
  static constexpr int kGroupFeatures = Tile::kChunkFeatures * Tile::kChunksInFlight;
  static_assert(Shape::FeatureMajorQueries::kPlaces % kGroupFeatures == 0);
  static constexpr std::uint32_t kFirstQueryDraw = 1U << 22;  // others are below 2^20 + 2

  const Parameters& p_;
  typename Shape::Queries& q_;
  int feature_, warp_, lane_;
};

}  // namespace santa::gpu
