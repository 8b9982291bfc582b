// The yardstick of the layer benchmark: float32 attention as one would write it first. The source
// is compiled twice, plainly and with everything the compiler offers on this machine.
#pragma once

#include <cstddef>

namespace santa::bench {

// Attention of `heads` query heads over one KV head, one after another.
//   query   [heads][head_dimension]
//   key     [context][head_dimension]
//   value   [context][head_dimension]
//   scores  [context], scratch
//   output  [heads][head_dimension]
using FloatAttention = void(const float* query, const float* key, const float* value,
                            std::size_t heads, std::size_t context, std::size_t head_dimension,
                            float softmax_scale, float* scores, float* output);

FloatAttention float_attention_plain;   // -O3
FloatAttention float_attention_native;  // -O3 -march=native -ffast-math

}  // namespace santa::bench
