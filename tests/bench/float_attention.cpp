#include "float_attention.hpp"

#include <algorithm>
#include <cmath>

namespace santa::bench {

void SANTA_FLOAT_ATTENTION(const float* query, const float* key, const float* value,
                           std::size_t heads, std::size_t context, std::size_t head_dimension,
                           float softmax_scale, float* scores, float* output) {
  for (std::size_t h = 0; h < heads; ++h) {
    const float* q = query + h * head_dimension;
    float* out = output + h * head_dimension;
    float largest = -INFINITY;
    for (std::size_t n = 0; n < context; ++n) {
      float dot = 0.0F;
      for (std::size_t i = 0; i < head_dimension; ++i) dot += q[i] * key[n * head_dimension + i];
      scores[n] = dot * softmax_scale;
      largest = std::max(largest, scores[n]);
    }
    float total = 0.0F;
    std::fill(out, out + head_dimension, 0.0F);
    for (std::size_t n = 0; n < context; ++n) {
      const float weight = std::exp(scores[n] - largest);
      total += weight;
      for (std::size_t i = 0; i < head_dimension; ++i) {
        out[i] += weight * value[n * head_dimension + i];
      }
    }
    for (std::size_t i = 0; i < head_dimension; ++i) out[i] /= total;
  }
}

}  // namespace santa::bench
