// What each phase of the sampling warps needs: who works for which head, what the streaming warps
// handed over, and how the warps of a head, a turn or a block wait for each other.
#pragma once

#include "block_state.cuh"

namespace santa::gpu {

template <typename Shape>
class SampleWarps {
 protected:
  using Shared = typename Shape::Shared;
  static constexpr ElementType kType = Shape::kType;
  static constexpr int kDimension = Shape::kDimension;
  static constexpr int kSlots = Shape::kSlots;
  static constexpr bool kInTurns = Shape::kInTurns;
  static constexpr int kHeadWarps = Shape::kHeadWarps;  // that work for one head
  static constexpr int kWarpHeads = Shape::kWarpHeads;
  static constexpr int kWarpGroups = 32 / Shape::kRowGroup;  // of lanes, a row each
  static constexpr int kListDraws = Shape::kListDraws;
  // Sums of rows of a head, so many that no order of the work changes their rounding.
  static constexpr int kStreams = kWarpGroups * kHeadWarps;
  static constexpr int kDrawsByPosition = 128;  // found one by one; more of them run by run

  __device__ SampleWarps(const Parameters& p, Shared& shared, const float* scores)
      : p_(p),
        shared_(shared),
        scores_(scores),
        team_(blockIdx.x % p.teams),
        own_split_(blockIdx.x / p.teams * (kInTurns ? p.parts : 1)),
        thread_(threadIdx.x - kStreamThreads),
        warp_(thread_ / 32),
        lane_(thread_ % 32) {}

  __device__ int parts() const { return kInTurns ? team().parts : 1; }

  __device__ const Team& team() const { return shared_.teams[rehearsing_ ? 1 : 0]; }
  __device__ HeadInHand& hand() const { return shared_.hands[warp_]; }

  // Turns to one of the block's shares of a pair.
  __device__ void take_part(const PairCursor& pair, int part) {
    part_ = kInTurns ? part : 0;
    run_scores_ = Shape::kTiles *
                  steps_of(p_, own_split_ + part_, pair.length, kStreamWarps * Shape::kStepTokens);
    if (rehearsing_) run_scores_ = 1;
  }

  // The share in hand among all of the pair.
  __device__ int split() const { return rehearsing_ ? 0 : own_split_ + part_; }

  // What the streaming warps handed over of the share.
  __device__ const float* handed() const {
    return team().handed + buffer_ * p_.handover_floats + (kInTurns ? part_ * p_.part_floats : 0);
  }

  // In the rehearsal a warp runs one phase only, without waiting for another: that of its number.
  // No phase reads there what another one writes, and those that a head's first warp begins are
  // given to first warps; sums are sent of a head that exists.
  enum Phase : int { kSend = 0, kCollect = 1, kPublish = 2, kFind = 4, kFinish = 5, kGather = 6 };
  __device__ bool acts(Phase phase) const { return !rehearsing_ || warp_ == phase; }

  // With several pairs a team, the two warps of a head take turns with pairs instead of sharing
  // one: each pair takes longer, both together less. Sums are made in the same order either way.
  static_assert(!kInTurns || kHeadWarps == 2);
  static constexpr int kTurns = kInTurns ? 2 : 1;
  static constexpr int kTurnThreads = kSampleThreads / kTurns;
  __device__ int first_part() const { return kInTurns ? 0 : warp_ % kHeadWarps; }
  __device__ int last_part() const { return kInTurns ? kHeadWarps - 1 : warp_ % kHeadWarps; }

  // Number of this thread among those of its turn.
  __device__ int turn_thread() const {
    return kInTurns ? warp_ / kHeadWarps * 32 + lane_ : thread_;
  }

  // Waits for the warps of this turn.
  __device__ void sync_turn() const {
    if (!rehearsing_) barrier_sync(kSampleBarrier + turn_, kTurnThreads);
  }

  // Waits for the other warp of a head.
  __device__ void sync_head(int head) const {
    if (kHeadWarps == 1 || kInTurns) {
      __syncwarp();
    } else if (!rehearsing_) {
      barrier_sync(kHeadBarrier + head, 32 * kHeadWarps);
    }
  }

  __device__ int list_of(int head) const { return kInTurns ? warp_ : head; }
  __device__ int warp_head(int k) const { return warp_ / kHeadWarps * kWarpHeads + k; }

  // Place of the first of a pair's heads in arrays [request][query head].
  __device__ std::int64_t first_head(const PairCursor& pair) const {
    return static_cast<std::int64_t>(pair.request) * p_.arguments.query_heads +
           static_cast<std::int64_t>(pair.kv_head) * p_.group;
  }

  __device__ DrawStream stream_of(const PairCursor& pair, int head) const {
    return {__ldg(reinterpret_cast<const unsigned long long*>(p_.arguments.seed) +
                  (p_.arguments.seed_stride != 0 ? pair.request : 0)),
            __ldg(reinterpret_cast<const unsigned long long*>(p_.arguments.offset)),
            p_.arguments.seed_stride != 0 ? 0U : static_cast<std::uint32_t>(pair.request),
            static_cast<std::uint32_t>(pair.kv_head * p_.group + head)};
  }

  // Run `index` of the line of this block for a head: the streaming thread that kept it, and its
  // number there.
  __device__ static void place_of_run(int head, int index, int* thread, int* kept) {
    const int place = (index & 3) * 32 + (index >> 2);  // so that adjacent lanes read adjacent runs
    if constexpr (kSlots == 4) {
      *thread = 2 * place + head / 2;
      *kept = head & 1;
    } else {
      *thread = place / 2 * 4 + (head & 7) / 2;
      *kept = head / 8 * 4 + (head & 1) + 2 * (place & 1);
    }
  }

  // Scores of a run, one every kRuns * kStreamThreads.
  __device__ const float* scores_of(int thread, int kept) const {
    const float* scores = handed() + Shape::kRunFloats;
    return scores + (Shape::kRuns == 2 ? 2 * thread + kept
                                       : 4 * (kept / 4 * kStreamThreads + thread) + (kept & 3));
  }

  // Of score `place` of a run.
  __device__ int token_of(int place, int thread, int kept) const {
    const int step = place / Shape::kTiles * p_.splits + own_split_ + part_;
    return (step * kStreamWarps + thread / 32) * Shape::kStepTokens +
           Shape::token_of_run(thread % 32, kept, place % Shape::kTiles);
  }

  const Parameters& p_;
  Shared& shared_;
  const float* scores_;
  int team_, own_split_, thread_, warp_, lane_;
  int buffer_ = 0;
  int run_scores_ = 0;        // scores of a run
  double shared_offset_ = 0;  // of kSystematic, of the head that is this lane's number
  bool rehearsing_ = false;   // the team is then this block alone
  int turn_ = 0;
  int part_ = 0;                     // the share in hand among this block's
  std::uint64_t before_shares_ = 0;  // what lies before this lane's shares
};

}  // namespace santa::gpu
