// Tiles of keys that lie feature by feature, so that features no query needs are not read.
//
// A lane loads eight adjacent tokens of a feature; lane 4g + t has tokens 8g to 8g + 7 of a step,
// and of each chunk of 16 features the four of its t. Tile i takes tokens 8g + 2i and 8g + 2i + 1
// as rows g and g + 8, so that products of the token-major tile (key_tile.cuh) serve here too: the
// pairs along features that they need are woven from two loads.
#pragma once

#include <cstdint>

#include "key_tile.cuh"

namespace santa::gpu {

template <ElementType kType>
struct FeatureTileShape {
  static constexpr int kLoadTokens = 8;
  static constexpr int kLoadWords = kLoadTokens * element_bytes(kType) / 4;
  static constexpr int kTiles = kLoadTokens / 2;  // of 16 tokens, a step
  static constexpr int kStepTokens = 16 * kTiles;
  static constexpr int kChunkFeatures = 16;
  static constexpr int kChunksInFlight = 4;

  __device__ static int token(int place, int half, int tile) {
    return kLoadTokens * place + 2 * tile + half;
  }
};

// Both tokens of a tile, each as a pair of two features, as 16-bit numbers.
template <ElementType kType, int kWords>
__device__ inline void weave(const std::uint32_t (&first)[kWords],
                             const std::uint32_t (&second)[kWords], int tile, std::uint32_t& even,
                             std::uint32_t& odd) {
  if constexpr (element_bytes(kType) == 2) {
    even = __byte_perm(first[tile], second[tile], 0x5410);
    odd = __byte_perm(first[tile], second[tile], 0x7632);
  } else {
    const std::uint32_t bytes =
        __byte_perm(first[tile / 2], second[tile / 2], tile % 2 == 0 ? 0x5140 : 0x7362);
    if constexpr (kType == ElementType::kFp8E4M3) {
      even = halves_of_fp8(bytes);
      odd = halves_of_fp8(bytes >> 16);
    } else {
      even = halves_of_int8<0>(bytes);
      odd = halves_of_int8<2>(bytes);
    }
  }
}

}  // namespace santa::gpu
