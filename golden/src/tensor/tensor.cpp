#include "santa/tensor/tensor.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <stdexcept>

#include "message.hpp"
#include "santa/error.hpp"

namespace santa::tensor {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "the bytes of files are used as they are, and files are little-endian");

float float_from_bits(std::uint32_t bits) {
  float value = 0.0F;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

template <typename T>
T load(const std::uint8_t* from) {
  T value{};
  std::memcpy(&value, from, sizeof(value));
  return value;
}

template <typename T, typename Write>
void convert_integers(const std::uint8_t* from, std::uint64_t count, Write write) {
  for (std::uint64_t i = 0; i < count; ++i) {
    write(i, static_cast<float>(load<T>(from + sizeof(T) * i)));
  }
}

// `write(i, value)` for `count` elements that start at `from`. The switch is outside the loop, for
// the millions of elements of a trace.
template <typename Write>
void convert(DType dtype, const std::uint8_t* from, std::uint64_t count, Write write) {
  switch (dtype) {
    case DType::kF32:
      for (std::uint64_t i = 0; i < count; ++i) write(i, load<float>(from + 4 * i));
      break;
    case DType::kF16:
      for (std::uint64_t i = 0; i < count; ++i) {
        write(i, float_from_f16(load<std::uint16_t>(from + 2 * i)));
      }
      break;
    case DType::kBF16:
      for (std::uint64_t i = 0; i < count; ++i) {
        write(i, float_from_bf16(load<std::uint16_t>(from + 2 * i)));
      }
      break;
    case DType::kI8:
      convert_integers<std::int8_t>(from, count, write);
      break;
    case DType::kI16:
      convert_integers<std::int16_t>(from, count, write);
      break;
    case DType::kU16:
      convert_integers<std::uint16_t>(from, count, write);
      break;
    case DType::kI32:
      convert_integers<std::int32_t>(from, count, write);
      break;
    case DType::kU32:
      convert_integers<std::uint32_t>(from, count, write);
      break;
    case DType::kU64:
      convert_integers<std::uint64_t>(from, count, write);
      break;
  }
}

bool is_integer(DType dtype) {
  return dtype != DType::kF32 && dtype != DType::kF16 && dtype != DType::kBF16;
}

std::string index_text(std::uint64_t flat, const std::vector<std::uint64_t>& shape) {
  std::vector<std::uint64_t> index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = flat % shape[axis];
    flat /= shape[axis];
  }
  return shape_text(index);
}

}  // namespace

std::size_t element_size(DType dtype) {
  switch (dtype) {
    case DType::kU64:
      return 8;
    case DType::kF32:
    case DType::kI32:
    case DType::kU32:
      return 4;
    case DType::kF16:
    case DType::kBF16:
    case DType::kI16:
    case DType::kU16:
      return 2;
    case DType::kI8:
      break;
  }
  return 1;
}

std::string_view dtype_name(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "F32";
    case DType::kF16:
      return "F16";
    case DType::kBF16:
      return "BF16";
    case DType::kI16:
      return "I16";
    case DType::kU16:
      return "U16";
    case DType::kI32:
      return "I32";
    case DType::kU32:
      return "U32";
    case DType::kU64:
      return "U64";
    case DType::kI8:
      break;
  }
  return "I8";
}

float float_from_f16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 31U;
  const std::uint32_t fraction = bits & 0x3ffU;
  if (exponent == 0) {
    // Subnormal: the fraction counts units of 2^-24, and the product is exact.
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  if (exponent == 31) return float_from_bits(sign | 0x7f800000U | fraction << 13);
  return float_from_bits(sign | (exponent + 127 - 15) << 23 | fraction << 13);
}

float float_from_bf16(std::uint16_t bits) {
  return float_from_bits(static_cast<std::uint32_t>(bits) << 16);
}

std::uint64_t Tensor::elements() const {
  std::uint64_t product = 1;
  for (const std::uint64_t extent : shape) product *= extent;
  return product;
}

float Tensor::at(std::uint64_t index) const {
  return to_floats(index, 1)[0];
}

std::vector<float> Tensor::to_floats(std::uint64_t first, std::uint64_t count) const {
  const std::size_t size = element_size(dtype);
  const std::uint64_t stored = bytes.size() / size;
  if (first > stored || count > stored - first) {
    throw std::out_of_range(
        fmt::format("{}: elements {} to {} of {}", tensor_key(name), first, first + count, stored));
  }
  std::vector<float> result(count);
  convert(dtype, bytes.data() + first * size, count,
          [&](std::uint64_t i, float value) { result[i] = value; });
  return result;
}

const std::int8_t* Tensor::int8_data() const {
  if (dtype != DType::kI8) throw std::logic_error(tensor_key(name) + " is not I8");
  return reinterpret_cast<const std::int8_t*>(bytes.data());
}

void Tensor::require_finite(const std::string& place) const {
  if (is_integer(dtype)) return;
  convert(dtype, bytes.data(), bytes.size() / element_size(dtype),
          [&](std::uint64_t i, float value) {
            if (std::isfinite(value)) return;
            const char* what = std::isnan(value) ? "NaN" : value > 0 ? "Inf" : "-Inf";
            throw input_error(shown(place), tensor_key(name),
                              fmt::format("{} at index {} of {}, element {}", what,
                                          index_text(i, shape), shape_text(shape), i),
                              "finite values");
          });
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace santa::tensor
