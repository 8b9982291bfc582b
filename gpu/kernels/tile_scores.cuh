// Scores of one tile of keys for the heads of a group, to shared memory: 16 tokens are the rows of
// m16n8k16, the heads its columns. A warp takes every kTileWarps-th 16 tokens; what its lanes load
// of several of them is on its way at once.
#pragma once

#include "key_tile.cuh"
#include "tile_parameters.cuh"

namespace santa::gpu {

template <ElementType kType, int kDimension>
class TileScores {
  using Tile = TileShape<kType, kDimension>;
  static constexpr int kPieces = Tile::kPieces;
  // Pieces of rows of 16 tokens each that a warp has on its way: some 64 registers a lane.
  static constexpr int kSlots = 512 / Tile::kPieceBytes < 4 ? 2 : 4;
  static_assert(kSlots % kPieces == 0);
  static constexpr int kAhead = kSlots / kPieces;  // 16 tokens each
  static constexpr int kQueryPieces = Tile::kElements / 8;
  // 16 bytes each; an odd number of 64 bytes, so that heads lie in different banks.
  static constexpr int kQueryStride = (kDimension / 32 | 1) * 4;

 public:
  struct Shared {
    uint4 queries[16][kQueryStride];  // 0 beyond the group
    float factors[16];                // of the products of a head, to powers of two
  };

  // The tile's first token, and how many it has.
  __device__ TileScores(const TileParameters& p, Shared& shared, int request, int kv_head,
                        int first, int tokens)
      : p_(p),
        shared_(shared),
        rows_(tile_rows(p, p.arguments.keys, element_bytes(kType), request, kv_head)),
        request_(request),
        kv_head_(kv_head),
        first_(first),
        tokens_(tokens),
        warp_(threadIdx.x / 32),
        lane_(threadIdx.x % 32) {}

  // Asks for the first keys.
  __device__ void start() {
    look_up_blocks();
#pragma unroll
    for (int slot = 0; slot < kSlots; ++slot) load(slot, slot / kPieces, slot % kPieces);
  }

  // scores[head * stride + token of the tile], up to the next multiple of 16 tokens, -inf from
  // `tokens` on. Ends with a barrier of the block.
  __device__ void finish(float* scores, int stride) {
    stage_queries();
    __syncthreads();
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      factors_[c / 2][c % 2] = shared_.factors[8 * (c / 2) + 2 * (lane_ & 3) + c % 2];
    }
    const int units = ((tokens_ + 15) / 16 - warp_ + kTileWarps - 1) / kTileWarps;
#pragma unroll 1
    for (int base = 0; base < units; base += kAhead) {
      float sums[2][4];
#pragma unroll
      for (int slot = 0; slot < kSlots; ++slot) {
        const int unit = base + slot / kPieces, piece = slot % kPieces;
        if (piece == 0) {
#pragma unroll
          for (int i = 0; i < 8; ++i) sums[i / 4][i % 4] = 0;
        }
        if (unit < units) {
          multiply(slot, piece, 0, sums[0]);
          if (p_.group > 8) multiply(slot, piece, 1, sums[1]);
        }
        load(slot, unit + kAhead, piece);
        if (piece == kPieces - 1 && unit < units) {
          keep(unit, 0, sums[0], scores, stride);
          if (p_.group > 8) keep(unit, 1, sums[1], scores, stride);
        }
      }
    }
    __syncthreads();
  }

 private:
  // In the tile.
  __device__ int token_of(int unit) const {
    return 16 * (unit * kTileWarps + warp_);
  }

  // Lane i looks up the block of unit i, so that the loads of keys wait for one look-up only.
  __device__ void look_up_blocks() {
    if (rows_.block_table != nullptr && token_of(lane_) < tokens_) {
      block_ = __ldg(rows_.block_table + ((first_ + token_of(lane_)) >> rows_.block_tokens_log2));
    }
  }

