// The streaming warps when keys lie feature by feature: read the features that the encoded queries
// need, of all of a team's keys, and hand the scores over.
#pragma once

#include "query_encoder.cuh"
#include "stream_warps.cuh"

namespace santa::gpu {

template <typename Shape>
class FeatureStream : StreamWarps<Shape> {
  using Base = StreamWarps<Shape>;
  using Tile = typename Shape::Tile;
  using Base::first_token, Base::keep;
  using Base::p_, Base::shared_, Base::team_, Base::split_, Base::thread_, Base::lane_;
  using typename Base::Shared;
  static constexpr int kChunks = Tile::kChunksInFlight;

 public:
  __device__ FeatureStream(const Parameters& p, Shared& shared, float* scores)
      : Base(p, shared, scores) {}

  __device__ void run(bool rehearses) {
    if (rehearses) return;
    QueryEncoder<Shape> encoder(p_, shared_, thread_);
    PairCursor next = before_first_pair(team_, p_);
    if (!next.advance(p_)) return;
    encoder.stage(next);
    encoder.encode(next, 0);
    locate(next, 0, 0, 0);
#pragma unroll
    for (int b = 0; b < kChunks; ++b) load(b);
    PairCursor staged = next;
    bool stages = staged.advance(p_);
    if (stages) encoder.stage(staged);
    for (int sequence = 0;; ++sequence) {
      const PairCursor pair = next;
      const int half = sequence & 1;
      float* handover = this->take_handover(sequence);
      this->begin_part();
      next = staged;
      const bool more = stages;
      const float factor = this->pair_factor(pair);
      const int groups = shared_.queries.groups[half];
      const int steps = steps_of(p_, split_, pair.length, kStreamWarps * Shape::kStepTokens);
#pragma unroll 1
      for (int s = 0; s < steps; ++s) {
        // Early, since keys of the next pair are asked for in the last step; not before keys of
        // this one are on their way.
        if (more && s == min(1, steps - 1)) {
          encoder.encode(next, half ^ 1);
          stages = staged.advance(p_);
          if (stages) encoder.stage(staged);
        }
        float sums[Shape::kTiles][Shape::kColumnTiles][4] = {};
#pragma unroll 1
        for (int g = 0; g < groups; ++g) {
          const bool last_group = g + 1 == groups;
          const bool last = last_group && s + 1 == steps;
          if (!last) {
            locate(pair, last_group ? s + 1 : s, last_group ? 0 : g + 1, half);
          } else if (more) {
            locate(next, 0, 0, half ^ 1);
          }
#pragma unroll
          for (int b = 0; b < kChunks; ++b) {
            multiply(b, g, half, sums);
            if (!last || more) load(b);
          }
        }
#pragma unroll
        for (int tile = 0; tile < Shape::kTiles; ++tile) {
          keep(
              pair.length, s, split_, tile, sums[tile],
              [&](int r) {
                return factor * shared_.queries.factors[half][Shape::head_of_run(lane_, r)];
              },
              handover + Shape::kRunFloats);
        }
      }
      this->end_part(handover);
      this->hand_over(sequence);
      if (!more) break;
    }
  }

 private:
  // Where the keys of the next group of chunks lie.
  __device__ void locate(const PairCursor& pair, int step, int group, int half) {
    const PairRows rows = rows_of(p_, p_.arguments.keys, element_bytes(Shape::kType), pair);
    const int token = first_token(step, split_) + Tile::kLoadTokens * (lane_ / 4);
    exists_ = token < pair.length;
    place_ = rows.row(exists_ ? token : 0);
    features_ =
        shared_.queries.features[half] + Tile::kChunkFeatures * kChunks * group + 4 * (lane_ & 3);
  }

  // Asks for the keys of one chunk. What is not read meets queries of 0, so it must be a number.
  __device__ void load(int b) {
    const uint2 four = *reinterpret_cast<const uint2*>(features_ + Tile::kChunkFeatures * b);
    const std::uint32_t features[4] = {four.x & 0xffffU, four.x >> 16, four.y & 0xffffU,
                                       four.y >> 16};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (exists_ && features[j] != QueryEncoder<Shape>::kNoFeature) {
        load_stream(keys_[b][j], place_ + features[j] * p_.feature_bytes);
      } else {
#pragma unroll
        for (std::uint32_t& word : keys_[b][j]) word = 0;
      }
    }
  }

  // Column c of the products is head c, of four heads c mod 4.
  __device__ void multiply(int b, int group, int half,
                           float (&sums)[Shape::kTiles][Shape::kColumnTiles][4]) const {
    const int column = lane_ / 4;
#pragma unroll
    for (int n = 0; n < Shape::kColumnTiles; ++n) {
      const int head = Shape::kSlots == 4 ? column & 3 : column + 8 * n;
      const uint2 queries = *reinterpret_cast<const uint2*>(
          &shared_.queries
               .chosen[half][head][Tile::kChunkFeatures * (kChunks * group + b) + 4 * (lane_ & 3)]);
#pragma unroll
      for (int tile = 0; tile < Shape::kTiles; ++tile) {
        std::uint32_t a0, a1, a2, a3;
        weave<Shape::kType>(keys_[b][0], keys_[b][1], tile, a0, a1);
        weave<Shape::kType>(keys_[b][2], keys_[b][3], tile, a2, a3);
        multiply_add<Shape::kType>(sums[tile][n], a0, a1, a2, a3, queries.x, queries.y);
      }
    }
  }

  const char* place_ = nullptr;  // of this lane's tokens in feature 0
  bool exists_ = false;
  const std::uint16_t* features_ = nullptr;  // of this lane in the group
  std::uint32_t keys_[kChunks][4][Tile::kLoadWords];
};

}  // namespace santa::gpu
