// Second phase: the tokens on which a share's draws fall, draw by draw or, of many draws, run by
// run.
#pragma once

#include "mass_exchange.cuh"

namespace santa::gpu {

template <typename Shape>
class DrawSearch : protected MassExchange<Shape> {
 protected:
  using Base = MassExchange<Shape>;
  using Base::draws_of, Base::first_part, Base::hand, Base::last_part, Base::list_of,
      Base::place_of_run, Base::scores_of, Base::token_of, Base::warp_head;
  using Base::kDrawsByPosition, Base::kHeadWarps, Base::kListDraws;
  using Base::lane_, Base::p_, Base::part_, Base::run_scores_, Base::shared_, Base::warp_;
  using typename Base::Shared;

  __device__ DrawSearch(const Parameters& p, Shared& shared, const float* scores)
      : Base(p, shared, scores) {}

  // Lists the tokens on which the draws of this window fall, and how many on each; in
  // parts, of which each warp that shares a head makes one.
  __device__ void find_draws(const PairCursor& pair, int k, int window) {
    const int draws = min(kListDraws, hand().own_draws - window);
    int listed = 0;
#pragma unroll 1
    for (int part = first_part(); part <= last_part(); ++part) {
      listed = draws <= kDrawsByPosition ? find_by_position(pair, k, part, window, draws, listed)
                                         : find_by_run(pair, k, part, window, draws, listed);
    }
    if (lane_ == 0) shared_.draw_counts[warp_] = listed;
    __syncwarp();
  }

  // Scores of a run from number `first` on, all of them on their way at once; beyond its end those
  // of no weight.
  template <int kCount>
  __device__ void load_scores(const float* scores, int first, float (&kept)[kCount]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      kept[i] = -__int_as_float(0x7f800000);
      if (first + i < run_scores_) kept[i] = scores[(first + i) * Shape::kRuns * kStreamThreads];
    }
  }

  // A lane a draw. Equal tokens of adjacent draws become one entry.
  __device__ int find_by_position(const PairCursor& pair, int k, int part, int window, int draws,
                                  int listed) {
    const Draws all = draws_of(warp_head(k));
#pragma unroll 1
    for (int slot = 32 * part; slot < draws; slot += 32 * kHeadWarps) {
      const std::uint32_t token = token_at(
          pair, k, all.position(hand().first_draw + window + min(slot + lane_, draws - 1)));
      const int here = min(32, draws - slot);
      const std::uint32_t last = __shfl_up_sync(0xffffffffU, token, 1);
      const bool first = lane_ < here && (lane_ == 0 || token != last);
      const unsigned firsts = __ballot_sync(0xffffffffU, first);
      const unsigned later = lane_ < 31 ? firsts >> (lane_ + 1) : 0;
      if (first) {
        shared_.draws[warp_][listed + __popc(firsts & ((1U << lane_) - 1))] =
            token << kCountBits |
            static_cast<std::uint32_t>(later != 0 ? __ffs(static_cast<int>(later)) : here - lane_);
      }
      listed += __popc(firsts);
    }
    return listed;
  }

