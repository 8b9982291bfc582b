// Change of the order of axes.
#pragma once

#include <cstddef>
#include <vector>

#include "santa/tensor/tensor.hpp"

namespace santa::tensor {

// The tensor with axis i where axis order[i] was: shape[i] = tensor.shape[order[i]]. `order` is a
// permutation of 0 .. axes - 1. Moves bytes, so every element stays as it is.
Tensor transposed(Tensor tensor, const std::vector<std::size_t>& order);

}  // namespace santa::tensor
