// The streaming warps when keys lie token by token: read a team's keys once and hand the scores
// over. A block takes every `splits`-th step of tokens, so the first keys can be asked for before
// the length is known.
#pragma once

#include "stream_warps.cuh"

namespace santa::gpu {

template <typename Shape>
class KeyStream : StreamWarps<Shape> {
  using Base = StreamWarps<Shape>;
  using Tile = typename Shape::Tile;
  using Base::first_token, Base::keep;
  using Base::p_, Base::shared_, Base::team_, Base::split_, Base::thread_, Base::warp_, Base::lane_;
  using typename Base::Shared;
  static constexpr ElementType kType = Shape::kType;
  static constexpr int kDimension = Shape::kDimension;
  static constexpr int kSlots = Shape::kSlots;
  static constexpr int kTilesPerBuffer = Tile::kTilesPerBuffer;
  // 16 bytes of the query that a load of keys meets.
  static constexpr int kQueryPieces = Tile::kElements / 8;

 public:
  __device__ KeyStream(const Parameters& p, Shared& shared, float* scores)
      : Base(p, shared, scores) {}

  // A warp that only rehearses goes through the code of a step: without keys, waiting for nobody
  // and leaving nothing behind.
  __device__ void run(bool rehearses) {
    this->keeps_ = !rehearses;
    // Keys of the first pair are asked for before its length is known; if it is empty, in vain.
    PairCursor next{team_ / p_.arguments.kv_heads, team_ % p_.arguments.kv_heads,
                    p_.arguments.maximum_length};
    PairCursor first = before_first_pair(team_, p_);
    // On its way before the keys.
    asm volatile("ld.global.nc.b32 %0, [%1];"
                 : "=r"(first.length)
                 : "l"(p_.arguments.lengths + next.request));
    if (!rehearses) {
      for (int i = thread_; i < 2 * kSlots * (kDimension / 8); i += kStreamThreads) {
        (&shared_.queries.rows[0][0][0])[i] = make_uint4(0, 0, 0, 0);
      }
      barrier_sync(kStreamBarrier, kStreamThreads);
    } else {
      next.length = first.length = 0;
    }
    bool known = p_.arguments.block_table != nullptr || rehearses;
    if (known && !rehearses) {
      if (!first.advance(p_)) return;
      next = first;
    }
    if (!rehearses) stage_query(next, 0);
#pragma unroll 1
    for (;;) {
      locate(next, 0, split_);
      load(0, next.length, 0, split_);
      load(1, next.length, 0, split_);
      if (known) break;
      known = true;
      if (first.length > 0) {
        // The guess was right.
        next.length = first.length;
        break;
      }
      if (!first.advance(p_)) return;
      next = first;
      stage_query(next, 0);
    }
    for (int sequence = 0;; ++sequence) {
      const PairCursor pair = next;
      float* handover = this->take_handover(sequence);
      asm volatile("cp.async.wait_group 0;" ::: "memory");
      if (!rehearses) barrier_sync(kStreamBarrier, kStreamThreads);
      take_query(pair, sequence & 1);
      const bool more = !rehearses && next.advance(p_);
      if (more) stage_query(next, ~sequence & 1);
      for (int part = 0; part < (rehearses ? 1 : this->parts()); ++part) {
        const int split = split_ + part;
        const bool last_part = part + 1 == this->parts();
        const int steps = steps_of(p_, split, pair.length, kStreamWarps * Shape::kStepTokens);
        float* handed = handover + part * p_.part_floats;
        this->begin_part();
        for (int s = 0; s < steps; ++s) {
          const bool last = s + 1 == steps;
          const bool ends = last && last_part;
          const PairCursor ahead{ends ? next.request : pair.request,
                                 ends ? next.kv_head : pair.kv_head,
                                 ends ? next.length : pair.length};
          const int ahead_split = !last ? split : last_part ? split_ : split + 1;
          step(pair.length, s, split, ahead, last ? 0 : s + 1, ahead_split, !ends || more,
               handed + Shape::kRunFloats);
        }
        this->end_part(handed);
      }
      if (rehearses) break;
      this->hand_over(sequence);
      if (!more) break;
    }
  }

