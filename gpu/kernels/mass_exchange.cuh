// First phase: the weight of a share's keys, told to the other blocks of the team, and where it and
// its draws lie on the line of cumulative weight.
#pragma once

#include "sample_warps.cuh"

namespace santa::gpu {

__device__ inline std::uint64_t shifted(std::uint64_t units, int distance) {
  return distance < 64 ? units >> distance : 0;
}

template <typename Shape>
class MassExchange : protected SampleWarps<Shape> {
 protected:
  using Base = SampleWarps<Shape>;
  using Base::before_shares_, Base::lane_, Base::own_split_, Base::p_, Base::part_,
      Base::rehearsing_, Base::shared_, Base::shared_offset_, Base::turn_, Base::warp_;
  using Base::first_head, Base::first_part, Base::hand, Base::handed, Base::list_of, Base::parts,
      Base::place_of_run, Base::split, Base::stream_of, Base::sync_head, Base::sync_turn,
      Base::take_part, Base::team, Base::turn_thread, Base::warp_head;
  using Base::kSlots, Base::kTurnThreads, Base::kWarpHeads;
  using typename Base::Shared;

  __device__ MassExchange(const Parameters& p, Shared& shared, const float* scores)
      : Base(p, shared, scores) {}

  __device__ void publish_mass(const PairCursor& pair, int k, int part, int place,
                               std::uint32_t epoch) {
    const int head = warp_head(k);
    if (head >= p_.group && !rehearsing_) return;
    take_part(pair, part);
    const Mass own = add_runs(k);
    if (lane_ != 31) return;
    shared_.masses[warp_][k][part_] = own;
    if (first_part() == 0)
      publish(team().masses + (place * kSlots + head) * team().splits + split(), own, epoch);
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
    if (first_part() == 0) {
#pragma unroll
      for (int r = 0; r < kEach; ++r) {
        shared_.ends[list_of(head)][lane_ * kEach + r] = before + ends[r];
      }
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
    const int splits = team().splits;
    const ulonglong2* words = team().masses + (place * kSlots + head) * splits;
    // A lane takes adjacent blocks, so that sums over lanes follow the order of the blocks.
    const int each = (splits + 31) / 32;
    const int first = lane_ * each, last = min(splits, first + each);
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
    const int exponent = __reduce_max_sync(0xffffffffU, sum.exponent);
    const bool number = __all_sync(0xffffffffU, sum.units != kNotANumber) != 0;
    std::uint64_t units = shifted(sum.units, exponent - sum.exponent);
    if (each > 1) {
      // Exactly the sum of what each block will take.
      units = 0;
#pragma unroll 1
      for (int s = first; s < last; ++s) {
        const Mass mass = receive(words + s, epoch, !rehearsing_);
        if (s == own_split_) before_own = units;
        units += shifted(mass.units, exponent - mass.exponent);
      }
    }
    const std::uint64_t through = sum_through(units);
    const std::uint64_t total = number ? __shfl_sync(0xffffffffU, through, 31) : kNotANumber;
    before_shares_ = through - units + before_own;
    const double offset = __shfl_sync(0xffffffffU, shared_offset_, head % kWarpHeads);
    if (lane_ == 0) {
      HeadInHand& own = hand();
      own.total = total;
      own.exponent = exponent;
      own.offset = offset;
      own.stride = static_cast<double>(total) * team().inverse_samples;
      own.inverse_stride = reciprocal(own.stride);
      if (p_.arguments.scheme == ValueScheme::kStratified) {
        shared_.streams[warp_] = stream_of(pair, head);
      }
      if (own_split_ == 0 && first_part() == 0 && !rehearsing_) note_log_sum_exp(pair, head, own);
    }
    __syncwarp();
  }

  // What lies before the share in hand, its weight and its draws.
  __device__ void take_mass(const PairCursor& pair, int k) {
    if (parts() > 1) add_runs(k);  // those of the last share took their place
    const Mass mass = shared_.masses[warp_][k][part_];
    const std::uint64_t before =
        __shfl_sync(0xffffffffU, before_shares_, split() / ((team().splits + 31) / 32));
    HeadInHand& own = hand();
    const int shift = own.exponent - mass.exponent;
    const std::uint64_t units = shifted(mass.units, shift);
    // Lanes 0 and 1: the draws below this share's keys, and below their end.
    int below = 0;
    if (own.total != kNotANumber && own.total != 0) {
      below = draws_of(warp_head(k)).below(lane_ == 0 ? before : before + units);
    }
    const int end = __shfl_sync(0xffffffffU, below, 1);
    if (lane_ == 0) {
      own.before = before;
      own.own_units = units;
      own.own_shift = shift;
      own.first_draw = below;
      own.own_draws = end - below;
    }
    __syncwarp();
    sync_head(warp_head(k));  // the first warp has written where runs end
  }

  __device__ void note_log_sum_exp(const PairCursor& pair, int head, const HeadInHand& own) const {
    if (p_.arguments.log_sum_exp == nullptr) return;
    float value = __int_as_float(0x7fc00000);
    if (own.total != kNotANumber) {
      value = 0.69314718055994531F *
              (log2f(static_cast<float>(own.total)) + static_cast<float>(own.exponent - kMassBits));
    }
    p_.arguments.log_sum_exp[first_head(pair) + head] = value;
  }

  __device__ Draws draws_of(int head) const {
    const HeadInHand& own = hand();
    return {p_.arguments.scheme, team().samples, own.total,       own.stride,
            own.inverse_stride,  own.offset,     sorted_of(head), &shared_.streams[warp_]};
  }

  __device__ float* sorted_of(int head) const {
    return p_.sorted + ((static_cast<std::size_t>(blockIdx.x) * 2 + turn_) * kSlots + head) *
                           p_.arguments.samples;
  }

  // Independent draws in order: sums of exponential gaps over their total are order statistics of
  // uniform draws (Devroye, "Non-Uniform Random Variate Generation", section V.2).
  __device__ void sort_draws(const DrawStream& stream, float* scan, float* sorted) const {
    const int threads = kTurnThreads;
    const int thread = turn_thread();
    // Cut for kSampleThreads threads in either case, so that the sums are the same.
    const int samples = p_.arguments.samples;
    const int each = (samples + kSampleThreads) / kSampleThreads;
#pragma unroll 1
    for (int t = thread; t < kSampleThreads; t += threads) {
      float own = 0;
      for (int i = t * each; i < min(samples + 1, (t + 1) * each); ++i) own += gap(stream, i);
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
      for (int i = t * each; i < min(samples, (t + 1) * each); ++i) {
        running += gap(stream, i);
        sorted[i] = static_cast<float>((before + running) / all * samples);
      }
    }
    sync_turn();
  }

  // One of the exponential gaps between sorted draws.
  __device__ static float gap(const DrawStream& stream, int i) {
    return -logf(static_cast<float>(1 - stream.uniform(i + 1)));
  }
};

}  // namespace santa::gpu
