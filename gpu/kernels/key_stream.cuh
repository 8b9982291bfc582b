// The streaming warps: read a team's keys once, keep the scores of each request in shared memory and
// one running sum a lane and head. A block takes every `splits`-th step of tokens, so the first keys
// can be asked for before the length is known.
#pragma once

#include "block_state.cuh"

namespace santa::gpu {

template <ElementType kType, int kDimension, int kSlots>
class KeyStream {
  using Shape = BlockShape<kType, kDimension, kSlots>;
  using Shared = typename Shape::Shared;
  static constexpr int kTilesPerBuffer = Shape::kTilesPerBuffer;

 public:
  __device__ KeyStream(const Parameters& p, Shared& shared, float* scores)
      : p_(p), shared_(shared), scores_(scores), team_(blockIdx.x % p.teams),
        split_(blockIdx.x / p.teams), thread_(threadIdx.x), warp_(thread_ / 32),
        lane_(thread_ % 32) {}

  __device__ void run() {
    // Keys of the first pair are asked for before its length is known; if it is empty, in vain.
    PairCursor next{team_ / p_.arguments.kv_heads, team_ % p_.arguments.kv_heads,
                    p_.arguments.maximum_length};
    PairCursor first = before_first_pair(team_, p_);
    // On its way before the keys.
    asm volatile("prefetch.global.L1 [%0];" ::"l"(p_.arguments.lengths + next.request));
    stage_query(next);
    bool known = p_.arguments.block_table != nullptr;
    if (known) {
      if (!first.advance(p_)) return;
      next = first;
    }
#pragma unroll 1
    for (;;) {
      locate(next, 0);
      load(0, next.length, 0);
      load(1, next.length, 0);
      if (known) break;
      known = true;
      if (!first.advance(p_)) return;
      const bool right = first.request == next.request && first.kv_head == next.kv_head;
      next = first;
      if (right) break;
      stage_query(next);
    }
    int buffer = -1;
    for (int sequence = 0;; ++sequence) {
      const PairCursor pair = next;
      buffer = buffer + 1 < p_.buffers ? buffer + 1 : 0;
      if (sequence >= p_.buffers) barrier_sync(kEmptyBarrier + buffer, kBlockThreads);
      read_query(pair);
      const bool more = next.advance(p_);
      if (more) stage_query(next);
      const int steps = steps_of(p_, split_, pair.length, kStreamWarps * Shape::kStepTokens);
      float* scores = scores_ + static_cast<std::size_t>(buffer) * p_.steps * Shape::kStepScores *
                                    kStreamThreads;
      for (int r = 0; r < Shape::kRuns; ++r) runs_[r] = {kNoScore, 0};
      for (int s = 0; s < steps; ++s) {
        const bool last = s + 1 == steps;
        const PairCursor ahead{last ? next.request : pair.request,
                               last ? next.kv_head : pair.kv_head,
                               last ? next.length : pair.length};
        step(pair.length, s, ahead, last ? 0 : s + 1, !last || more, scores);
      }
      for (int r = 0; r < Shape::kRuns; ++r) shared_.runs[buffer][r][thread_] = runs_[r];
      barrier_arrive(kFullBarrier + buffer, kBlockThreads);
      if (!more) break;
    }
  }

 private:
  __device__ int first_token(int step) const {
    return ((step * p_.splits + split_) * kStreamWarps + warp_) * Shape::kStepTokens;
  }

  // Where the keys of a step lie, ahead of their loads, which then follow each other at once.
  __device__ void locate(const PairCursor& pair, int step) {
    const PairRows rows = rows_of(p_, p_.arguments.keys, element_bytes(kType), pair);
    const int first = first_token(step);
#pragma unroll
    for (int tile = 0; tile < Shape::kTiles; ++tile) {
      // Of a tile beyond the length nothing is looked up.
      const int token = first + 16 * tile < pair.length ? first + 16 * tile : 0;
      rows_[tile] = rows.row(token, lane_ / 4) + (lane_ & 3) * Shape::kLoadBytes;
    }
    token_bytes_ = rows.token_bytes;
  }

  // Asks for the keys of one buffer: half of a step's tokens, or one half of their features.
  __device__ void load(int b, int length, int step) {
#pragma unroll
    for (int tile = 0; tile < kTilesPerBuffer; ++tile) {
      const int index = tile + (Shape::kPieces == 1 ? b : 0) * kTilesPerBuffer;
      const int token = first_token(step) + 16 * index + lane_ / 4;
      const char* row = rows_[index] + (Shape::kPieces == 2 ? b : 0) * Shape::kPieceBytes;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        if (token + 8 * half < length) {
#pragma unroll
          for (int chunk = 0; chunk < Shape::kChunks; ++chunk) {
            load_stream(keys_[b][tile][half][chunk], row + chunk * 4 * Shape::kLoadBytes);
          }
        }
        row += 8 * static_cast<std::uint64_t>(token_bytes_);
      }
    }
  }

