// Element types of tensors, and exact conversions of the 16-bit ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace santa::tensor {

// The types whose values can be read. In memory and in files little-endian unless a file says
// otherwise.
enum class DType {
  kF32,   // IEEE 754 binary32
  kF16,   // IEEE 754 binary16
  kBf16,  // upper half of a binary32
  kI8,    // two's complement
};

inline constexpr const char* kReadableDTypes = "F32, F16, BF16, I8";

// Bytes of one element: 4, 2, 2, 1.
std::size_t element_bytes(DType dtype);

// Name as in safetensors: "F32", "F16", "BF16", "I8".
std::string dtype_name(DType dtype);

inline float bits_to_float(std::uint32_t bits) {
  float value = 0.0F;
  static_assert(sizeof value == sizeof bits);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// The float of the same value, for every pattern: subnormals are exact, an infinity stays one, a
// NaN keeps its payload.
inline float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t magnitude = (half & 0x7fffU) << 13;
  if (magnitude >= 0x0f800000U) return bits_to_float(sign | 0x7f800000U | magnitude);
  // Read with float's bias the value is 2^112 too small, and subnormal where the half is; the
  // product is exact for both.
  constexpr float kRebias = 5192296858534827628530496329220096.0F;  // 2^112
  const float value = bits_to_float(magnitude) * kRebias;
  return sign != 0 ? -value : value;
}

inline float bfloat16_to_float(std::uint16_t value) {
  return bits_to_float(static_cast<std::uint32_t>(value) << 16);
}

}  // namespace santa::tensor
