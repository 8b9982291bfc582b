// The arithmetic of a dense unit with half-precision operands, as a function: what its output error
// is computed from. Timing and energy of that unit are the simulation's.
#pragma once

#include <cstddef>
#include <vector>

namespace santa::cli {

// Nearest half-precision (binary16) value, ties to even; infinity from 65,520 on.
float round_to_half(float value);

// Softmax attention of `group` queries over one KV head: queries, keys, values and output rounded
// to half precision, products and sums in float32.
//   queries       [group][head_dimension]
//   keys, values  [context][head_dimension]
// Returns [group][head_dimension].
std::vector<float> attend_fp16(const float* queries, std::size_t group, const float* keys,
                               const float* values, std::size_t context, std::size_t head_dimension,
                               float softmax_scale);

}  // namespace santa::cli