  // Column c of the products is head c, of four heads c mod 4; heads beyond the group have no query.
  __device__ void query_pairs(int chunk, int column_tile, std::uint32_t (&pairs)[2 * Shape::kProducts]) const {
    const int column = lane_ / 4;
    const int head = kSlots == 4 ? column & 3 : column + 8 * column_tile;
    constexpr int kWords = Shape::kElements / 2;
    if (head >= p_.group) {
      for (int w = 0; w < kWords; ++w) pairs[w] = 0;
      return;
    }
    const std::uint32_t* words = reinterpret_cast<const std::uint32_t*>(
        static_cast<const char*>(query_) +
        2 * (head * p_.arguments.query_head_stride + chunk * 4 * Shape::kElements +
             (lane_ & 3) * Shape::kElements));
#pragma unroll
    for (int w = 0; w < kWords; w += 4) {
      const uint4 four = __ldg(reinterpret_cast<const uint4*>(words + w));
      pairs[w] = four.x;
      pairs[w + 1] = four.y;
      pairs[w + 2] = four.z;
      pairs[w + 3] = four.w;
    }
    if constexpr (element_bytes(kType) == 1) {
      if (p_.arguments.query_type == ElementType::kBf16) {
        for (int w = 0; w < kWords; ++w) pairs[w] = scaled_halves(pairs[w]);
      }
    }
  }

  // Two bf16 times query_down_ as halves.
  __device__ std::uint32_t scaled_halves(std::uint32_t pair) const {
    const __half2 halves = __floats2half2_rn(__uint_as_float(pair << 16) * query_down_,
                                             __uint_as_float(pair & 0xffff0000U) * query_down_);
    return *reinterpret_cast<const std::uint32_t*>(&halves);
  }