 private:
  // Where the keys of a step lie, ahead of their loads, which then follow each other at once.
  __device__ void locate(const PairCursor& pair, int step, int split) {
    const PairRows rows = rows_of(p_, p_.arguments.keys, element_bytes(kType), pair);
    const int first = first_token(step, split);
#pragma unroll
    for (int tile = 0; tile < Shape::kTiles; ++tile) {
      // Of a tile beyond the length nothing is looked up.
      const int token = first + 16 * tile < pair.length ? first + 16 * tile : 0;
      rows_[tile] = rows.row(token, lane_ / 4) + (lane_ & 3) * Tile::kLoadBytes;
    }
    token_bytes_ = rows.token_bytes;
  }

  // Asks for the keys of one buffer: half of a step's tokens, or one half of their features.
  __device__ void load(int b, int length, int step, int split) {
#pragma unroll
    for (int tile = 0; tile < kTilesPerBuffer; ++tile) {
      const int index = tile + (Tile::kPieces == 1 ? b : 0) * kTilesPerBuffer;
      const int token = first_token(step, split) + 16 * index + lane_ / 4;
      const char* row = rows_[index] + (Tile::kPieces == 2 ? b : 0) * Tile::kPieceBytes;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        if (token + 8 * half < length) {
#pragma unroll
          for (int chunk = 0; chunk < Tile::kChunks; ++chunk) {
            load_stream(keys_[b][tile][half][chunk], row + chunk * 4 * Tile::kLoadBytes);
          }
        }
        row += 8 * static_cast<std::uint64_t>(token_bytes_);
      }
    }
  }

