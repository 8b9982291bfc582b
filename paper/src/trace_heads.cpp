#include "santa/paper/trace_heads.hpp"

#include <utility>

namespace santa::paper {

using attention::Head;
using attention::LayerTensors;

Head trace_head(const tensor::Trace& trace, const tensor::TraceLayer& layer,
                std::uint32_t kv_head) {
  LayerTensors tensors;
  tensors.shape = {trace.group(), 1, trace.head_dimension, layer.keys()};
  tensors.softmax_scale = trace.softmax_scale;
  const std::vector<float> queries = tensor::query_floats(layer);
  const std::size_t size = static_cast<std::size_t>(trace.group()) * trace.head_dimension;
  const auto first = queries.begin() + static_cast<std::ptrdiff_t>(kv_head * size);
  tensors.query.assign(first, first + static_cast<std::ptrdiff_t>(size));
  tensors.key = tensor::key_head(layer, kv_head);
  tensors.value = tensor::value_head(layer, kv_head);
  return Head(std::move(tensors), kTraceTileKeys);
}

Head last_tokens(const Head& head, std::uint32_t context) {
  LayerTensors tensors = head.tensors;
  const std::size_t elements =
      static_cast<std::size_t>(tensors.shape.context - context) * tensors.shape.head_dimension;
  const auto cut = [elements](std::vector<float>& rows) {
    rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(elements));
  };
  cut(tensors.key);
  cut(tensors.value);
  tensors.shape.context = context;
  return Head(std::move(tensors), head.cache.tile_keys);
}

std::vector<TraceHead> trace_heads(const std::string& path) {
  const tensor::Trace trace = tensor::load_trace(path);
  std::vector<TraceHead> heads;
  for (const tensor::TraceLayer& layer : trace.layers) {
    for (std::uint32_t h = 0; h < trace.kv_heads; ++h) {
      heads.push_back({layer.layer, h, trace_head(trace, layer, h)});
    }
  }
  return heads;
}

}  // namespace santa::paper
