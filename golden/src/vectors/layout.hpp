// Names and sums of a vector's file, shared by its reader and its writer.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "santa/tensor/safetensors.hpp"
#include "santa/tensor/tensor.hpp"

namespace santa::vectors {

template <typename T>
constexpr tensor::DType dtype_of() {
  if constexpr (std::is_same_v<T, std::int8_t>) return tensor::DType::kI8;
  if constexpr (std::is_same_v<T, std::int16_t>) return tensor::DType::kI16;
  if constexpr (std::is_same_v<T, std::uint16_t>) return tensor::DType::kU16;
  if constexpr (std::is_same_v<T, std::int32_t>) return tensor::DType::kI32;
  if constexpr (std::is_same_v<T, std::uint32_t>) return tensor::DType::kU32;
  static_assert(std::is_integral_v<T> && (sizeof(T) < 8 || std::is_same_v<T, std::uint64_t>));
  return tensor::DType::kU64;
}

using Shape = std::vector<std::uint64_t>;

constexpr const char* kChecksumKey = "checksum";
// Fields of one scale factor: exponent, sign and shift of a, sign and shift of b.
constexpr std::size_t kScaleFields = 5;

// CRC-32 of zlib, in eight hexadecimal digits, over "KEY=VALUE\n" of all metadata but the sum
// itself and over "NAME DTYPE SHAPE\n" and the bytes of all tensors, each in the order of their
// names.
std::string checksum_of(const tensor::Metadata& metadata, std::vector<tensor::Tensor> tensors);

}  // namespace santa::vectors
