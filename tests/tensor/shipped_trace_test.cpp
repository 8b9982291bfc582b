// Every trace of the traces folder against the model's own outputs that it holds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "santa/tensor/trace.hpp"

namespace santa::tensor {
namespace {

struct HeadResult {
  std::vector<double> output;      // softmax(scale q.k) v
  std::vector<double> value_size;  // sum of p |v| by feature
  double logit_size = 0.0;         // largest scale * sum |q_i k_i| of any key
};

HeadResult attend(const float* query, const std::vector<float>& key,
                  const std::vector<float>& value, std::size_t dimension, double scale) {
  const std::size_t keys = key.size() / dimension;
  std::vector<double> logits(keys);
  HeadResult result;
  for (std::size_t n = 0; n < keys; ++n) {
    double size = 0.0;
    for (std::size_t i = 0; i < dimension; ++i) {
      const double product =
          scale * static_cast<double>(query[i]) * static_cast<double>(key[n * dimension + i]);
      logits[n] += product;
      size += std::abs(product);
    }
    result.logit_size = std::max(result.logit_size, size);
  }
  const double largest = *std::max_element(logits.begin(), logits.end());
  double mass = 0.0;
  for (double& logit : logits) mass += logit = std::exp(logit - largest);
  result.output.resize(dimension);
  result.value_size.resize(dimension);
  for (std::size_t n = 0; n < keys; ++n) {
    for (std::size_t i = 0; i < dimension; ++i) {
      const double v = static_cast<double>(value[n * dimension + i]);
      result.output[i] += logits[n] / mass * v;
      result.value_size[i] += logits[n] / mass * std::abs(v);
    }
  }
  return result;
}

// Largest relative error by which a number was rounded to this type, for normal numbers.
double rounding(DType dtype) {
  return dtype == DType::kF16 ? 0x1p-11 : dtype == DType::kBF16 ? 0x1p-8 : 0x1p-24;
}

// Smallest positive number's half: the absolute error of rounding a subnormal.
double smallest(DType dtype) {
  return dtype == DType::kF16 ? 0x1p-25 : 0.0;
}

void check_layer(const Trace& trace, const TraceLayer& layer) {
  ASSERT_NE(layer.key.dtype, DType::kI8) << "no bound derived here for quantised keys";
  ASSERT_NE(layer.value.dtype, DType::kI8) << "no bound derived here for quantised values";
  ASSERT_TRUE(layer.output.has_value());
  const std::vector<float> queries = query_floats(layer);
  const std::vector<float> stored = layer.output->to_floats();
  const std::size_t d = trace.head_dimension;
  double worst = 0.0;
  for (std::uint32_t h = 0; h < trace.query_heads; ++h) {
    const std::uint32_t kv_head = h / trace.group();
    const float* query = queries.data() + h * d;
    const HeadResult head =
        attend(query, key_head(layer, kv_head), value_head(layer, kv_head), d, trace.softmax_scale);
    // The model computed in float32 from keys and values that were not yet rounded for the file.
    // A key's rounding moves a logit by at most r * scale * sum |q k| plus the subnormals' part,
    // and d + 3 roundings to float32 by at most (d + 3) 2^-24 of the same sum. With every logit
    // within `shift`, each probability is within a factor exp(2 shift), so the output moves by at
    // most (exp(2 shift) - 1) sum p |v|. The value's own rounding adds r sum p |v| and the
    // subnormals' part; float32 exponentials and sums of n terms add n + 10 roundings of 2^-24.
    double query_size = 0.0;
    for (std::size_t i = 0; i < d; ++i) query_size += std::abs(static_cast<double>(query[i]));
    const double shift =
        head.logit_size * (rounding(layer.key.dtype) + static_cast<double>(d + 3) * 0x1p-24) +
        trace.softmax_scale * query_size * smallest(layer.key.dtype);
    const double factor = std::expm1(2.0 * shift) + rounding(layer.value.dtype) +
                          static_cast<double>(layer.keys() + 10) * 0x1p-24;
    double difference = 0.0;
    double norm = 0.0;
    for (std::size_t i = 0; i < d; ++i) {
      const double expected = static_cast<double>(stored[h * d + i]);
      const double bound = factor * head.value_size[i] + smallest(layer.value.dtype);
      EXPECT_LE(std::abs(head.output[i] - expected), bound)
          << "layer " << layer.layer << ", head " << h << ", feature " << i;
      difference += std::pow(head.output[i] - expected, 2);
      norm += expected * expected;
    }
    worst = std::max(worst, std::sqrt(difference / norm));
  }
  // The bound is for the worst case, where all roundings conspire. They do not: a wrong order of
  // heads, tokens or features, or a wrong scale, gives errors near 1.
  EXPECT_LT(worst, 0.02) << "layer " << layer.layer;
  testing::Test::RecordProperty("relative_error_layer_" + std::to_string(layer.layer),
                                std::to_string(worst));
}

TEST(ShippedTraces, AgreeWithTheModelsOutputs) {
  int traces = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(SANTA_SOURCE_DIR) + "/traces")) {
    if (entry.path().extension() != ".safetensors") continue;
    SCOPED_TRACE(entry.path().filename().string());
    ++traces;
    const Trace trace = load_trace(entry.path().string());
    EXPECT_FALSE(trace.layers.empty());
    for (const TraceLayer& layer : trace.layers) check_layer(trace, layer);
  }
  EXPECT_GT(traces, 0) << "no trace in the folder";
}

}  // namespace
}  // namespace santa::tensor
