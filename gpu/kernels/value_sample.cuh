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

#include "block_state.cuh"
#include "draws.cuh"
#include "value_rows.cuh"

namespace santa::gpu {

__device__ inline std::uint64_t shifted(std::uint64_t units, int distance) {
  return distance < 64 ? units >> distance : 0;
}

// A number that the compiler does not know, so that it makes no copy of the code for the rehearsal.
__device__ inline int hidden(int value) {
  int out;
  asm volatile("mov.b32 %0, %1;" : "=r"(out) : "r"(value));
  return out;
}

template <typename Shape>
class ValueSample {
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

 public:
  __device__ ValueSample(const Parameters& p, Shared& shared, const float* scores)
      : p_(p),
        shared_(shared),
        scores_(scores),
        team_(blockIdx.x % p.teams),
        own_split_(blockIdx.x / p.teams * (kInTurns ? p.parts : 1)),
        thread_(threadIdx.x - kStreamThreads),
        warp_(thread_ / 32),
        lane_(thread_ % 32) {}

  __device__ void run() {
    const std::uint32_t first_epoch = p_.epochs[blockIdx.x] + 1;
    PairCursor pair = before_first_pair(team_, p_);
    bool more = pair.advance(p_);
    PairCursor pending = pair;  // whose sums are on their way between the blocks
    int pending_sequence = -1;
    write_empty_requests();
    rehearse();
    int sequence = hidden(-1);
    for (;;) {
      if (rehearsing_ && sequence >= 0) perform();
      if (more) {
        const int place = max(sequence, 0) % kExchanges;
        const std::uint32_t epoch = first_epoch + max(sequence, 0);
        begin_pair(pair, sequence);
#pragma unroll 1
        for (int k = 0; k < kWarpHeads; ++k) {
          if (!acts(0)) continue;
#pragma unroll 1
          for (int part = 0; part < parts(); ++part) publish_mass(pair, k, part, place, epoch);
        }
#pragma unroll 1
        for (int k = 0; k < kWarpHeads; ++k) {
          const int head = warp_head(k);
          if (head >= p_.group) break;
          if (acts(1)) collect_masses(pair, head, place, epoch);
#pragma unroll 1
          for (int part = 0; part < parts(); ++part) {
            take_part(pair, part);
            if (acts(1)) take_mass(pair, k);
            clear_sums();
            for (int window = 0; window < own_draws_; window += kListDraws) {
              if (acts(2)) find_draws(pair, k, window);
              sync_head(head);
              if (acts(3)) gather(pair);
              sync_head(head);
            }
            if (acts(4)) send(head, place, epoch);
          }
        }
        if (!rehearsing_)
          barrier_arrive(kEmptyBarrier + sequence % kHandovers, kStreamThreads + kTurnThreads);
      }
      // One pair late, so that the other blocks' sums are there.
      const int done = rehearsing_ ? 0 : pending_sequence;
      if (done >= 0 && (!rehearsing_ || (more && acts(5)))) {
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
  __device__ int parts() const {
    return kInTurns ? parts_ : 1;
  }

  // Turns to one of the block's shares of a pair.
  __device__ void take_part(const PairCursor& pair, int part) {
    part_ = kInTurns ? part : 0;
    split_ = rehearsing_ ? 0 : own_split_ + part_;
    run_scores_ = Shape::kTiles *
                  steps_of(p_, own_split_ + part_, pair.length, kStreamWarps * Shape::kStepTokens);
  }

  // What the streaming warps handed over of the share.
  __device__ const float* handed() const {
    return scores_ + buffer_ * p_.handover_floats + (kInTurns ? part_ * p_.part_floats : 0);
  }

  // In the rehearsal a warp runs one phase only, without waiting for another.
  __device__ bool acts(int phase) const {
    return !rehearsing_ || warp_ == phase;
  }

  // With several pairs a team, the two warps of a head take turns with pairs instead of sharing
  // one: each pair takes longer, both together less. Sums are made in the same order either way.
  static_assert(!kInTurns || kHeadWarps == 2);
  static constexpr int kTurns = kInTurns ? 2 : 1;
  static constexpr int kTurnThreads = kSampleThreads / kTurns;
  __device__ int first_part() const {
    return kInTurns ? 0 : warp_ % kHeadWarps;
  }
  __device__ int last_part() const {
    return kInTurns ? kHeadWarps - 1 : warp_ % kHeadWarps;
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

  // A team of this block alone, with equal weights and two draws; runs and scores are whatever is
  // there.
  __device__ void rehearse() {
    rehearsing_ = hidden(1) != 0;
    buffer_ = 0;
    parts_ = 1;
    splits_ = 1;
    samples_ = 2;
    inverse_samples_ = 0.5;
    per_share_ = p_.group * kDimension;
    char* own = p_.rehearsals + blockIdx.x * p_.rehearsal_bytes;
    masses_ = reinterpret_cast<ulonglong2*>(own);
    partials_ = reinterpret_cast<std::uint64_t*>(own + kSlots * sizeof(ulonglong2));
    total_ = 1 << 7;
    stride_ = 64;
    inverse_stride_ = 1.0 / 64;
    own_draws_ = 2;
    own_units_ = 1 << 7;
    for (int i = thread_; i < Shape::kLists * kRunsOfHead; i += kSampleThreads) {
      shared_.ends[i / kRunsOfHead][i % kRunsOfHead] = i % kRunsOfHead;
    }
    turn_ = kInTurns ? warp_ % kHeadWarps : 0;
    if (lane_ == 0) {
      shared_.draws[warp_][0] = 1;
      shared_.draw_counts[warp_] = 1;
    }
    if (lane_ < kWarpHeads) shared_.masses[warp_][lane_][0] = {1 << 7, 0};
    barrier_sync(kSampleBarrier, kSampleThreads);
  }

  __device__ void perform() {
    rehearsing_ = false;
    splits_ = p_.splits;
    parts_ = p_.parts;
    samples_ = p_.arguments.samples;
    inverse_samples_ = 1.0 / samples_;
    per_share_ = p_.outputs_per_share;
    masses_ = p_.masses + static_cast<std::size_t>(team_) * kExchanges * kSlots * splits_;
    partials_ =
        p_.partials + static_cast<std::size_t>(team_) * kExchanges * splits_ * splits_ * per_share_;
  }

  __device__ int list_of(int head) const {
    return kInTurns ? warp_ : head;
  }
  __device__ int warp_head(int k) const {
    return warp_ / kHeadWarps * kWarpHeads + k;
  }

  // Place of the first of a pair's heads in arrays [request][query head].
  __device__ std::int64_t first_head(const PairCursor& pair) const {
    return static_cast<std::int64_t>(pair.request) * p_.arguments.query_heads +
           static_cast<std::int64_t>(pair.kv_head) * p_.group;
  }

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

  __device__ DrawStream stream_of(const PairCursor& pair, int head) const {
    return {seed_, offset_,
            p_.arguments.seed_stride != 0 ? 0U : static_cast<std::uint32_t>(pair.request),
            static_cast<std::uint32_t>(pair.kv_head * p_.group + head)};
  }

  // Random numbers while the scores are computed, then waits for them.
  __device__ void begin_pair(const PairCursor& pair, int sequence) {
    seed_ = __ldg(reinterpret_cast<const unsigned long long*>(p_.arguments.seed) +
                  (p_.arguments.seed_stride != 0 ? pair.request : 0));
    offset_ = __ldg(reinterpret_cast<const unsigned long long*>(p_.arguments.offset));
    // A lane a head.
    shared_offset_ = stream_of(pair, warp_head(lane_ % kWarpHeads)).uniform(0);
    if (rehearsing_) return;
    if (p_.arguments.scheme == ValueScheme::kIndependent) {
      for (int head = 0; head < p_.group; ++head) {
        sort_draws(stream_of(pair, head), shared_.finished[turn_], sorted_of(head));
      }
    }
    buffer_ = sequence % p_.buffers;
    barrier_sync(kFullBarrier + sequence % kHandovers, kStreamThreads + kTurnThreads);
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

  __device__ void publish_mass(const PairCursor& pair, int k, int part, int place,
                               std::uint32_t epoch) {
    const int head = warp_head(k);
    if (head >= p_.group) return;
    take_part(pair, part);
    const Mass own = add_runs(k);
    if (lane_ != 31) return;
    shared_.masses[warp_][k][part_] = own;
    if (first_part() == 0)
      publish(masses_ + (place * kSlots + head) * splits_ + split_, own, epoch);
  }

  // Adds up the runs of a head, of which a lane takes four; lane 31 returns the sum.
  __device__ Mass add_runs(int k) {
    constexpr int kEach = kRunsOfHead / 32;
    const int head = warp_head(k);
    const Run* all = reinterpret_cast<const Run*>(handed());
    Run runs[kEach];
    float largest = kNoScore;
#pragma unroll
    for (int r = 0; r < kEach; ++r) {
      int thread, kept;
      place_of_run(head, lane_ * kEach + r, &thread, &kept);
      runs[r] = all[kept * kStreamThreads + thread];
      largest = fmaxf(largest, runs[r].exponent);
    }
    // Exponents are integers; what lies beyond 2^29 is told as no number or no weight.
    const int exponent =
        __reduce_max_sync(0xffffffffU, static_cast<int>(fmaxf(-0x1p29F, fminf(largest, 0x1p29F))));
    std::uint64_t ends[kEach];
    std::uint64_t sum = 0;
    bool number = exponent < (1 << 29);
#pragma unroll
    for (int r = 0; r < kEach; ++r) {
      const float total =
          runs[r].total * power_of_two(runs[r].exponent - static_cast<float>(exponent));
      number = number && total == total;
      sum += __float2ull_rn(total * static_cast<float>(std::uint64_t{1} << kMassBits));
      ends[r] = sum;
    }
    const std::uint64_t before = sum_through(sum) - sum;
#pragma unroll
    for (int r = 0; r < kEach; ++r) {
      shared_.ends[list_of(head)][lane_ * kEach + r] = before + ends[r];
    }
    number = __all_sync(0xffffffffU, static_cast<int>(number)) != 0;
    __syncwarp();
    return {number ? before + sum : kNotANumber, exponent > -(1 << 29) ? exponent : kNoExponent};
  }

  // Sum of the lanes up to this one.
  __device__ std::uint64_t sum_through(std::uint64_t value) const {
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
      const std::uint64_t other = __shfl_up_sync(0xffffffffU, value, offset);
      if (lane_ >= offset) value += other;
    }
    return value;
  }

  // Waits for the masses of the team: what lies before each share, and the total.
  __device__ void collect_masses(const PairCursor& pair, int head, int place, std::uint32_t epoch) {
    const ulonglong2* words = masses_ + (place * kSlots + head) * splits_;
    // A lane takes adjacent blocks, so that sums over lanes follow the order of the blocks.
    const int each = (splits_ + 31) / 32;
    const int first = lane_ * each, last = min(splits_, first + each);
    Mass sum{0, kNoExponent};
    std::uint64_t before_own = 0;
#pragma unroll 1
    for (int s = first; s < last; ++s) {
      const Mass mass = receive(words + s, epoch, !rehearsing_);
      const int exponent = max(sum.exponent, mass.exponent);
      if (mass.units == kNotANumber || sum.units == kNotANumber) {
        sum.units = kNotANumber;
      } else {
        sum.units = shifted(sum.units, exponent - sum.exponent) +
                    shifted(mass.units, exponent - mass.exponent);
      }
      sum.exponent = exponent;
    }
    exponent_ = __reduce_max_sync(0xffffffffU, sum.exponent);
    const bool number = __all_sync(0xffffffffU, sum.units != kNotANumber) != 0;
    std::uint64_t units = shifted(sum.units, exponent_ - sum.exponent);
    if (each > 1) {
      // Exactly the sum of what each block will take.
      units = 0;
#pragma unroll 1
      for (int s = first; s < last; ++s) {
        const Mass mass = receive(words + s, epoch, !rehearsing_);
        if (s == own_split_) before_own = units;
        units += shifted(mass.units, exponent_ - mass.exponent);
      }
    }
    const std::uint64_t through = sum_through(units);
    total_ = number ? __shfl_sync(0xffffffffU, through, 31) : kNotANumber;
    before_shares_ = through - units + before_own;
    offset_of_head_ = __shfl_sync(0xffffffffU, shared_offset_, head % kWarpHeads);
    stride_ = static_cast<double>(total_) * inverse_samples_;
    inverse_stride_ = reciprocal(stride_);
    if (own_split_ == 0 && lane_ == 0 && first_part() == 0 && !rehearsing_) {
      note_log_sum_exp(pair, head, number);
    }
  }

  // What lies before the share in hand, its weight and its draws.
  __device__ void take_mass(const PairCursor& pair, int k) {
    if (parts() > 1) add_runs(k);  // those of the last share took their place
    const Mass own = shared_.masses[warp_][k][part_];
    before_ = __shfl_sync(0xffffffffU, before_shares_, split_ / ((splits_ + 31) / 32));
    own_shift_ = exponent_ - own.exponent;
    own_units_ = shifted(own.units, own_shift_);
    own_draws_ = 0;
    if (total_ == kNotANumber || total_ == 0) return;
    // Lanes 0 and 1: the draws below this share's keys, and below their end.
    const std::uint64_t end = lane_ == 0 ? before_ : before_ + own_units_;
    const int below = draws_of(pair, warp_head(k)).below(end);
    first_draw_ = __shfl_sync(0xffffffffU, below, 0);
    own_draws_ = __shfl_sync(0xffffffffU, below, 1) - first_draw_;
  }

  __device__ void note_log_sum_exp(const PairCursor& pair, int head, bool number) const {
    if (p_.arguments.log_sum_exp == nullptr) return;
    float value = __int_as_float(0x7fc00000);
    if (number) {
      value = 0.69314718055994531F *
              (log2f(static_cast<float>(total_)) + static_cast<float>(exponent_ - kMassBits));
    }
    p_.arguments.log_sum_exp[first_head(pair) + head] = value;
  }

  __device__ float* sorted_of(int head) const {
    return p_.sorted + ((static_cast<std::size_t>(blockIdx.x) * 2 + turn_) * kSlots + head) *
                           p_.arguments.samples;
  }

  __device__ Draws draws_of(const PairCursor& pair, int head) const {
    return {p_.arguments.scheme, samples_,        total_,          stride_,
            inverse_stride_,     offset_of_head_, sorted_of(head), stream_of(pair, head)};
  }

  // Lists the tokens on which the draws of this window fall, and how many on each; in
  // parts, of which each warp that shares a head makes one.
  __device__ void find_draws(const PairCursor& pair, int k, int window) {
    const int draws = min(kListDraws, own_draws_ - window);
    int listed = 0;
#pragma unroll 1
    for (int part = first_part(); part <= last_part(); ++part) {
      listed = draws <= kDrawsByPosition ? find_by_position(pair, k, part, window, draws, listed)
                                         : find_by_run(pair, k, part, window, draws, listed);
    }
    if (lane_ == 0) shared_.draw_counts[warp_] = listed;
    __syncwarp();
  }

  // A lane a draw. Equal tokens of adjacent draws become one entry.
  __device__ int find_by_position(const PairCursor& pair, int k, int part, int window, int draws,
                                  int listed) {
    const Draws all = draws_of(pair, warp_head(k));
#pragma unroll 1
    for (int slot = 32 * part; slot < draws; slot += 32 * kHeadWarps) {
      const std::uint32_t token =
          token_at(pair, k, all.position(first_draw_ + window + min(slot + lane_, draws - 1)));
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
    const std::uint64_t inside = position <= before_ ? 0 : min(position - before_, own_units_ - 1);
    const std::uint64_t target = (inside + 1) << own_shift_;
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
      float weights[kAhead];
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
        weights[a] = -__int_as_float(0x7f800000);
        if (i + a < run_scores_) weights[a] = scores[(i + a) * Shape::kRuns * kStreamThreads];
      }
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
        running += power_of_two(weights[a] - exponent);
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

  // A lane a run, for blocks on which many draws fall.
  __device__ int find_by_run(const PairCursor& pair, int k, int part, int window, int draws,
                             int listed) {
    const Draws all = draws_of(pair, warp_head(k));
    const int low = first_draw_ + window;
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
    return all.below(before_ + shifted(units, own_shift_));
  }

  // Goes through the tokens of a run that holds the draws from `from` to `to` - 1, or some of them;
  // returns how many tokens it found.
  __device__ int walk(const PairCursor& pair, const Draws& all, int k, int run, std::uint64_t begin,
                      int from, int to, std::uint32_t* found) const {
    constexpr int kAhead = 8;
    int thread, kept;
    place_of_run(warp_head(k), run, &thread, &kept);
    const float exponent = static_cast<float>(shared_.masses[warp_][k][part_].exponent);
    const float* scores = scores_of(thread, kept);
    // A weight of 1 at the block's exponent is 2^40 units there; places are relative to the run's
    // begin.
    const double start =
        static_cast<double>(before_ + shifted(begin, own_shift_)) * all.inverse_stride;
    const float per_weight = ldexpf(static_cast<float>(all.inverse_stride), kMassBits - own_shift_);
    const float phase = static_cast<float>(start - from - all.shared);
    int done = from, entries = 0, last_token = 0;
    float running = 0;
#pragma unroll 1
    for (int i = 0; i < run_scores_ && done < to; i += kAhead) {
      float weights[kAhead];
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
        weights[a] = -__int_as_float(0x7f800000);
        if (i + a < run_scores_) weights[a] = scores[(i + a) * Shape::kRuns * kStreamThreads];
      }
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
        const float weight = power_of_two(weights[a] - exponent);
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

  // A group of lanes reads a row; several rows of each are on their way at once. Row i is added to
  // sum i % kStreams of the streams of a head.
  __device__ void gather(const PairCursor& pair) {
    const int first_warp = kInTurns ? warp_ : warp_ - first_part();
    const int last_warp = kInTurns ? warp_ : first_warp + kHeadWarps - 1;
    const int first_listed = shared_.draw_counts[first_warp];
    const int listed =
        first_listed + (last_warp != first_warp ? shared_.draw_counts[last_warp] : 0);
    const Lists lists{shared_.draws[first_warp], shared_.draws[last_warp] - first_listed,
                      first_listed, listed};
    const PairRows rows = rows_of(p_, p_.arguments.values, element_bytes(kType), pair);
    if (kHeadWarps == 1 || kInTurns) {
      gather_every<kWarpGroups>(rows, lists, lane_ / Shape::kRowGroup);
    } else {
      gather_every<kWarpGroups * kHeadWarps>(
          rows, lists, warp_ % kHeadWarps * kWarpGroups + lane_ / Shape::kRowGroup);
    }
  }

  struct Lists {
    const std::uint32_t* first;
    const std::uint32_t* second;  // at the index in both together
    int first_count, count;
  };

  template <int kGroups>
  __device__ void gather_every(const PairRows& rows, const Lists& lists, int group) {
    constexpr int kRows = 8;
    constexpr int kOwn = kStreams / kGroups;  // streams of a lane
    const int part = lane_ % Shape::kRowGroup;
    float sums[kOwn][Shape::kRowElements] = {};
#pragma unroll 1
    for (int slot = group; slot < lists.count; slot += kRows * kGroups) {
      uint4 words[kRows];
      float counts[kRows];
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const int index = slot + r * kGroups;
        counts[r] = 0;
        words[r] = make_uint4(0, 0, 0, 0);
        if (index < lists.count && part < Shape::kRowLanes) {
          const std::uint32_t drawn =
              index < lists.first_count ? lists.first[index] : lists.second[index];
          counts[r] = static_cast<float>(drawn & ((1U << kCountBits) - 1));
          words[r] = __ldg(reinterpret_cast<const uint4*>(
              rows.row(static_cast<int>(drawn >> kCountBits)) + 16 * part));
        }
      }
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        add_row<kType>(sums[r % kOwn], words[r], counts[r]);
      }
    }
    // (0 + 1) + (2 + 3) of four streams, in whichever lanes they are.
    float* to = shared_.sums[warp_] + part * Shape::kRowElements;
#pragma unroll
    for (int e = 0; e < Shape::kRowElements; ++e) {
      float first = sums[0][e];
      float second = sums[kOwn - 1][e];
#pragma unroll
      for (int offset = Shape::kRowGroup; offset < 32; offset *= 2) {
        first += __shfl_xor_sync(0xffffffffU, first, offset);
        if (kOwn == 2) second += __shfl_xor_sync(0xffffffffU, second, offset);
      }
      if (lane_ < Shape::kRowLanes) to[e] += kOwn == 2 ? first + second : first;
    }
  }

  __device__ void clear_sums() {
    for (int f = lane_; f < kDimension; f += 32) shared_.sums[warp_][f] = 0;
    __syncwarp();
  }

  // This block's sums of a head, to the blocks that add them up.
  __device__ void send(int head, int place, std::uint32_t epoch) {
    const bool both = kInTurns;
    sync_head(head);
    std::uint64_t* words =
        partials_ + static_cast<std::size_t>(place) * splits_ * splits_ * per_share_;
    const float inverse = __fdividef(1.0F, static_cast<float>(per_share_));
    const int parts = both ? 1 : kHeadWarps;
    const int part = both ? 0 : warp_ % kHeadWarps;
#pragma unroll 1
    for (int f = part * 32 + lane_; f < kDimension; f += 32 * parts) {
      float sum = shared_.sums[warp_ - part][f];
      if (parts == 2) sum += shared_.sums[warp_ - part + 1][f];
      if (total_ == kNotANumber) sum = __int_as_float(0x7fc00000);
      const int o = head * kDimension + f;
      const int owner = static_cast<int>((static_cast<float>(o) + 0.5F) * inverse);
      publish(words + (owner * splits_ + split_) * per_share_ + (o - owner * per_share_), sum,
              epoch);
    }
    sync_head(head);
  }

  // Adds up the sums of all shares for this block's part of the output.
  __device__ void finish(const PairCursor& pair, int place, std::uint32_t epoch) {
#pragma unroll 1
    for (int part = 0; part < parts(); ++part) {
      finish_share(pair, rehearsing_ ? 0 : own_split_ + part, place, epoch);
    }
  }

  __device__ void finish_share(const PairCursor& pair, int owner, int place, std::uint32_t epoch) {
    const int begin = owner * per_share_;
    const int count = min(per_share_, p_.group * kDimension - begin);
    const std::uint64_t* words =
        partials_ + static_cast<std::size_t>(place * splits_ + owner) * splits_ * per_share_;
    const int all = count > 0 ? splits_ * per_share_ : 0;
    const bool whole = count == per_share_;
    const int threads = kTurnThreads;
    const int thread = kInTurns ? warp_ / kHeadWarps * 32 + lane_ : thread_;
    float* finished = shared_.finished[turn_];
#pragma unroll 4
    for (int i = thread; i < all; i += threads) {
      if (whole || i % per_share_ < count) finished[i] = receive(words + i, epoch, !rehearsing_);
    }
    sync_turn();
    const DecodeArguments& a = p_.arguments;
    const float scale =
        a.values.head_scales != nullptr ? __ldg(a.values.head_scales + pair.kv_head) : 1.0F;
    for (int o = thread; o < count; o += threads) {
      float sum = 0;
#pragma unroll 4
      for (int s = 0; s < splits_; ++s) sum += finished[s * per_share_ + o];
      if (!rehearsing_) {
        store_output(a.output, a.query_type, first_head(pair) * kDimension + begin + o,
                     sum * scale / static_cast<float>(a.samples));
      }
    }
    sync_turn();
  }

  // Independent draws in order: sums of exponential gaps over their total are order statistics of
  // uniform draws (Devroye, "Non-Uniform Random Variate Generation", section V.2).
  __device__ void sort_draws(const DrawStream& stream, float* scan, float* sorted) const {
    const int threads = kTurnThreads;
    const int thread = kInTurns ? warp_ / kHeadWarps * 32 + lane_ : thread_;
    // Cut for kSampleThreads threads in either case, so that the sums are the same.
    const int each = (samples_ + kSampleThreads) / kSampleThreads;
#pragma unroll 1
    for (int t = thread; t < kSampleThreads; t += threads) {
      float own = 0;
      for (int i = t * each; i < min(samples_ + 1, (t + 1) * each); ++i) own += gap(stream, i);
      scan[t] = own;
    }
    sync_turn();
#pragma unroll 1
    for (int t = thread; t < kSampleThreads; t += threads) {
      double before = 0, all = 0;
      for (int other = 0; other < kSampleThreads; ++other) {
        if (other == t) before = all;
        all += scan[other];
      }
      float running = 0;
      for (int i = t * each; i < min(samples_, (t + 1) * each); ++i) {
        running += gap(stream, i);
        sorted[i] = static_cast<float>((before + running) / all * samples_);
      }
    }
    sync_turn();
  }

  // One of the exponential gaps between sorted draws.
  __device__ static float gap(const DrawStream& stream, int i) {
    return -logf(static_cast<float>(1 - stream.uniform(i + 1)));
  }

  const Parameters& p_;
  Shared& shared_;
  const float* scores_;
  int team_, own_split_, thread_, warp_, lane_;
  int buffer_ = 0;
  int run_scores_ = 0;  // scores of a run
  std::uint64_t seed_ = 0, offset_ = 0;
  double shared_offset_ = 0;  // of kSystematic, of the head that is this lane's number
  // The team, which for the rehearsal is this block alone.
  bool rehearsing_ = false;
  int turn_ = 0;
  int splits_ = 1, parts_ = 1, samples_ = 1, per_share_ = 1;
  int part_ = 0, split_ = 0;  // the share in hand, of this block's and of all
  double inverse_samples_ = 1;
  ulonglong2* masses_ = nullptr;
  std::uint64_t* partials_ = nullptr;
  // The head in hand: units before this share's, of this share and of all, at the common exponent;
  // what lies before a lane's shares.
  std::uint64_t before_ = 0, own_units_ = 0, total_ = 0, before_shares_ = 0;
  int exponent_ = 0, own_shift_ = 0;
  double offset_of_head_ = 0, stride_ = 0, inverse_stride_ = 0;
  int first_draw_ = 0, own_draws_ = 0;
};

}  // namespace santa::gpu
