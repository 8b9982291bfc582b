// Third phase: the value rows of the drawn tokens, times their counts.
#pragma once

#include "draw_search.cuh"
#include "value_rows.cuh"

namespace santa::gpu {

template <typename Shape>
class ValueGather : protected DrawSearch<Shape> {
 protected:
  using Base = DrawSearch<Shape>;
  using Base::first_part;
  using Base::kDimension, Base::kHeadWarps, Base::kInTurns, Base::kStreams, Base::kType,
      Base::kWarpGroups;
  using Base::lane_, Base::p_, Base::shared_, Base::warp_;
  using typename Base::Shared;

  __device__ ValueGather(const Parameters& p, Shared& shared, const float* scores)
      : Base(p, shared, scores) {}

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
};

}  // namespace santa::gpu