  // Asks for the queries of a pair, ahead of their use. Copies to one place have no order of their
  // own, so those of a wrong guess must have ended.
  __device__ void stage_query(const PairCursor& pair, int half) {
    const char* query =
        static_cast<const char*>(p_.arguments.queries) +
        2 * (pair.request * p_.arguments.query_request_stride +
             static_cast<std::int64_t>(pair.kv_head) * p_.group * p_.arguments.query_head_stride);
    asm volatile("cp.async.wait_group 0;" ::: "memory");
#pragma unroll 1
    for (int i = thread_; i < p_.group * (kDimension / 8); i += kStreamThreads) {
      const int head = i / (kDimension / 8), piece = i % (kDimension / 8);
      copy_later(&shared_.queries.rows[half][head][piece],
                 query + 2 * head * p_.arguments.query_head_stride + 16 * piece);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }

  __device__ void take_query(const PairCursor& pair, int half) {
    query_half_ = half;
    score_factor_ = this->pair_factor(pair);
    if constexpr (element_bytes(kType) == 1) {
      if (p_.arguments.query_type == ElementType::kBf16) bring_into_range();
    }
  }

  // Column c of the products is head c, of four heads c mod 4.
  __device__ void query_pairs(int chunk, int column_tile,
                              std::uint32_t (&pairs)[2 * Tile::kProducts]) const {
    const int column = lane_ / 4;
    const int head = kSlots == 4 ? column & 3 : column + 8 * column_tile;
    const uint4* pieces =
        &shared_.queries.rows[query_half_][head][(4 * chunk + (lane_ & 3)) * kQueryPieces];
#pragma unroll
    for (int p = 0; p < kQueryPieces; ++p) {
      const uint4 four = pieces[p];
      pairs[4 * p] = four.x;
      pairs[4 * p + 1] = four.y;
      pairs[4 * p + 2] = four.z;
      pairs[4 * p + 3] = four.w;
    }
    if constexpr (element_bytes(kType) == 1) {
      if (p_.arguments.query_type == ElementType::kBf16) {
#pragma unroll
        for (std::uint32_t& pair : pairs) pair = scaled_halves(pair);
      }
    }
  }

  // Two bf16 times query_down_ as halves.
  __device__ std::uint32_t scaled_halves(std::uint32_t pair) const {
    const __half2 halves = __floats2half2_rn(__uint_as_float(pair << 16) * query_down_,
                                             __uint_as_float(pair & 0xffff0000U) * query_down_);
    return *reinterpret_cast<const std::uint32_t*>(&halves);
  }

  // A bf16 query may exceed a half: it is scaled by a power of two, and its scores back.
  __device__ void bring_into_range() {
    float largest = 0;
    for (int i = lane_; i < kSlots * (kDimension / 8); i += 32) {
      const uint4 eight =
          shared_.queries.rows[query_half_][i / (kDimension / 8)][i % (kDimension / 8)];
      for (const std::uint32_t word : {eight.x, eight.y, eight.z, eight.w}) {
        largest = fmaxf(largest, fmaxf(fabsf(__uint_as_float(word << 16)),
                                       fabsf(__uint_as_float(word & 0xffff0000U))));
      }
    }
    for (int offset = 1; offset < 32; offset *= 2) {
      largest = fmaxf(largest, __shfl_xor_sync(0xffffffffU, largest, offset));
    }
    query_down_ = 1;
    if (largest > 0 && largest < 3e38F) {
      const int exponent = max(-100, min(100, ilogbf(largest)));
      query_down_ = exp2f(static_cast<float>(-exponent));
      score_factor_ *= exp2f(static_cast<float>(exponent));
    }
  }

  __device__ void step(int length, int s, int split, const PairCursor& next, int next_step,
                       int next_split, bool more, float* scores) {
    if (more) locate(next, next_step, next_split);
    float sums[kTilesPerBuffer][Shape::kColumnTiles][4];
#pragma unroll
    for (int b = 0; b < 2; ++b) {
      if (Tile::kPieces == 1 || b == 0) {
#pragma unroll
        for (int i = 0; i < kTilesPerBuffer * Shape::kColumnTiles * 4; ++i) (&sums[0][0][0])[i] = 0;
      }
      multiply(b, sums);
      if (more) load(b, next.length, next_step, next_split);
      if (Tile::kPieces == 1 || b == 1) {
#pragma unroll
        for (int tile = 0; tile < kTilesPerBuffer; ++tile) {
          const int index = tile + (Tile::kPieces == 1 ? b : 0) * kTilesPerBuffer;
          keep(
              length, s, split, index, sums[tile], [&](int) { return score_factor_; }, scores);
        }
      }
    }
  }

  __device__ void multiply(int b, float (&sums)[kTilesPerBuffer][Shape::kColumnTiles][4]) {
    const int piece = Tile::kPieces == 2 ? b : 0;
#pragma unroll
    for (int chunk = 0; chunk < Tile::kChunks; ++chunk) {
#pragma unroll
      for (int n = 0; n < Shape::kColumnTiles; ++n) {
        std::uint32_t pairs[2 * Tile::kProducts];
        query_pairs(piece * Tile::kChunks + chunk, n, pairs);
#pragma unroll
        for (int tile = 0; tile < kTilesPerBuffer; ++tile) {
#pragma unroll
          for (int j = 0; j < Tile::kProducts; ++j) {
            std::uint32_t a0, a1, a2, a3;
            pairs_of<kType>(keys_[b][tile][0][chunk], j, a0, a2);
            pairs_of<kType>(keys_[b][tile][1][chunk], j, a1, a3);
            multiply_add<kType>(sums[tile][n], a0, a1, a2, a3, pairs[2 * j], pairs[2 * j + 1]);
          }
        }
      }
    }
  }

  int query_half_ = 0;
  float query_down_ = 1;
  float score_factor_ = 1;  // to powers of two
  const char* rows_[Shape::kTiles];
  std::uint32_t token_bytes_ = 0;
  std::uint32_t keys_[2][kTilesPerBuffer][2][Tile::kChunks][Tile::kLoadWords];
};

}  // namespace santa::gpu
