// Philox 4x32-10, the counter-based generator of Salmon et al., "Parallel random numbers: as easy
// as 1, 2, 3" (SC 2011), table 2 and section 3.2.
#pragma once

#include <cstdint>

namespace santa::gpu {

struct Random4 {
  std::uint32_t words[4];
};

__host__ __device__ inline std::uint32_t multiply_high(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(a) * b) >> 32);
}

__host__ __device__ inline Random4 philox(std::uint64_t key, std::uint64_t counter_low,
                                          std::uint64_t counter_high) {
  std::uint32_t key0 = static_cast<std::uint32_t>(key);
  std::uint32_t key1 = static_cast<std::uint32_t>(key >> 32);
  Random4 c{{static_cast<std::uint32_t>(counter_low), static_cast<std::uint32_t>(counter_low >> 32),
             static_cast<std::uint32_t>(counter_high),
             static_cast<std::uint32_t>(counter_high >> 32)}};
#pragma unroll 1
  for (int round = 0; round < 10; ++round) {
    const std::uint32_t high0 = multiply_high(0xD2511F53U, c.words[0]);
    const std::uint32_t low0 = 0xD2511F53U * c.words[0];
    const std::uint32_t high1 = multiply_high(0xCD9E8D57U, c.words[2]);
    const std::uint32_t low1 = 0xCD9E8D57U * c.words[2];
    c = {{high1 ^ c.words[1] ^ key0, low1, high0 ^ c.words[3] ^ key1, low0}};
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  return c;
}

// Uniform on [0, 1), a multiple of 2^-53.
__host__ __device__ inline double uniform53(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32 | low) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

}  // namespace santa::gpu
