// Value rows to float sums, and sums to the output's type.
#pragma once

#include "key_tile.cuh"

namespace santa::gpu {

__device__ inline float float_of(std::uint32_t pair, bool high, bool bf16) {
  if (bf16) return __uint_as_float(high ? pair & 0xffff0000U : pair << 16);
  const __half2 halves = *reinterpret_cast<const __half2*>(&pair);
  return high ? __high2float(halves) : __low2float(halves);
}

// Adds 16 bytes of a row, `count` times.
template <ElementType kType, int kElements>
__device__ inline void add_row(float (&sums)[kElements], const uint4& row, float count) {
  const std::uint32_t words[4] = {row.x, row.y, row.z, row.w};
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    if constexpr (element_bytes(kType) == 2) {
      sums[2 * w] += count * float_of(words[w], false, kType == ElementType::kBf16);
      sums[2 * w + 1] += count * float_of(words[w], true, kType == ElementType::kBf16);
    } else {
      std::uint32_t low, high;
      if constexpr (kType == ElementType::kFp8E4M3) {
        low = halves_of_fp8(words[w]);
        high = halves_of_fp8(words[w] >> 16);
      } else {
        low = halves_of_int8<0>(words[w]);
        high = halves_of_int8<2>(words[w]);
      }
      sums[4 * w] += count * float_of(low, false, false);
      sums[4 * w + 1] += count * float_of(low, true, false);
      sums[4 * w + 2] += count * float_of(high, false, false);
      sums[4 * w + 3] += count * float_of(high, true, false);
    }
  }
}

__device__ inline void store_output(void* output, ElementType type, std::int64_t place,
                                    float value) {
  if (type == ElementType::kBf16) {
    static_cast<__nv_bfloat16*>(output)[place] = __float2bfloat16_rn(value);
  } else {
    static_cast<__half*>(output)[place] = __float2half_rn(value);
  }
}

}  // namespace santa::gpu
