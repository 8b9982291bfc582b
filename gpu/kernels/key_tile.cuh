// Keys of a warp's tile in registers, and their scores by mma.m16n8k16: 16 tokens are its rows, the
// heads of the group its columns.
//
// Lane 4g + t of a warp holds tokens g and g + 8 of each 16. The contraction index is permuted so
// that what a lane needs of a row lies together: it loads E adjacent features at 4E * chunk + E * t
// and gives elements 4j to 4j + 3 of them to product j; the query is read by the same rule.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>

#include "santa/gpu/decode.hpp"

namespace santa::gpu {

__host__ __device__ constexpr int element_bytes(ElementType type) {
  return type == ElementType::kBf16 || type == ElementType::kFp16 ? 2 : 1;
}

// How a row of `dimension` features is cut. Two buffers of some 32 registers are in flight a lane.
template <ElementType kType, int kDimension>
struct TileShape {
  static constexpr int kRowBytes = kDimension * element_bytes(kType);
  static constexpr int kPieces = kRowBytes > 256 ? 2 : 1;  // of a row, one a buffer
  static constexpr int kPieceBytes = kRowBytes / kPieces;
  static constexpr int kLoadBytes = kPieceBytes % 64 == 0 ? 16 : 8;
  static constexpr int kLoadWords = kLoadBytes / 4;
  static constexpr int kChunks = kPieceBytes / (4 * kLoadBytes);
  static constexpr int kElements = kLoadBytes / element_bytes(kType);
  static constexpr int kProducts = kElements / 4;  // a chunk
  static constexpr int kTilesPerBuffer = 256 / kPieceBytes > 0 ? (256 / kPieceBytes) : 1;
  static constexpr int kTiles = kTilesPerBuffer * (kPieces == 1 ? 2 : 1);  // of 16 tokens, a step
  static constexpr int kStepTokens = 16 * kTiles;                          // of a warp

  // Token of a step that row 8 * half + place of a tile is.
  __device__ static int token(int place, int half, int tile) {
    return 16 * tile + 8 * half + place;
  }
};

// 16 or 8 bytes that are read once.
template <int kWords>
__device__ inline void load_stream(std::uint32_t (&words)[kWords], const void* address) {
  if constexpr (kWords == 4) {
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "l"(address));
  } else {
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v2.u32 {%0, %1}, [%2];"
                 : "=r"(words[0]), "=r"(words[1])
                 : "l"(address));
  }
}

// Two e4m3 as two halves; exact.
__device__ inline std::uint32_t halves_of_fp8(std::uint32_t pair) {
  const __half2_raw raw =
      __nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(pair & 0xffffU), __NV_E4M3);
  return static_cast<std::uint32_t>(raw.y) << 16 | raw.x;
}

// Bytes `low` and `high` of a word of int8 as halves: 1024 + 128 + value has the biased byte as its
// last bits, so that one subtraction is left; exact.
template <int kLow>
__device__ inline std::uint32_t halves_of_int8(std::uint32_t word) {
  const std::uint32_t biased =
      __byte_perm(word ^ 0x80808080U, 0x64646464U, kLow == 0 ? 0x4140 : 0x4342);
  const __half2 value =
      __hsub2(*reinterpret_cast<const __half2*>(&biased), __half2half2(__ushort_as_half(0x6480)));
  return *reinterpret_cast<const std::uint32_t*>(&value);
}

// Elements 4j to 4j + 3 of a lane's load as two registers of two 16-bit numbers.
template <ElementType kType, int kWords>
__device__ inline void pairs_of(const std::uint32_t (&words)[kWords], int product,
                                std::uint32_t& first, std::uint32_t& second) {
  if constexpr (element_bytes(kType) == 2) {
    first = words[2 * product];
    second = words[2 * product + 1];
  } else if constexpr (kType == ElementType::kFp8E4M3) {
    first = halves_of_fp8(words[product]);
    second = halves_of_fp8(words[product] >> 16);
  } else {
    first = halves_of_int8<0>(words[product]);
    second = halves_of_int8<2>(words[product]);
  }
}

template <ElementType kType>
__device__ inline void multiply_add(float (&sum)[4], std::uint32_t a0, std::uint32_t a1,
                                    std::uint32_t a2, std::uint32_t a3, std::uint32_t b0,
                                    std::uint32_t b1) {
  if constexpr (kType == ElementType::kBf16) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
}

}  // namespace santa::gpu
