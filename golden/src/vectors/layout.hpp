// Names and sums of a vector's file, shared by its reader and its writer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "santa/tensor/safetensors.hpp"
#include "santa/tensor/tensor.hpp"

namespace santa::vectors {

template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<std::int8_t> {
  static constexpr tensor::DType value = tensor::DType::kI8;
};
template <>
struct DTypeOf<std::int16_t> {
  static constexpr tensor::DType value = tensor::DType::kI16;
};
template <>
struct DTypeOf<std::uint16_t> {
  static constexpr tensor::DType value = tensor::DType::kU16;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr tensor::DType value = tensor::DType::kI32;
};
template <>
struct DTypeOf<std::uint32_t> {
  static constexpr tensor::DType value = tensor::DType::kU32;
};
template <>
struct DTypeOf<std::uint64_t> {
  static constexpr tensor::DType value = tensor::DType::kU64;
};

using Shape = std::vector<std::uint64_t>;

constexpr const char* kChecksumKey = "checksum";
// Fields of one scale factor: exponent, sign and shift of a, sign and shift of b.
constexpr std::size_t kScaleFields = 5;

// CRC-32 of zlib, in eight hexadecimal digits, over "KEY=VALUE\n" of all metadata but the sum
// itself and over "NAME DTYPE SHAPE\n" and the bytes of all tensors, each in the order of their
// names.
std::string checksum_of(const tensor::Metadata& metadata, std::vector<tensor::Tensor> tensors);

}  // namespace santa::vectors
