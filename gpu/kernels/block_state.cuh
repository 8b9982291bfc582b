// Shared memory of a block and the barriers between its streaming and its sampling warps.
#pragma once

#include <cstdint>
#include <type_traits>

#include "draws.cuh"
#include "exchange.cuh"
#include "feature_tile.cuh"
#include "key_tile.cuh"
#include "parameters.cuh"

namespace santa::gpu {

// Barriers of hardware: one a turn, a handover, a handover, one, one a head. Handovers are numbered
// by pairs, not by buffers: two turns may wait for the same buffer.
constexpr int kHandovers = 4;
enum BarrierId : int {
  kSampleBarrier = 1,
  kFullBarrier = 3,
  kEmptyBarrier = 7,
  kStreamBarrier = 11,
  kHeadBarrier = 12
};

// Lanes of streaming warps keep one head of every 16 tokens in 128 runs, whatever the group.
constexpr int kRunsOfHead = 16 * kStreamWarps;

__device__ inline void barrier_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ inline void barrier_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// A number that the compiler does not know, so that it makes no copy of the code for the rehearsal.
__device__ inline int hidden(int value) {
  int out;
  asm volatile("mov.b32 %0, %1;" : "=r"(out) : "r"(value));
  return out;
}

// Part of the softmax that one lane has seen of one head: total * 2^exponent, exponent an integer.
struct Run {
  float exponent;
  float total;
};

// 2^x, exact for integers.
__device__ inline float power_of_two(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

constexpr float kNoScore = -3e38F;  // exponent of a run without a key

// Who exchanges masses and sums, and where.
struct Team {
  int splits;
  int parts;  // of a block
  int samples;
  int outputs_per_share;
  double inverse_samples;
  ulonglong2* masses;
  std::uint64_t* partials;
  const float* handed;  // runs and scores
};

// The head that a sampling warp works for. It is kept in shared memory: beside what a gather needs
// there are no registers for it, and what the compiler spills is evicted by the keys.
struct HeadInHand {
  std::uint64_t total;      // units of all keys; those below are at the same exponent
  std::uint64_t before;     // units before the share in hand
  std::uint64_t own_units;  // and of it
  double stride, inverse_stride;
  double offset;  // of kSystematic
  int exponent;
  int own_shift;  // from the share's exponent to the common one
  int first_draw, own_draws;
};

// A drawn token, and how many draws fell on it.
constexpr int kCountBits = 10;  // enough for kListDraws; tokens have 22

// Loads on their way occupy the part of the memory that is not shared memory, so shared memory is
// kept small: what a block has of it decides how much of a stream is in flight.
template <ElementType kType_, int kDimension_, int kSlots_, bool kInTurns_, KeyLayout kLayout_>
struct BlockShape {
  static constexpr ElementType kType = kType_;
  static constexpr int kDimension = kDimension_;
  static constexpr int kSlots = kSlots_;  // heads of a group that there is room for
  static constexpr bool kInTurns = kInTurns_;
  static constexpr KeyLayout kLayout = kLayout_;
  using Tile = std::conditional_t<kLayout == KeyLayout::kTokenMajor, TileShape<kType, kDimension>,
                                  FeatureTileShape<kType>>;
  static constexpr int kTiles = Tile::kTiles;
  static constexpr int kStepTokens = Tile::kStepTokens;

  static constexpr int kColumnTiles = kSlots > 8 ? 2 : 1;
  // Heads that a lane keeps of a token; four heads stand twice in the eight columns, so a lane
  // takes one of its two tokens.
  static constexpr int kRuns = kSlots / 2;
  static constexpr int kStepScores = kRuns * kTiles;  // of a lane
  // What streaming warps hand over of a pair: Run [kRuns][kStreamThreads], then the scores.
  static constexpr int kRunFloats =
      kRuns * kStreamThreads * static_cast<int>(sizeof(Run) / sizeof(float));

  static constexpr int kRowLanes = kDimension * element_bytes(kType) / 16;  // that read a value row
  static constexpr int kRowGroup = kRowLanes <= 4    ? 4
                                   : kRowLanes <= 8  ? 8
                                   : kRowLanes <= 16 ? 16
                                                     : 32;
  static constexpr int kRowElements = 16 / element_bytes(kType);  // a lane

  static constexpr int kHeadWarps = kSlots < kSampleWarps ? kSampleWarps / kSlots : 1;  // sampling
  static constexpr int kWarpHeads = kSlots * kHeadWarps / kSampleWarps;
  static constexpr int kListDraws = 256;  // draws of a head that a block holds at once
  static constexpr int kParts = kInTurns ? kMaximumParts : 1;

  // What the warps of a head share unless they take turns with pairs.
  static constexpr int kLists = kInTurns ? kSampleWarps : kSlots;

  // Which token of a step a lane's run is for in a tile.
  __device__ static int token_of_run(int lane, int run, int tile) {
    const int half = kSlots == 4 ? (lane & 3) / 2 : (run / 2) & 1;
    return Tile::token(lane / 4, half, tile);
  }

  // The head of a lane's run.
  __device__ static int head_of_run(int lane, int run) {
    return kSlots == 4 ? 2 * (lane & 1) + run : 2 * (lane & 3) + (run & 1) + run / 4 * 8;
  }

  // Queries as the products read them.
  struct TokenMajorQueries {
    uint4 rows[2][kSlots][kDimension / 8];  // of this pair and the next; 0 beyond the group
  };
  struct FeatureMajorQueries {
    // Chunks of 16 of the features that are read, in groups of four chunks; those of a lane stand
    // together. Rows are padded against bank conflicts.
    static constexpr int kPlaces = (kDimension + 63) / 64 * 64;
    static constexpr int kRow = kPlaces + 16;
    std::uint16_t given[kSlots][kDimension];
    alignas(8) std::uint16_t chosen[2][kSlots][kRow];
    alignas(8) std::uint16_t features[2][kPlaces];
    float factors[2][kSlots];  // from sums of products to products with the query
    int groups[2];             // of four chunks
    float maxima[kStreamWarps][kSlots];
    int counts[kStreamWarps];
  };
  using Queries =
      std::conditional_t<kLayout == KeyLayout::kTokenMajor, TokenMajorQueries, FeatureMajorQueries>;

  // Scores follow it, which are stored 16 bytes at a time.
  struct alignas(16) Shared {
    Queries queries;
    std::uint64_t ends[kLists][kRunsOfHead];        // units through each run
    Mass masses[kSampleWarps][kWarpHeads][kParts];  // of this block
    std::uint32_t found[kLists][kListDraws];        // from the slot of a run's first draw on
    std::uint32_t draws[kSampleWarps][kListDraws];  // token << kCountBits | count
    int draw_counts[kSampleWarps];
    HeadInHand hands[kSampleWarps];
    DrawStream streams[kSampleWarps];  // of the head in hand, for kStratified
    Team teams[2];                     // the block's, and that of the rehearsal
    float sums[kSampleWarps][kDimension];
    float gaps[kInTurns ? 2 : 1][kSampleThreads];  // between sorted draws of kIndependent
  };
};

// Pairs (request, KV head) of a team in turn, those of empty requests left out.
struct PairCursor {
  int request;
  int kv_head;
  int length;

  __device__ bool advance(const Parameters& p) {
    do {
      request += p.next_request;
      kv_head += p.next_kv_head;
      if (kv_head >= p.arguments.kv_heads) {
        kv_head -= p.arguments.kv_heads;
        ++request;
      }
      if (request >= p.arguments.requests) return false;
      length = __ldg(p.arguments.lengths + request);
    } while (length <= 0);
    return true;
  }
};

// The cursor whose next pair is the team's first.
__device__ inline PairCursor before_first_pair(int team, const Parameters& p) {
  PairCursor cursor{team / p.arguments.kv_heads - p.next_request,
                    team % p.arguments.kv_heads - p.next_kv_head, 0};
  if (cursor.kv_head < 0) {
    cursor.kv_head += p.arguments.kv_heads;
    --cursor.request;
  }
  return cursor;
}

// Steps of a block, whose first tokens lie below the length; at least one, the same for all its
// warps.
__device__ inline int steps_of(const Parameters& p, int split, int length, int step_tokens) {
  const int all = (length + step_tokens - 1) / step_tokens;
  return max(1, all / p.splits + (split < all % p.splits ? 1 : 0));
}

// Keys or values of one pair.
struct PairRows {
  const char* data;                 // of the KV head
  const std::int32_t* block_table;  // of the request; null: contiguous
  std::int64_t block_bytes;
  std::uint32_t token_bytes;
  int block_tokens_log2;

  // Row of a token; with `lane_row` that many tokens on in the same 16.
  __device__ const char* row(int token, int lane_row = 0) const {
    const char* at = data;
    if (block_table != nullptr) {
      at += __ldg(block_table + (token >> block_tokens_log2)) * block_bytes;
      token &= (1 << block_tokens_log2) - 1;
    }
    return at +
           static_cast<std::uint64_t>(token_bytes) * static_cast<std::uint32_t>(token + lane_row);
  }
};

__device__ inline PairRows rows_of(const Parameters& p, const CacheView& view, int element_size,
                                   const PairCursor& pair) {
  const bool paged = p.arguments.block_table != nullptr;
  return {static_cast<const char*>(view.data) +
              element_size * (pair.kv_head * view.head_stride +
                              (paged ? 0 : pair.request * view.block_stride)),
          paged ? p.arguments.block_table + pair.request * p.arguments.table_stride : nullptr,
          view.block_stride * element_size,
          static_cast<std::uint32_t>(view.token_stride * element_size), p.block_tokens_log2};
}

}  // namespace santa::gpu
