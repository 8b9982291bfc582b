#include "recorded_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "santa/config/message_text.hpp"
#include "santa/error.hpp"
#include "santa/tensor/trace.hpp"
#include "sha256.hpp"

namespace santa::cli {
namespace {

using tensor::DType;
using tensor::TraceHeader;
using tensor::TraceLayer;
using tensor::TraceLayerInfo;

void append(std::vector<float>& all, const std::vector<float>& head) {
  all.insert(all.end(), head.begin(), head.end());
}

InputLayer convert(const TraceHeader& header, const TraceLayer& layer) {
  InputLayer result;
  result.index = layer.layer;
  attention::LayerTensors& tensors = result.tensors;
  tensors.shape = {header.query_heads, header.kv_heads, header.head_dimension, layer.keys()};
  tensors.softmax_scale = header.softmax_scale;
  tensors.query = tensor::query_floats(layer);
  tensors.key.reserve(layer.key.elements());
  tensors.value.reserve(layer.value.elements());
  for (std::uint32_t head = 0; head < header.kv_heads; ++head) {
    append(tensors.key, tensor::key_head(layer, head));
    append(tensors.value, tensor::value_head(layer, head));
  }
  if (layer.output) result.output = layer.output->to_floats();
  if (layer.key.dtype == DType::kI8 && layer.value.dtype == DType::kI8) {
    const std::int8_t* key = layer.key.int8_data();
    const std::int8_t* value = layer.value.int8_data();
    result.integers = IntegerCache{{key, key + layer.key.elements()},
                                   {value, value + layer.value.elements()},
                                   layer.key_scale.value().to_floats(),
                                   layer.value_scale.value().to_floats()};
  }
  return result;
}

std::vector<std::string> notes_of(const TraceHeader& header,
                                  const std::vector<TraceLayerInfo>& layers) {
  std::vector<std::string> notes;
  for (const TraceLayerInfo& layer : layers) {
    if (layer.keys != header.context_length) {
      notes.push_back(fmt::format("layer {} attends to {} of {} tokens", layer.layer, layer.keys,
                                  header.context_length));
    }
    const auto cap = header.metadata.find(fmt::format("layers.{}.logit_softcap", layer.layer));
    if (cap != header.metadata.end()) {
      notes.push_back(fmt::format("layer {}: the model caps its logits at {}; nothing here does",
                                  layer.layer, config::escaped(cap->second)));
    }
  }
  return notes;
}

InputSummary summarize(const TraceHeader& header, const std::vector<TraceLayerInfo>& layers) {
  InputSummary summary;
  summary.synthetic = header.kind == "synthetic";
  summary.model = config::escaped(header.model);
  summary.model_licence = config::escaped(header.model_licence);
  summary.text = config::escaped(header.text);
  summary.text_licence = config::escaped(header.text_licence);
  summary.softmax_scale = header.softmax_scale;
  summary.shape = {header.query_heads, header.kv_heads, header.head_dimension, 0};
  for (const TraceLayerInfo& layer : layers) {
    summary.layers.push_back(layer.layer);
    summary.shape.context = std::max(summary.shape.context, layer.keys);
  }
  summary.notes = notes_of(header, layers);
  return summary;
}

// The layers that were asked for, all if none was.
std::vector<TraceLayerInfo> choose(const TraceHeader& header,
                                   const std::vector<std::uint32_t>& wanted) {
  if (wanted.empty()) return header.contents;
  std::vector<TraceLayerInfo> chosen;
  std::vector<std::string> known;
  for (const TraceLayerInfo& layer : header.contents) known.push_back(std::to_string(layer.layer));
  for (const std::uint32_t index : wanted) {
    const auto layer = std::find_if(header.contents.begin(), header.contents.end(),
                                    [&](const auto& entry) { return entry.layer == index; });
    if (layer == header.contents.end()) {
      throw input_error("--layers", "",
                        fmt::format("layer {} is not in {}", index, config::in_quotes(header.path)),
                        config::joined(known));
    }
    chosen.push_back(*layer);
  }
  return chosen;
}

}  // namespace

Input open_trace(const std::string& path, const std::vector<std::uint32_t>& layers) {
  const auto header = std::make_shared<const TraceHeader>(tensor::read_trace_header(path));
  const std::vector<TraceLayerInfo> chosen = choose(*header, layers);
  Input input;
  input.summary = summarize(*header, chosen);
  input.summary.kind = "trace";
  input.summary.source = config::escaped(path);
  input.summary.sha256 = sha256_of_file(path);
  for (const TraceLayerInfo& layer : chosen) {
    input.layers.emplace_back([header, path, index = layer.layer] {
      return convert(*header, tensor::load_trace(path, {index}).layers.front());
    });
  }
  return input;
}

Input open_arrays(const InputOptions& options) {
  const auto trace = std::make_shared<const tensor::Trace>(
      tensor::load_npy_trace(options.query, options.key, options.value, options.scale));
  Input input;
  input.summary = summarize(*trace, trace->contents);
  input.summary.kind = "arrays";
  const TraceLayer& layer = trace->layers.front();
  if (layer.key.dtype == DType::kI8 || layer.value.dtype == DType::kI8) {
    input.summary.notes.emplace_back("int8 arrays have a scale of 1: the numbers are the values");
  }
  input.summary.source = fmt::format("{}, {}, {}", config::escaped(options.query),
                                     config::escaped(options.key), config::escaped(options.value));
  Sha256 hash;
  for (const std::string& path : {options.query, options.key, options.value}) {
    update_from_file(hash, path);
  }
  input.summary.sha256 = hash.finish();
  input.layers.emplace_back([trace] { return convert(*trace, trace->layers.front()); });
  return input;
}

}  // namespace santa::cli
