// Arrays of NumPy's .npy format.
#pragma once

#include <string>

#include "santa/tensor/tensor.hpp"

namespace santa::tensor {

// Reads one array: format 1.0, 2.0 or 3.0, elements '<f4', '<f2' or '|i1', row-major or
// column-major (the tensor is row-major always). Its name is "". Throws InputError of one line that
// names the file, what was found and what is allowed: anything but a regular file, another format
// or element type, a header that is not exactly descr, fortran_order and shape, and a size of the
// file that is not the size the header demands, which is compared before memory is taken.
Tensor read_npy(const std::string& path);

}  // namespace santa::tensor