  __device__ void load(int slot, int unit, int piece) {
    const int token = token_of(unit);
    if (token >= tokens_) return;
    const char* row = rows_.data;
    std::uint32_t inside = static_cast<std::uint32_t>(first_ + token);
    if (rows_.block_table != nullptr) {
      row += rows_.block_bytes * __shfl_sync(0xffffffffU, block_, unit);
      inside &= (1U << rows_.block_tokens_log2) - 1;
    }
    row += static_cast<std::uint64_t>(rows_.token_bytes) * (inside + lane_ / 4) +
           piece * Tile::kPieceBytes + (lane_ & 3) * Tile::kLoadBytes;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (token + lane_ / 4 + 8 * half < tokens_) {
#pragma unroll
        for (int chunk = 0; chunk < Tile::kChunks; ++chunk) {
          load_stream(keys_[slot][half][chunk], row + chunk * 4 * Tile::kLoadBytes);
        }
      }
      row += 8 * static_cast<std::uint64_t>(rows_.token_bytes);
    }
  }

  // A warp a head; a lane has 8 features.
  __device__ void stage_queries() {
    const DecodeArguments& a = p_.arguments;
    const float factor =
        a.score_scale * 1.44269504088896341F *
        (a.keys.head_scales != nullptr ? __ldg(a.keys.head_scales + kv_head_) : 1.0F);
    const char* queries =
        static_cast<const char*>(a.queries) +
        2 * (request_ * a.query_request_stride +
             static_cast<std::int64_t>(kv_head_) * p_.group * a.query_head_stride);
#pragma unroll 1
    for (int head = warp_; head < 16; head += kTileWarps) {
      uint4 eight = make_uint4(0, 0, 0, 0);
      if (head < p_.group && lane_ < kDimension / 8) {
        eight =
            __ldg(reinterpret_cast<const uint4*>(queries + 2 * head * a.query_head_stride) + lane_);
      }
      float back = 1;
      if constexpr (element_bytes(kType) == 1) {
        if (a.query_type == ElementType::kBf16) back = bring_into_range(eight);
      }
      if (lane_ < kDimension / 8) shared_.queries[head][lane_] = eight;
      if (lane_ == 0) shared_.factors[head] = factor * back;
    }
  }

  // bf16 to halves, which have a smaller range: times a power of two, whose inverse is returned.
  __device__ static float bring_into_range(uint4& eight) {
    std::uint32_t* words = &eight.x;
    float largest = 0;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      largest = fmaxf(largest, fmaxf(fabsf(__uint_as_float(words[w] << 16)),
                                     fabsf(__uint_as_float(words[w] & 0xffff0000U))));
    }
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
      largest = fmaxf(largest, __shfl_xor_sync(0xffffffffU, largest, offset));
    }
    const int exponent = largest > 0 && largest < 3e38F ? max(-100, min(100, ilogbf(largest))) : 0;
    const float down = exp2f(static_cast<float>(-exponent));
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const __half2 halves = __floats2half2_rn(__uint_as_float(words[w] << 16) * down,
                                               __uint_as_float(words[w] & 0xffff0000U) * down);
      words[w] = *reinterpret_cast<const std::uint32_t*>(&halves);
    }
    return exp2f(static_cast<float>(exponent));
  }

  __device__ void multiply(int slot, int piece, int column_tile, float (&sums)[4]) {
#pragma unroll
    for (int chunk = 0; chunk < Tile::kChunks; ++chunk) {
      const uint4* query =
          &shared_.queries[lane_ / 4 + 8 * column_tile]
                          [(4 * (piece * Tile::kChunks + chunk) + (lane_ & 3)) * kQueryPieces];
      std::uint32_t pairs[2 * Tile::kProducts];
#pragma unroll
      for (int q = 0; q < kQueryPieces; ++q) {
        const uint4 four = query[q];
        pairs[4 * q] = four.x;
        pairs[4 * q + 1] = four.y;
        pairs[4 * q + 2] = four.z;
        pairs[4 * q + 3] = four.w;
      }
#pragma unroll
      for (int j = 0; j < Tile::kProducts; ++j) {
        std::uint32_t a0, a1, a2, a3;
        pairs_of<kType>(keys_[slot][0][chunk], j, a0, a2);
        pairs_of<kType>(keys_[slot][1][chunk], j, a1, a3);
        multiply_add<kType>(sums, a0, a1, a2, a3, pairs[2 * j], pairs[2 * j + 1]);
      }
    }
  }

  __device__ void keep(int unit, int column_tile, const float (&sums)[4], float* scores,
                       int stride) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int head = 8 * column_tile + 2 * (lane_ & 3) + i % 2;
      const int token = token_of(unit) + lane_ / 4 + 8 * (i / 2);
      if (head < p_.group) {
        scores[head * stride + token] =
            token < tokens_ ? sums[i] * factors_[column_tile][i % 2] : -__int_as_float(0x7f800000);
      }
    }
  }

  const TileParameters& p_;
  Shared& shared_;
  const PairRows rows_;
  const int request_, kv_head_, first_, tokens_, warp_, lane_;
  std::int32_t block_ = 0;  // of unit number lane
  float factors_[2][2];     // of the lane's columns
  std::uint32_t keys_[kSlots][2][Tile::kChunks][Tile::kLoadWords];
};

}  // namespace santa::gpu
