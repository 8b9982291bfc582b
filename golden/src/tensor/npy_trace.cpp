#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "message.hpp"
#include "santa/arithmetic/limits.hpp"
#include "santa/error.hpp"
#include "santa/tensor/npy.hpp"
#include "santa/tensor/trace.hpp"

namespace santa::tensor {
namespace {

Tensor read_named(const std::string& path, const std::string& name, std::size_t axes,
                  const std::string& shape) {
  Tensor tensor = read_npy(path);
  tensor.name = name;
  if (tensor.shape.size() != axes) {
    throw input_error(shown(path), "shape", "got " + shape_text(tensor.shape), shape);
  }
  tensor.require_finite(path);
  return tensor;
}

std::uint32_t extent(const std::string& path, const Tensor& tensor, std::size_t axis,
                     const std::string& what, std::uint64_t low, std::uint64_t high) {
  const std::uint64_t value = tensor.shape[axis];
  if (value < low || value > high) {
    const std::string range =
        low == high ? std::to_string(low) : fmt::format("from {} to {}", low, high);
    throw input_error(shown(path), "shape", "got " + shape_text(tensor.shape),
                      fmt::format("{} {} on axis {}", what, range, axis));
  }
  return static_cast<std::uint32_t>(value);
}

// Scales of 1: the integers stand for themselves.
std::optional<Tensor> unit_scale(const Tensor& tensor, const std::string& name) {
  if (tensor.dtype != DType::kI8) return std::nullopt;
  Tensor scale;
  scale.name = name;
  scale.shape = {tensor.shape[0], tensor.shape[2]};
  const std::vector<float> ones(scale.elements(), 1.0F);
  scale.bytes.resize(ones.size() * sizeof(float));
  std::memcpy(scale.bytes.data(), ones.data(), scale.bytes.size());
  return scale;
}

}  // namespace

Trace load_npy_trace(const std::string& query_path, const std::string& key_path,
                     const std::string& value_path, std::optional<double> softmax_scale) {
  const std::string cache_shape = "[kv_heads, keys, head_dimension]";
  TraceLayer layer;
  layer.query = read_named(query_path, "query", 2, "[query_heads, head_dimension]");
  if (layer.query.dtype == DType::kI8) {
    throw input_error(shown(query_path), "descr", "got \"|i1\"", "'<f4', '<f2' for a query");
  }
  constexpr std::uint64_t kHeads = 65536;
  Trace trace;
  trace.path = query_path;
  trace.kind = "arrays";
  trace.query_heads = extent(query_path, layer.query, 0, "query heads", 1, kHeads);
  trace.head_dimension =
      extent(query_path, layer.query, 1, "a head dimension", 1, arithmetic::kMaxHeadDimension);

  layer.key = read_named(key_path, "key", 3, cache_shape);
  trace.kv_heads = extent(key_path, layer.key, 0, "KV heads", 1, kHeads);
  trace.context_length = extent(key_path, layer.key, 1, "keys", 0, arithmetic::kMaxContext);
  extent(key_path, layer.key, 2, "the query's head dimension,", trace.head_dimension,
         trace.head_dimension);
  if (trace.query_heads % trace.kv_heads != 0 || trace.group() > arithmetic::kMaxGroup) {
    throw input_error(shown(key_path), "shape", "got " + shape_text(layer.key.shape),
                      fmt::format("KV heads that the {} query heads are 1 to {} times of",
                                  trace.query_heads, arithmetic::kMaxGroup));
  }
  layer.value = read_named(value_path, "value", 3, cache_shape);
  if (layer.value.shape != layer.key.shape) {
    throw input_error(shown(value_path), "shape", "got " + shape_text(layer.value.shape),
                      shape_text(layer.key.shape) + ", the key's");
  }

  trace.decode_position = std::max(trace.context_length, 1U) - 1;
  trace.softmax_scale =
      softmax_scale.value_or(1.0 / std::sqrt(static_cast<double>(trace.head_dimension)));
  if (!std::isfinite(trace.softmax_scale) || trace.softmax_scale <= 0.0) {
    throw input_error("softmax scale", "", fmt::format("got {}", trace.softmax_scale),
                      "a number, finite and above 0");
  }
  layer.key_scale = unit_scale(layer.key, "key_scale");
  layer.value_scale = unit_scale(layer.value, "value_scale");
  TraceLayerInfo info;
  info.keys = trace.context_length;
  info.key_dtype = layer.key.dtype;
  info.value_dtype = layer.value.dtype;
  trace.contents.push_back(info);
  trace.layers.push_back(std::move(layer));
  return trace;
}

}  // namespace santa::tensor
