// A dense array with a name, as it lies in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "santa/error.hpp"
#include "santa/tensor/dtype.hpp"

namespace santa::tensor {

// Lengths of the axes, the slowest first. No axes: one element.
using Shape = std::vector<std::uint64_t>;

// Number of elements, 0 if an axis has length 0; nothing if the product of the other lengths does
// not fit 64 bits.
std::optional<std::uint64_t> element_count(const Shape& shape);

// "[2, 5120, 128]"; only the first eight lengths of a longer one.
std::string shape_text(const Shape& shape);

// Row-major, the last axis fastest. The data are held once, in the stored type.
class Tensor {
 public:
  // `source` is what errors call the file, `name` the tensor in it (empty for a file of one array).
  // Throws std::invalid_argument if `data` has not exactly the bytes of shape and dtype.
  Tensor(std::string source, std::string name, DType dtype, Shape shape,
         std::vector<std::byte> data);

  // F32 and I8 tensors from values in memory.
  static Tensor from_floats(std::string name, Shape shape, const std::vector<float>& values);
  static Tensor from_integers(std::string name, Shape shape,
                              const std::vector<std::int8_t>& values);

  const std::string& source() const { return source_; }
  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::uint64_t elements() const { return data_.size() / element_bytes(dtype_); }
  const std::vector<std::byte>& bytes() const { return data_; }

  // The elements of an I8 tensor; std::invalid_argument for other types.
  const std::int8_t* integers() const;

  // Writes elements begin .. begin + count - 1 to `out` as floats of the same value. Throws
  // std::out_of_range beyond elements().
  void to_float(std::uint64_t begin, std::uint64_t count, float* out) const;
  std::vector<float> to_float() const;

  // Throws InputError at the first NaN or infinity: source, name, value, index along each axis and
  // place in row-major order.
  void require_finite() const;

  // Axis j of the result is axis order[j] of this one, as numpy.transpose. `order` is a
  // permutation of the axes; std::invalid_argument otherwise.
  Tensor transposed(const std::vector<std::size_t>& order) const;

 private:
  std::string source_;
  std::string name_;
  DType dtype_;
  Shape shape_;
  std::vector<std::byte> data_;
};

}  // namespace santa::tensor