  // The first token of this block through which the weight exceeds a position of the whole line.
  // Sums are compared at the exponent at which they were made: x >> shift > y is x >= (y + 1) <<
  // shift.
  __device__ std::uint32_t token_at(const PairCursor& pair, int k, std::uint64_t position) const {
    constexpr int kAhead = 8;
    const std::uint64_t* ends = shared_.ends[list_of(warp_head(k))];
    // Rounding may put a draw just outside of the block to which its number belongs.
    const std::uint64_t before = hand().before;
    const std::uint64_t inside =
        position <= before ? 0 : min(position - before, hand().own_units - 1);
    const std::uint64_t target = (inside + 1) << hand().own_shift;
    int run = 0;
#pragma unroll 1
    for (int half = kRunsOfHead / 2; half > 0; half /= 2) {
      run += ends[run + half - 1] < target ? half : 0;
    }
    const std::uint64_t before_run = run > 0 ? ends[run - 1] : 0;
    const float left = static_cast<float>(target - before_run) * 0x1p-40F;
    const float exponent = static_cast<float>(shared_.masses[warp_][k][part_].exponent);
    int thread, kept;
    place_of_run(warp_head(k), run, &thread, &kept);
    const float* scores = scores_of(thread, kept);
    float running = 0;
    int place = 0;
#pragma unroll 1
    for (int i = 0; i < run_scores_ && place == i; i += kAhead) {
      float ahead[kAhead];
      load_scores(scores, i, ahead);
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
        running += power_of_two(ahead[a] - exponent);
        place += running < left ? 1 : 0;
      }
    }
    if (place >= run_scores_) {
      // Rounding leaves the sum short: the last token that has a weight.
      place = run_scores_ - 1;
      while (place > 0 &&
             !(power_of_two(scores[place * Shape::kRuns * kStreamThreads] - exponent) > 0)) {
        --place;
      }
    }
    return static_cast<std::uint32_t>(min(token_of(place, thread, kept), pair.length - 1));
  }

  // A lane a run, for blocks on which many draws fall.
  __device__ int find_by_run(const PairCursor& pair, int k, int part, int window, int draws,
                             int listed) {
    const Draws all = draws_of(warp_head(k));
    const int low = hand().first_draw + window;
    const int high = low + draws;
#pragma unroll 1
    for (int run = part * 32 + lane_; run < kRunsOfHead; run += 32 * kHeadWarps) {
      const std::uint64_t begin = run > 0 ? shared_.ends[list_of(warp_head(k))][run - 1] : 0;
      const std::uint64_t end = shared_.ends[list_of(warp_head(k))][run];
      const int from = max(low, below_inside(all, begin));
      const int to = min(high, below_inside(all, end));
      int entries = 0;
      std::uint32_t* found = shared_.found[list_of(warp_head(k))] + (from - low);
      if (to > from) entries = walk(pair, all, k, run, begin, from, to, found);
      // Entries of all lanes without gaps.
      int through = entries;
#pragma unroll
      for (int offset = 1; offset < 32; offset *= 2) {
        const int other = __shfl_up_sync(0xffffffffU, through, offset);
        if (lane_ >= offset) through += other;
      }
      for (int e = 0; e < entries; ++e) {
        shared_.draws[warp_][listed + through - entries + e] = found[e];
      }
      listed += __shfl_sync(0xffffffffU, through, 31);
    }
    return listed;
  }

  // Draws below a place in this block, in units at the block's exponent.
  __device__ int below_inside(const Draws& all, std::uint64_t units) const {
    return all.below(hand().before + shifted(units, hand().own_shift));
  }

  // Goes through the tokens of a run that holds the draws from `from` to `to` - 1, or some of them;
  // returns how many tokens it found.
  __device__ int walk(const PairCursor& pair, const Draws& all, int k, int run, std::uint64_t begin,
                      int from, int to, std::uint32_t* found) const {
    constexpr int kAhead = 4;
    int thread, kept;
    place_of_run(warp_head(k), run, &thread, &kept);
    const float exponent = static_cast<float>(shared_.masses[warp_][k][part_].exponent);
    const float* scores = scores_of(thread, kept);
    // A weight of 1 at the block's exponent is 2^40 units there; places are relative to the run's
    // begin.
    const double start =
        static_cast<double>(hand().before + shifted(begin, hand().own_shift)) * all.inverse_stride;
    const float per_weight =
        ldexpf(static_cast<float>(all.inverse_stride), kMassBits - hand().own_shift);
    const float phase = static_cast<float>(start - from - all.shared);
    int done = from, entries = 0, last_token = 0;
    float running = 0;
#pragma unroll 1
    for (int i = 0; i < run_scores_ && done < to; i += kAhead) {
      float ahead[kAhead];
      load_scores(scores, i, ahead);
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
        const float weight = power_of_two(ahead[a] - exponent);
        running += weight;
        int through;
        if (p_.arguments.scheme == ValueScheme::kSystematic) {
          through = from + static_cast<int>(ceilf(fmaf(running, per_weight, phase)));
        } else {
          through = all.below_strata(start + static_cast<double>(running * per_weight));
        }
        through = min(through, to);
        if (weight > 0) {
          last_token = token_of(i + a, thread, kept);
          if (through > done) {
            found[entries++] = entry_of(pair, last_token, through - done);
            done = through;
          }
        }
      }
    }
    // Rounding may leave the last draws behind the sum of the weights: they fall on the last token.
    if (done < to) found[entries++] = entry_of(pair, last_token, to - done);
    return entries;
  }

  __device__ static std::uint32_t entry_of(const PairCursor& pair, int token, int count) {
    return static_cast<std::uint32_t>(min(token, pair.length - 1)) << kCountBits |
           static_cast<std::uint32_t>(count);
  }
};

}  // namespace santa::gpu
