#include "santa/tensor/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "message.hpp"
#include "santa/error.hpp"
#include "trace_header.hpp"
#include "transpose.hpp"

namespace santa::tensor {
namespace {

Tensor read_role(const SafetensorsFile& file, std::uint32_t layer, const std::string& role) {
  Tensor tensor = file.read(layer_key(layer, role));
  // Before the axes move, so that a message has the index of the stored tensor.
  tensor.require_finite(file.path());
  return transposed(std::move(tensor), stored_axes(file, role));
}

// A tensor that has the default order of axes always.
Tensor read_plain(const SafetensorsFile& file, std::uint32_t layer, const std::string& role) {
  Tensor tensor = file.read(layer_key(layer, role));
  tensor.require_finite(file.path());
  return tensor;
}

enum class ScaleKind { kKey, kValue };

// A key scale of 0 belongs to a feature that is 0 everywhere; value scales are powers of two. Both
// end where an int8 times the scale would leave float32.
bool scale_allowed(float scale, ScaleKind kind) {
  constexpr float kLargest = 0x1p120F;
  constexpr float kSmallestValueScale = 0x1p-120F;
  if (!(scale >= 0.0F && scale <= kLargest)) return false;
  if (kind == ScaleKind::kKey) return true;
  int exponent = 0;
  return scale >= kSmallestValueScale && std::frexp(scale, &exponent) == 0.5F;
}

Tensor read_scale(const SafetensorsFile& file, std::uint32_t layer, const std::string& role,
                  ScaleKind kind) {
  Tensor tensor = read_plain(file, layer, role);
  const std::vector<float> scales = tensor.to_floats();
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (scale_allowed(scales[i], kind)) continue;
    throw input_error(
        shown(file.path()), tensor_key(tensor.name), fmt::format("{} at element {}", scales[i], i),
        kind == ScaleKind::kKey ? "scales from 0 to 2^120" : "powers of two from 2^-120 to 2^120");
  }
  return tensor;
}

TraceLayer read_layer(const SafetensorsFile& file, const TraceLayerInfo& info) {
  TraceLayer layer;
  layer.layer = info.layer;
  layer.sliding_window = info.sliding_window;
  layer.query = read_role(file, info.layer, "query");
  layer.key = read_role(file, info.layer, "key");
  layer.value = read_role(file, info.layer, "value");
  if (info.has_output) layer.output = read_plain(file, info.layer, "output");
  if (info.key_dtype == DType::kI8) {
    layer.key_scale = read_scale(file, info.layer, "key_scale", ScaleKind::kKey);
  }
  if (info.value_dtype == DType::kI8) {
    layer.value_scale = read_scale(file, info.layer, "value_scale", ScaleKind::kValue);
  }
  return layer;
}

std::uint64_t head_elements(const Tensor& tensor, std::uint32_t kv_head) {
  if (kv_head >= tensor.shape[0]) {
    throw std::out_of_range(fmt::format("KV head {} of {}", kv_head, tensor.shape[0]));
  }
  return tensor.shape[1] * tensor.shape[2];
}

std::vector<float> head_floats(const Tensor& tensor, const std::optional<Tensor>& scale,
                               std::uint32_t kv_head) {
  const std::uint64_t count = head_elements(tensor, kv_head);
  std::vector<float> result = tensor.to_floats(kv_head * count, count);
  if (!scale) return result;
  const std::uint64_t features = tensor.shape[2];
  const std::vector<float> factors = scale->to_floats(kv_head * features, features);
  for (std::uint64_t i = 0; i < count; ++i) result[i] *= factors[i % features];
  return result;
}

}  // namespace

TraceHeader read_trace_header(const std::string& path) {
  return parse_trace_header(SafetensorsFile(path));
}

Trace load_trace(const std::string& path, const std::vector<std::uint32_t>& layers) {
  const SafetensorsFile file(path);
  Trace trace;
  static_cast<TraceHeader&>(trace) = parse_trace_header(file);
  for (const std::uint32_t wanted : layers) {
    const auto has = [&](const TraceLayerInfo& info) { return info.layer == wanted; };
    if (std::none_of(trace.contents.begin(), trace.contents.end(), has)) {
      throw input_error(shown(path), "layer", fmt::format("got {}", wanted),
                        shown(trace.metadata.find("layers")->second));
    }
  }
  for (const TraceLayerInfo& info : trace.contents) {
    const bool named = std::find(layers.begin(), layers.end(), info.layer) != layers.end();
    if (layers.empty() || named) trace.layers.push_back(read_layer(file, info));
  }
  return trace;
}

std::vector<float> key_head(const TraceLayer& layer, std::uint32_t kv_head) {
  return head_floats(layer.key, layer.key_scale, kv_head);
}

std::vector<float> value_head(const TraceLayer& layer, std::uint32_t kv_head) {
  return head_floats(layer.value, layer.value_scale, kv_head);
}

std::vector<float> query_floats(const TraceLayer& layer) {
  return layer.query.to_floats();
}

const std::int8_t* key_integers(const TraceLayer& layer, std::uint32_t kv_head) {
  return layer.key.int8_data() + kv_head * head_elements(layer.key, kv_head);
}

const std::int8_t* value_integers(const TraceLayer& layer, std::uint32_t kv_head) {
  return layer.value.int8_data() + kv_head * head_elements(layer.value, kv_head);
}

}  // namespace santa::tensor
