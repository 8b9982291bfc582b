#include "transpose.hpp"

#include <cstring>
#include <utility>

namespace santa::tensor {
namespace {

// Elements of `width` bytes from `from` in the order of an odometer over `shape`; axis i of the
// result steps by strides[i] elements in the source.
void copy_strided(const std::uint8_t* from, std::uint8_t* to, std::size_t width,
                  const std::vector<std::uint64_t>& shape,
                  const std::vector<std::uint64_t>& strides) {
  const std::size_t inner = shape.size() - 1;
  std::vector<std::uint64_t> index(shape.size());
  std::uint64_t position = 0;  // of the source, in elements
  while (true) {
    for (std::uint64_t i = 0; i < shape[inner]; ++i) {
      std::memcpy(to, from + (position + i * strides[inner]) * width, width);
      to += width;
    }
    std::size_t axis = inner;
    while (axis > 0) {
      --axis;
      position += strides[axis];
      if (++index[axis] < shape[axis]) break;
      position -= strides[axis] * shape[axis];
      index[axis] = 0;
      if (axis == 0) return;
    }
    if (inner == 0) return;
  }
}

}  // namespace

Tensor transposed(Tensor tensor, const std::vector<std::size_t>& order) {
  const std::size_t axes = tensor.shape.size();
  bool identity = true;
  for (std::size_t i = 0; i < axes; ++i) identity = identity && order[i] == i;
  if (identity) return tensor;

  std::vector<std::uint64_t> shape(axes);
  for (std::size_t i = 0; i < axes; ++i) shape[i] = tensor.shape[order[i]];
  if (!tensor.bytes.empty()) {
    std::vector<std::uint64_t> source_strides(axes);
    std::uint64_t step = 1;
    for (std::size_t axis = axes; axis-- > 0;) {
      source_strides[axis] = step;
      step *= tensor.shape[axis];
    }
    std::vector<std::uint64_t> strides(axes);
    for (std::size_t i = 0; i < axes; ++i) strides[i] = source_strides[order[i]];
    std::vector<std::uint8_t> bytes(tensor.bytes.size());
    copy_strided(tensor.bytes.data(), bytes.data(), element_size(tensor.dtype), shape, strides);
    tensor.bytes = std::move(bytes);
  }
  tensor.shape = std::move(shape);
  return tensor;
}

}  // namespace santa::tensor
