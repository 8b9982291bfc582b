#include "santa/tensor/tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "message_place.hpp"

namespace santa::tensor {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors are held little-endian");

constexpr std::size_t kShownLengths = 8;

template <typename Element>
Element load(const std::byte* data, std::uint64_t index) {
  Element element;
  std::memcpy(&element, data + index * sizeof element, sizeof element);
  return element;
}

// First element whose exponent, the bits of `mask`, is all ones; `count` if there is none.
template <typename Bits>
std::uint64_t first_not_finite(const std::byte* data, std::uint64_t count, Bits mask) {
  // Whole blocks without an early exit, which the compiler vectorises.
  constexpr std::uint64_t kBlock = 4096;
  for (std::uint64_t begin = 0; begin < count; begin += kBlock) {
    const std::uint64_t end = std::min(count, begin + kBlock);
    unsigned found = 0;
    for (std::uint64_t i = begin; i < end; ++i) {
      found |= static_cast<unsigned>((load<Bits>(data, i) & mask) == mask);
    }
    if (found == 0) continue;
    for (std::uint64_t i = begin; i < end; ++i) {
      if ((load<Bits>(data, i) & mask) == mask) return i;
    }
  }
  return count;
}

std::vector<std::uint64_t> index_along_axes(const Shape& shape, std::uint64_t flat) {
  std::vector<std::uint64_t> index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = flat % shape[axis];
    flat /= shape[axis];
  }
  return index;
}

template <typename Value>
std::vector<std::byte> bytes_of(const std::vector<Value>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(Value));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

std::optional<std::uint64_t> element_count(const Shape& shape) {
  std::uint64_t product = 1;
  bool empty = false;
  for (const std::uint64_t length : shape) {
    if (length == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(product, length, &product)) {
      return std::nullopt;
    }
  }
  return empty ? 0 : product;
}

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis > 0) text += ", ";
    if (axis == kShownLengths) {
      text += "...";
      break;
    }
    text += std::to_string(shape[axis]);
  }
  return text + "]";
}

Tensor::Tensor(std::string source, std::string name, DType dtype, Shape shape,
               std::vector<std::byte> data)
    : source_(std::move(source)),
      name_(std::move(name)),
      dtype_(dtype),
      shape_(std::move(shape)),
      data_(std::move(data)) {
  const std::optional<std::uint64_t> count = element_count(shape_);
  if (!count || data_.size() % element_bytes(dtype_) != 0 || elements() != *count) {
    throw std::invalid_argument("tensor data do not fit shape " + shape_text(shape_));
  }
}

Tensor Tensor::from_floats(std::string name, Shape shape, const std::vector<float>& values) {
  return Tensor("memory", std::move(name), DType::kF32, std::move(shape), bytes_of(values));
}

Tensor Tensor::from_integers(std::string name, Shape shape,
                             const std::vector<std::int8_t>& values) {
  return Tensor("memory", std::move(name), DType::kI8, std::move(shape), bytes_of(values));
}

const std::int8_t* Tensor::integers() const {
  if (dtype_ != DType::kI8) throw std::invalid_argument("tensor is not I8");
  return reinterpret_cast<const std::int8_t*>(data_.data());
}

void Tensor::to_float(std::uint64_t begin, std::uint64_t count, float* out) const {
  if (begin > elements() || count > elements() - begin) {
    throw std::out_of_range("tensor has no such elements");
  }
  if (count == 0) return;
  const std::byte* from = data_.data() + begin * element_bytes(dtype_);
  switch (dtype_) {
    case DType::kF32:
      std::memcpy(out, from, count * sizeof(float));
      return;
    case DType::kF16:
      for (std::uint64_t i = 0; i < count; ++i) {
        out[i] = half_to_float(load<std::uint16_t>(from, i));
      }
      return;
    case DType::kBf16:
      for (std::uint64_t i = 0; i < count; ++i) {
        out[i] = bfloat16_to_float(load<std::uint16_t>(from, i));
      }
      return;
    case DType::kI8:
      for (std::uint64_t i = 0; i < count; ++i) {
        out[i] = static_cast<float>(load<std::int8_t>(from, i));
      }
      return;
  }
}

std::vector<float> Tensor::to_float() const {
  std::vector<float> values(elements());
  to_float(0, values.size(), values.data());
  return values;
}

void Tensor::require_finite() const {
  const std::uint64_t count = elements();
  std::uint64_t found = count;
  switch (dtype_) {
    case DType::kF32:
      found = first_not_finite<std::uint32_t>(data_.data(), count, 0x7f800000U);
      break;
    case DType::kF16:
      found = first_not_finite<std::uint16_t>(data_.data(), count, 0x7c00U);
      break;
    case DType::kBf16:
      found = first_not_finite<std::uint16_t>(data_.data(), count, 0x7f80U);
      break;
    case DType::kI8:
      break;
  }
  if (found == count) return;
  float value = 0.0F;
  to_float(found, 1, &value);
  const char* shown = std::isnan(value) ? "NaN" : value > 0.0F ? "infinity" : "-infinity";
  throw input_error(source_, name_.empty() ? "" : tensor_key(name_),
                    fmt::format("got {} at {}, element {}", shown,
                                shape_text(index_along_axes(shape_, found)), found),
                    "finite values");
}

Tensor Tensor::transposed(const std::vector<std::size_t>& order) const {
  const std::size_t rank = shape_.size();
  std::vector<std::size_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t axis = 0; axis < rank || axis < sorted.size(); ++axis) {
    if (sorted.size() != rank || sorted[axis] != axis) {
      throw std::invalid_argument("not a permutation of the tensor's axes");
    }
  }
  // Axes at the end that stay in place move as one block.
  std::size_t moved = rank;
  std::size_t block_bytes = element_bytes(dtype_);
  while (moved > 0 && order[moved - 1] == moved - 1) block_bytes *= shape_[--moved];

  std::vector<std::size_t> stride_bytes(moved);
  std::size_t stride = block_bytes;
  for (std::size_t axis = moved; axis-- > 0;) {
    stride_bytes[axis] = stride;
    stride *= shape_[axis];
  }
  Shape shape(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) shape[axis] = shape_[order[axis]];

  std::vector<std::byte> data(data_.size());
  std::vector<std::uint64_t> index(moved);
  std::size_t from = 0;
  for (std::size_t to = 0; to < data.size(); to += block_bytes) {
    std::memcpy(data.data() + to, data_.data() + from, block_bytes);
    for (std::size_t axis = moved; axis-- > 0;) {
      from += stride_bytes[order[axis]];
      if (++index[axis] < shape[axis]) break;
      from -= stride_bytes[order[axis]] * shape[axis];
      index[axis] = 0;
    }
  }
  return Tensor(source_, name_, dtype_, std::move(shape), std::move(data));
}

}  // namespace santa::tensor
