// The sampling warps: cumulative weight of the whole context from the blocks' masses, the draws of
// this block's keys, their value rows, and the sums over the blocks of the team.
//
// One or two warps do all of this for one head, without waiting for those of other heads. The order
// in which keys lie on the line of cumulative weight (block, run, step) is fixed; every scheme is
// unbiased for any.
//
// While the first scores are computed, each warp runs one phase of this code on made-up values that
// stay in the block. After a pause the instructions lie in device memory, and fetching them one
// after the other in the middle of a request takes longer than executing them.
#pragma once

#include "output_sums.cuh"

namespace santa::gpu {

template <typename Shape>
class ValueSample : OutputSums<Shape> {
  using Base = OutputSums<Shape>;
  using Base::acts, Base::clear_sums, Base::collect_masses, Base::find_draws, Base::finish,
      Base::first_head, Base::gather, Base::hand, Base::parts, Base::publish_mass, Base::send,
      Base::sort_draws, Base::sorted_of, Base::stream_of, Base::sync_head, Base::take_mass,
      Base::take_part, Base::warp_head;
  using Base::buffer_, Base::lane_, Base::own_split_, Base::p_, Base::rehearsing_, Base::scores_,
      Base::shared_, Base::shared_offset_, Base::team_, Base::thread_, Base::turn_, Base::warp_;
  using Base::kDimension, Base::kHeadWarps, Base::kInTurns, Base::kListDraws, Base::kSlots,
      Base::kTurnThreads, Base::kTurns, Base::kWarpHeads;
  using typename Base::Shared;

 public:
  __device__ ValueSample(const Parameters& p, Shared& shared, const float* scores)
      : Base(p, shared, scores) {}

  // Sets the rehearsal up: a team of this block alone, with equal weights, two draws, and runs and
  // scores that are 0.
  __device__ void prepare() {
    if (thread_ == 0) {
      const std::size_t places = static_cast<std::size_t>(team_) * kExchanges * p_.splits;
      shared_.teams[0] = {p_.splits,
                          p_.parts,
                          p_.arguments.samples,
                          p_.outputs_per_share,
                          1.0 / p_.arguments.samples,
                          p_.masses + places * kSlots,
                          p_.partials + places * p_.splits * p_.outputs_per_share,
                          scores_};
      char* own = p_.rehearsals + blockIdx.x * p_.rehearsal_bytes;
      auto* sums = reinterpret_cast<std::uint64_t*>(own + kSlots * sizeof(ulonglong2));
      shared_.teams[1] = {1,    1,
                          2,    p_.group * kDimension,
                          0.5,  reinterpret_cast<ulonglong2*>(own),
                          sums, reinterpret_cast<const float*>(sums + p_.group * kDimension)};
    }
    if (lane_ == 0) hand() = {1 << 7, 0, 1 << 7, 64, 1.0 / 64, 0, 0, 0, 0, 2};
    for (int i = thread_; i < Shape::kLists * kRunsOfHead; i += kSampleThreads) {
      shared_.ends[i / kRunsOfHead][i % kRunsOfHead] = i % kRunsOfHead;
    }
    if (lane_ == 0) {
      shared_.draws[warp_][0] = 1;
      shared_.draw_counts[warp_] = 1;
    }
    clear_sums();
    if (lane_ < kWarpHeads) shared_.masses[warp_][lane_][0] = {1 << 7, 0};
    if (warp_ == kSampleWarps - 1) barrier_arrive(kSampleBarrier, kSampleThreads);
  }

