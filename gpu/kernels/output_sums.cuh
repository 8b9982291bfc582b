// Last phase: the sums of all shares, added up in their order.
#pragma once

#include "value_gather.cuh"

namespace santa::gpu {

template <typename Shape>
class OutputSums : protected ValueGather<Shape> {
 protected:
  using Base = ValueGather<Shape>;
  using Base::first_head, Base::hand, Base::parts, Base::split, Base::sync_head, Base::team,
      Base::turn_thread;
  using Base::kDimension, Base::kHeadWarps, Base::kInTurns, Base::kTurnThreads;
  using Base::lane_, Base::own_split_, Base::p_, Base::rehearsing_, Base::shared_, Base::warp_;
  using typename Base::Shared;

  __device__ OutputSums(const Parameters& p, Shared& shared, const float* scores)
      : Base(p, shared, scores) {}

  // This block's sums of a head, to the blocks that add them up.
  __device__ void send(int head, int place, std::uint32_t epoch) {
    const bool both = kInTurns;
    sync_head(head);
    const int splits = team().splits, per_share = team().outputs_per_share;
    std::uint64_t* words =
        team().partials + static_cast<std::size_t>(place) * splits * splits * per_share;
    const float inverse = __fdividef(1.0F, static_cast<float>(per_share));
    const int parts = both ? 1 : kHeadWarps;
    const int part = both ? 0 : warp_ % kHeadWarps;
#pragma unroll 1
    for (int f = part * 32 + lane_; f < kDimension; f += 32 * parts) {
      float sum = shared_.sums[warp_ - part][f];
      if (parts == 2) sum += shared_.sums[warp_ - part + 1][f];
      if (hand().total == kNotANumber) sum = __int_as_float(0x7fc00000);
      const int o = head * kDimension + f;
      const int owner = static_cast<int>((static_cast<float>(o) + 0.5F) * inverse);
      publish(words + (owner * splits + split()) * per_share + (o - owner * per_share), sum, epoch);
    }
    sync_head(head);
  }

  // Adds up the sums of all shares for this block's part of the output, in the order of the shares.
  __device__ void finish(const PairCursor& pair, int place, std::uint32_t epoch) const {
    constexpr int kAhead = 8;
    const DecodeArguments& a = p_.arguments;
    const int splits = team().splits, per_share = team().outputs_per_share;
    const int first_owner = rehearsing_ ? 0 : own_split_;
    const int begin = first_owner * per_share;
    const int count = min(parts() * per_share, p_.group * kDimension - begin);
    const float inverse = __fdividef(1.0F, static_cast<float>(per_share));
#pragma unroll 1
    for (int o = turn_thread(); o < count; o += kTurnThreads) {
      const int owner = static_cast<int>((static_cast<float>(o) + 0.5F) * inverse);
      const std::uint64_t* words =
          team().partials +
          static_cast<std::size_t>(place * splits + first_owner + owner) * splits * per_share +
          (o - owner * per_share);
      float sum = 0;
#pragma unroll 1
      for (int s = 0; s < splits; s += kAhead) {
        std::uint64_t bits[kAhead];
#pragma unroll
        for (int i = 0; i < kAhead; ++i) bits[i] = peek(words + min(s + i, splits - 1) * per_share);
#pragma unroll
        for (int i = 0; i < kAhead; ++i) {
          if (s + i >= splits) break;
          while (static_cast<std::uint32_t>(bits[i] >> 32) != epoch && !rehearsing_) {
            bits[i] = peek(words + (s + i) * per_share);
          }
          sum += __uint_as_float(static_cast<std::uint32_t>(bits[i]));
        }
      }
      if (rehearsing_) continue;
      const float scale =
          a.values.head_scales != nullptr ? __ldg(a.values.head_scales + pair.kv_head) : 1.0F;
      store_output(a.output, a.query_type, first_head(pair) * kDimension + begin + o,
                   sum * scale / static_cast<float>(a.samples));
    }
  }
};

}  // namespace santa::gpu
