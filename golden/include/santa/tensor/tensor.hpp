// A tensor in memory and the element types of traces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace santa::tensor {

// Element types that the readers accept, little-endian: IEEE binary32, IEEE binary16, bfloat16,
// two's complement bytes; those of traces. The wider integers are those of recorded vectors.
enum class DType { kF32, kF16, kBF16, kI8, kI16, kU16, kI32, kU32, kU64 };
inline constexpr DType kDTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kI8, DType::kI16,
                                    DType::kU16, DType::kI32, DType::kU32,  DType::kU64};

// Bytes of one element.
std::size_t element_size(DType dtype);

// "F32", "F16", "BF16", "I8", ..., as safetensors writes it.
std::string_view dtype_name(DType dtype);

// The value of an IEEE binary16 or bfloat16 bit pattern. Exact for every pattern, subnormals
// included; a NaN stays a NaN with its payload.
float float_from_f16(std::uint16_t bits);
float float_from_bf16(std::uint16_t bits);

// Row-major: the last axis is the fastest. A shape of no axes is one element.
struct Tensor {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint8_t> bytes;  // elements() * element_size(dtype)

  // Product of the shape. The readers guarantee that it does not overflow.
  std::uint64_t elements() const;

  // Element `index` in row-major order, as stored: an integer is itself, rounded to a float where
  // it has more than 24 bits. Throws std::out_of_range from elements() on.
  float at(std::uint64_t index) const;

  // Elements [first, first + count) in row-major order, exactly as at() gives them. Throws
  // std::out_of_range if they are not all there.
  std::vector<float> to_floats(std::uint64_t first, std::uint64_t count) const;
  std::vector<float> to_floats() const { return to_floats(0, elements()); }

  // The integers of an I8 tensor, in row-major order. Throws std::logic_error for other types.
  const std::int8_t* int8_data() const;

  // Throws InputError for the first NaN or infinity; the message names `place` (the file), the
  // tensor, the index within it (one number in row-major order, and one an axis) and the value.
  void require_finite(const std::string& place) const;
};

// "[2, 5120, 128]"
std::string shape_text(const std::vector<std::uint64_t>& shape);

}  // namespace santa::tensor
