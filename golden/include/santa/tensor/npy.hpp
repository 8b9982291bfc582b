// Arrays in NumPy's .npy format, versions 1.0, 2.0 and 3.0.
#pragma once

#include <string>

#include "santa/tensor/tensor.hpp"

namespace santa::tensor {

inline constexpr std::size_t kMaxNpyHeaderBytes = 65536;
inline constexpr const char* kReadableNpyTypes = "'<f4', '>f4', '<f2', '>f2', '|i1'";

// Reads the array of a .npy file, row-major whatever order and byte order the file states; no check
// of the values. The header must be a plain dictionary of descr, fortran_order and shape, and the
// file must end where the array does. Throws InputError, one line, as SafetensorsFile does.
Tensor read_npy(const std::string& path);

}  // namespace santa::tensor