  // Brings what this lane needs of a query closer: the products of the next pair shall not wait for it.
  __device__ void stage_query(const PairCursor& pair) {
    const char* query = query_of(pair);
    if constexpr (Shape::kStageQuery) {
      if (query_head() < p_.group) {
#pragma unroll
        for (int chunk = 0; chunk < Shape::kPieces * Shape::kChunks; ++chunk) {
          const unsigned to = static_cast<unsigned>(
              __cvta_generic_to_shared(&shared_.queries[chunk][thread_]));
          asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to),
                       "l"(query + 2 * (query_head() * p_.arguments.query_head_stride +
                                        chunk * 4 * Shape::kElements +
                                        (lane_ & 3) * Shape::kElements))
                       : "memory");
        }
      }
      asm volatile("cp.async.commit_group;" ::: "memory");
    } else {
      query += 2 * (lane_ % p_.group) * p_.arguments.query_head_stride;
      for (int line = lane_ / p_.group; line * 128 < 2 * kDimension; line += 32 / p_.group) {
        asm volatile("prefetch.global.L1 [%0];" ::"l"(query + 128 * line));
      }
    }
  }

  // The head of this lane's column of the products; of four heads c mod 4.
  __device__ int query_head() const { return kSlots == 4 ? lane_ / 4 & 3 : lane_ / 4; }

  __device__ const char* query_of(const PairCursor& pair) const {
    return static_cast<const char*>(p_.arguments.queries) +
           2 * (pair.request * p_.arguments.query_request_stride +
                static_cast<std::int64_t>(pair.kv_head) * p_.group *
                    p_.arguments.query_head_stride);
  }

  __device__ void read_query(const PairCursor& pair) {
    query_ = query_of(pair);
    score_factor_ = p_.arguments.score_scale * 1.44269504088896341F *
                    (p_.arguments.keys.head_scales != nullptr
                         ? __ldg(p_.arguments.keys.head_scales + pair.kv_head)
                         : 1.0F);
    if constexpr (element_bytes(kType) == 1) {
      if (p_.arguments.query_type == ElementType::kBf16) bring_into_range();
    }
    if constexpr (Shape::kStageQuery) {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
#pragma unroll
      for (int chunk = 0; chunk < Shape::kPieces * Shape::kChunks; ++chunk) {
        const uint4 four = query_head() < p_.group ? shared_.queries[chunk][thread_]
                                                   : make_uint4(0, 0, 0, 0);
        query_pairs_[chunk][0][0] = four.x;
        query_pairs_[chunk][0][1] = four.y;
        query_pairs_[chunk][0][2] = four.z;
        query_pairs_[chunk][0][3] = four.w;
      }
    } else if constexpr (Shape::kQueryInRegisters) {
#pragma unroll
      for (int piece = 0; piece < Shape::kPieces; ++piece) {
#pragma unroll
        for (int chunk = 0; chunk < Shape::kChunks; ++chunk) {
#pragma unroll
          for (int n = 0; n < Shape::kColumnTiles; ++n) {
            query_pairs(piece * Shape::kChunks + chunk, n,
                        query_pairs_[piece * Shape::kChunks + chunk][n]);
          }
        }
      }
    }
  }

  // A bf16 query may exceed a half: it is scaled by a power of two, and its scores back.
  __device__ void bring_into_range() {
    float largest = 0;
    for (int head = lane_ / 4; head < p_.group; head += 8) {
      for (int f = lane_ & 3; f < kDimension / 8; f += 4) {
        const uint4 eight = __ldg(reinterpret_cast<const uint4*>(
            query_ + 2 * (head * p_.arguments.query_head_stride + 8 * f)));
        for (const std::uint32_t word : {eight.x, eight.y, eight.z, eight.w}) {
          largest = fmaxf(largest, fmaxf(fabsf(__uint_as_float(word << 16)),
                                         fabsf(__uint_as_float(word & 0xffff0000U))));
        }
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

  __device__ void step(int length, int s, const PairCursor& next, int next_step,
                       bool more, float* scores) {
    if (more) locate(next, next_step);
    float sums[kTilesPerBuffer][Shape::kColumnTiles][4];
#pragma unroll
    for (int b = 0; b < 2; ++b) {
#pragma unroll
      for (int tile = 0; tile < kTilesPerBuffer; ++tile) {
        if (Shape::kPieces == 1 || b == 0) {
#pragma unroll
          for (int n = 0; n < Shape::kColumnTiles; ++n) {
#pragma unroll
            for (int r = 0; r < 4; ++r) sums[tile][n][r] = 0;
          }
        }
        multiply(b, tile, sums[tile]);
      }
      if (more) load(b, next.length, next_step);
      if (Shape::kPieces == 1 || b == 1) {
#pragma unroll
        for (int tile = 0; tile < kTilesPerBuffer; ++tile) {
          const int index = tile + (Shape::kPieces == 1 ? b : 0) * kTilesPerBuffer;
          keep(length, s, index, sums[tile], scores);
        }
      }
    }
  }

  __device__ void multiply(int b, int tile, float (&sums)[Shape::kColumnTiles][4]) {
    const int piece = Shape::kPieces == 2 ? b : 0;
#pragma unroll
    for (int chunk = 0; chunk < Shape::kChunks; ++chunk) {
#pragma unroll
      for (int n = 0; n < Shape::kColumnTiles; ++n) {
        std::uint32_t pairs[2 * Shape::kProducts];
        if constexpr (!Shape::kQueryInRegisters) query_pairs(piece * Shape::kChunks + chunk, n, pairs);
#pragma unroll
        for (int j = 0; j < Shape::kProducts; ++j) {
          std::uint32_t a0, a1, a2, a3, b0, b1;
          pairs_of<kType>(keys_[b][tile][0][chunk], j, a0, a2);
          pairs_of<kType>(keys_[b][tile][1][chunk], j, a1, a3);
          if constexpr (Shape::kQueryInRegisters) {
            b0 = query_pairs_[piece * Shape::kChunks + chunk][n][2 * j];
            b1 = query_pairs_[piece * Shape::kChunks + chunk][n][2 * j + 1];
          } else {
            b0 = pairs[2 * j];
            b1 = pairs[2 * j + 1];
          }
          multiply_add<kType>(sums[n], a0, a1, a2, a3, b0, b1);
        }
      }
    }
  }

  // Scales a tile's scores to powers of two, stores them and adds them to the lane's runs.
  __device__ void keep(int length, int s, int tile,
                       const float (&sums)[Shape::kColumnTiles][4], float* scores) {
    const int first = first_token(s) + 16 * tile;
    float kept[Shape::kRuns];
#pragma unroll
    for (int r = 0; r < Shape::kRuns; ++r) {
      float sum;
      if constexpr (kSlots == 4) {
        sum = (lane_ & 2) != 0 ? sums[0][2 + r] : sums[0][r];
      } else {
        sum = sums[r / 4][r & 3];
      }
      const float score = first + run_token<kSlots>(lane_, r) < length
                              ? sum * score_factor_
                              : -__int_as_float(0x7f800000);
      kept[r] = score;
      const float exponent = fmaxf(runs_[r].exponent, ceilf(score));
      runs_[r].total = runs_[r].total * power_of_two(runs_[r].exponent - exponent) +
                       power_of_two(score - exponent);
      runs_[r].exponent = exponent;
    }
    float* place = scores + (static_cast<std::size_t>(s) * Shape::kTiles + tile) * Shape::kRuns *
                                kStreamThreads;
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

  const Parameters& p_;
  Shared& shared_;
  float* scores_;
  int team_, split_, thread_, warp_, lane_;
  const char* query_ = nullptr;
  float query_down_ = 1;
  float score_factor_ = 1;  // to powers of two
  Run runs_[Shape::kRuns];
  const char* rows_[Shape::kTiles];
  std::uint32_t token_bytes_ = 0;
  std::uint32_t keys_[2][kTilesPerBuffer][2][Shape::kChunks][Shape::kLoadWords];
  std::uint32_t query_pairs_[Shape::kQueryInRegisters ? Shape::kPieces * Shape::kChunks : 1]
                            [Shape::kColumnTiles][2 * Shape::kProducts];
};

}  // namespace santa::gpu
