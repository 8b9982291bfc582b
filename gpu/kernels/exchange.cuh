// Words that blocks of one launch hand to each other through global memory. Each carries its data
// and the number of the exchange in one access that cannot be torn, so that a reader polls the data
// itself and no fence is needed.
#pragma once

#include <cstdint>

namespace santa::gpu {

// Weight of a block's keys for one head: units * 2^(exponent - kMassBits).
struct Mass {
  std::uint64_t units;
  std::int32_t exponent;
};

constexpr int kMassBits = 40;
constexpr std::int32_t kNoExponent = -(1 << 30);          // no key with a weight
constexpr std::uint64_t kNotANumber = ~std::uint64_t{0};  // units of a sum that has a NaN

__device__ inline void publish(ulonglong2* word, Mass mass, std::uint32_t epoch) {
  const std::uint64_t high =
      static_cast<std::uint64_t>(epoch) << 32 | static_cast<std::uint32_t>(mass.exponent);
  asm volatile(
      "{\n .reg .b128 v;\n mov.b128 v, {%0, %1};\n st.relaxed.gpu.global.b128 [%2], v;\n}" ::"l"(
          mass.units),
      "l"(high), "l"(word)
      : "memory");
}

__device__ inline Mass receive(const ulonglong2* word, std::uint32_t epoch, bool wait) {
  std::uint64_t units, high;
  do {
    asm volatile(
        "{\n .reg .b128 v;\n ld.relaxed.gpu.global.b128 v, [%2];\n mov.b128 {%0, %1}, v;\n}"
        : "=l"(units), "=l"(high)
        : "l"(word)
        : "memory");
  } while (static_cast<std::uint32_t>(high >> 32) != epoch && wait);
  return {units, static_cast<std::int32_t>(static_cast<std::uint32_t>(high))};
}

__device__ inline void publish(std::uint64_t* word, float value, std::uint32_t epoch) {
  const std::uint64_t bits = static_cast<std::uint64_t>(epoch) << 32 | __float_as_uint(value);
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(bits) : "memory");
}

__device__ inline std::uint64_t peek(const std::uint64_t* word) {
  std::uint64_t bits;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(bits) : "l"(word) : "memory");
  return bits;
}

}  // namespace santa::gpu