  __device__ void run() {
    const std::uint32_t first_epoch = p_.epochs[blockIdx.x] + 1;
    PairCursor pair = before_first_pair(team_, p_);
    bool more = pair.advance(p_);
    PairCursor pending = pair;  // whose sums are on their way between the blocks
    int pending_sequence = -1;
    write_empty_requests();
    rehearsing_ = hidden(1) != 0;
    buffer_ = 0;
    turn_ = kInTurns ? warp_ % kHeadWarps : 0;
    // All have prepared.
    if (warp_ != kSampleWarps - 1) barrier_sync(kSampleBarrier, kSampleThreads);
    int sequence = hidden(-1);
    for (;;) {
      if (sequence >= 0) rehearsing_ = false;
      // The last warp rehearsed something else (decode_kernel), and does not know yet whether the
      // others have prepared.
      if (more && (!rehearsing_ || warp_ != kSampleWarps - 1)) {
        const int place = max(sequence, 0) % kExchanges;
        const std::uint32_t epoch = first_epoch + max(sequence, 0);
        begin_pair(pair, sequence);
#pragma unroll 1
        for (int k = 0; k < kWarpHeads; ++k) {
          if (!acts(Base::kPublish)) continue;
#pragma unroll 1
          for (int part = 0; part < parts(); ++part) publish_mass(pair, k, part, place, epoch);
        }
#pragma unroll 1
        for (int k = 0; k < kWarpHeads; ++k) {
          const int head = warp_head(k);
          if (head >= p_.group && !rehearsing_) break;
          if (acts(Base::kCollect)) collect_masses(pair, head, place, epoch);
#pragma unroll 1
          for (int part = 0; part < parts(); ++part) {
            take_part(pair, part);
            if (acts(Base::kCollect)) take_mass(pair, k);
            if (!rehearsing_) clear_sums();
            for (int window = 0; window < hand().own_draws; window += kListDraws) {
              if (acts(Base::kFind)) find_draws(pair, k, window);
              sync_head(head);
              if (acts(Base::kGather)) gather(pair);
              sync_head(head);
            }
            if (acts(Base::kSend) && head < p_.group) send(head, place, epoch);
          }
        }
        if (!rehearsing_)
          barrier_arrive(kEmptyBarrier + sequence % kHandovers, kStreamThreads + kTurnThreads);
      }
      // One pair late, so that the other blocks' sums are there.
      const int done = rehearsing_ ? 0 : pending_sequence;
      if (done >= 0 && (!rehearsing_ || (more && acts(Base::kFinish)))) {
        finish(rehearsing_ ? pair : pending, done % kExchanges, first_epoch + done);
      }
      if (!rehearsing_) {
        if (!more) break;
        pending = pair;
        pending_sequence = sequence;
      }
      // Of two turns each takes every other pair.
      int steps = rehearsing_ ? turn_ : kTurns;
      sequence += rehearsing_ ? 1 + turn_ : kTurns;
      for (; steps > 0 && more; --steps) {
        more = pair.advance(p_);
      }
    }
    // Those of processors without a block too, which may have one in the next launch.
    if (thread_ == 0) {
      for (int b = blockIdx.x; b < p_.processors; b += gridDim.x) {
        p_.epochs[b] = first_epoch - 1 + p_.rounds;
      }
    }
  }

 private:
  __device__ void write_empty_requests() const {
    if (own_split_ != 0) return;
    const DecodeArguments& a = p_.arguments;
    for (int pair = team_; pair < a.requests * a.kv_heads; pair += p_.teams) {
      const PairCursor empty{pair / a.kv_heads, pair % a.kv_heads, 0};
      if (__ldg(a.lengths + empty.request) > 0) continue;
      const std::int64_t head = first_head(empty);
      auto* output = static_cast<std::uint16_t*>(a.output) + head * kDimension;
      for (int o = thread_; o < p_.group * kDimension; o += kSampleThreads) output[o] = 0;
      if (a.log_sum_exp != nullptr && thread_ < p_.group) {
        a.log_sum_exp[head + thread_] = -__int_as_float(0x7f800000);
      }
    }
  }

  // Random numbers while the scores are computed, then waits for them.
  __device__ void begin_pair(const PairCursor& pair, int sequence) {
    // A lane a head.
    shared_offset_ = stream_of(pair, warp_head(lane_ % kWarpHeads)).uniform(0);
    if (rehearsing_) return;
    if (p_.arguments.scheme == ValueScheme::kIndependent) {
      for (int head = 0; head < p_.group; ++head) {
        sort_draws(stream_of(pair, head), shared_.gaps[turn_], sorted_of(head));
      }
    }
    buffer_ = sequence % p_.buffers;
    barrier_sync(kFullBarrier + sequence % kHandovers, kStreamThreads + kTurnThreads);
  }
};

}  // namespace santa::gpu
