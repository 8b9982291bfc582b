// What the streaming warps do with scores, however the keys lie: keep them, add them to one running
// sum a lane and head, and hand both to the sampling warps.
#pragma once

#include "block_state.cuh"

namespace santa::gpu {

template <typename Shape>
class StreamWarps {
 protected:
  using Shared = typename Shape::Shared;

  __device__ StreamWarps(const Parameters& p, Shared& shared, float* scores)
      : p_(p),
        shared_(shared),
        scores_(scores),
        team_(blockIdx.x % p.teams),
        split_(blockIdx.x / p.teams * (Shape::kInTurns ? p.parts : 1)),
        thread_(threadIdx.x),
        warp_(thread_ / 32),
        lane_(thread_ % 32) {}

  __device__ int parts() const { return Shape::kInTurns ? p_.parts : 1; }

  __device__ int first_token(int step, int split) const {
    return ((step * p_.splits + split) * kStreamWarps + warp_) * Shape::kStepTokens;
  }

  // Waits until the place of a pair's scores is free; the place.
  __device__ float* take_handover(int sequence) {
    buffer_ = buffer_ + 1 < p_.buffers ? buffer_ + 1 : 0;
    if (sequence >= p_.buffers) {
      barrier_sync(kEmptyBarrier + (sequence - p_.buffers) % kHandovers, kHandoverThreads);
    }
    return scores_ + buffer_ * p_.handover_floats;
  }

  __device__ void begin_part() {
#pragma unroll
    for (int r = 0; r < Shape::kRuns; ++r) runs_[r] = {kNoScore, 0};
  }

  __device__ void end_part(float* handed) const {
    if (!keeps_) return;
#pragma unroll
    for (int r = 0; r < Shape::kRuns; ++r) {
      reinterpret_cast<Run*>(handed)[r * kStreamThreads + thread_] = runs_[r];
    }
  }

  __device__ void hand_over(int sequence) const {
    barrier_arrive(kFullBarrier + sequence % kHandovers, kHandoverThreads);
  }

  // Scales a tile's scores to powers of two, stores them and adds them to the lane's runs.
  // `factor(r)` scales those of run r.
  template <typename Factor>
  __device__ void keep(int length, int s, int split, int tile,
                       const float (&sums)[Shape::kColumnTiles][4], const Factor& factor,
                       float* scores) {
    const int first = first_token(s, split);
    float kept[Shape::kRuns];
#pragma unroll
    for (int r = 0; r < Shape::kRuns; ++r) {
      float sum;
      if constexpr (Shape::kSlots == 4) {
        sum = (lane_ & 2) != 0 ? sums[0][2 + r] : sums[0][r];
      } else {
        sum = sums[r / 4][r & 3];
      }
      const float score = first + Shape::token_of_run(lane_, r, tile) < length
                              ? sum * factor(r)
                              : -__int_as_float(0x7f800000);
      kept[r] = score;
      const float exponent = fmaxf(runs_[r].exponent, ceilf(score));
      runs_[r].total = runs_[r].total * power_of_two(runs_[r].exponent - exponent) +
                       power_of_two(score - exponent);
      runs_[r].exponent = exponent;
    }
    float* place = scores + (static_cast<std::size_t>(s) * Shape::kTiles + tile) * Shape::kRuns *
                                kStreamThreads;
    if (!keeps_) return;
    if constexpr (Shape::kRuns == 2) {
      reinterpret_cast<float2*>(place)[thread_] = make_float2(kept[0], kept[1]);
    } else {
#pragma unroll
      for (int r = 0; r < Shape::kRuns; r += 4) {
        reinterpret_cast<float4*>(place)[r / 4 * kStreamThreads + thread_] =
            make_float4(kept[r], kept[r + 1], kept[r + 2], kept[r + 3]);
      }
    }
  }

  // From sums of products to exponents of two, but for what a query was divided by.
  __device__ float pair_factor(const PairCursor& pair) const {
    return p_.arguments.score_scale * 1.44269504088896341F *
           (p_.arguments.keys.head_scales != nullptr
                ? __ldg(p_.arguments.keys.head_scales + pair.kv_head)
                : 1.0F);
  }

  const Parameters& p_;
  Shared& shared_;
  float* scores_;
  int team_;
  int split_;  // the block's first share
  int thread_, warp_, lane_;
  int buffer_ = -1;
  bool keeps_ = true;  // scores, unless the warp only rehearses
  Run runs_[Shape::kRuns];

 private:
  // Streaming threads and the sampling ones that take a pair.
  static constexpr int kHandoverThreads =
      kStreamThreads + (Shape::kInTurns ? kSampleThreads / 2 : kSampleThreads);
};

// Copies 16 bytes to shared memory, in the background.
__device__ inline void copy_later(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(from)
               : "memory");
}

}  // namespace santa::gpu
