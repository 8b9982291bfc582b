#include "fp16_attention.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace santa::cli {
namespace {

void round_row(const float* row, std::size_t count, float* out) {
  std::transform(row, row + count, out, round_to_half);
}

}  // namespace

float round_to_half(float value) {
  constexpr float kOverflow = 65520.0F;                // halfway from the largest half upwards
  constexpr float kSmallestNormal = 6.103515625e-05F;  // 2^-14
  constexpr std::uint32_t kDroppedBits = 13;           // 23 fraction bits to 10
  const float magnitude = std::fabs(value);
  if (std::isnan(value)) return value;
  if (magnitude >= kOverflow) {
    return std::copysign(std::numeric_limits<float>::infinity(), value);
  }
  if (magnitude < kSmallestNormal) {
    // Subnormal halves are multiples of 2^-24, which is the spacing of floats in [0.5, 1).
    return std::copysign((magnitude + 0.5F) - 0.5F, value);
  }
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  bits += (1U << (kDroppedBits - 1)) - 1 + (bits >> kDroppedBits & 1U);
  bits &= ~((1U << kDroppedBits) - 1);
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

std::vector<float> attend_fp16(const float* queries, std::size_t group, const float* keys,
                               const float* values, std::size_t context, std::size_t head_dimension,
                               float softmax_scale) {
  std::vector<float> query(group * head_dimension);
  round_row(queries, query.size(), query.data());
  std::vector<float> row(head_dimension);
  std::vector<float> weight(group * context);  // [head][token]: score, then exponential
  for (std::size_t n = 0; n < context; ++n) {
    round_row(keys + n * head_dimension, head_dimension, row.data());
    for (std::size_t g = 0; g < group; ++g) {
      float dot = 0.0F;
      for (std::size_t i = 0; i < head_dimension; ++i)
        dot += query[g * head_dimension + i] * row[i];
      weight[g * context + n] = dot * softmax_scale;
    }
  }
  std::vector<float> total(group, 0.0F);
  for (std::size_t g = 0; g < group && context != 0; ++g) {
    float* head = weight.data() + g * context;
    const float largest = *std::max_element(head, head + context);
    for (std::size_t n = 0; n < context; ++n) {
      head[n] = std::exp(head[n] - largest);
      total[g] += head[n];
    }
  }
  std::vector<float> output(group * head_dimension, 0.0F);
  for (std::size_t n = 0; n < context; ++n) {
    round_row(values + n * head_dimension, head_dimension, row.data());
    for (std::size_t g = 0; g < group; ++g) {
      const float w = weight[g * context + n];
      for (std::size_t i = 0; i < head_dimension; ++i) output[g * head_dimension + i] += w * row[i];
    }
  }
  for (std::size_t i = 0; i < output.size() && context != 0; ++i) {
    output[i] = round_to_half(output[i] / total[i / head_dimension]);
  }
  return output;
}

}  // namespace santa::cli
