// Traces: what the attention of a model saw at one decode step (docs/traces.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "santa/tensor/safetensors.hpp"
#include "santa/tensor/tensor.hpp"

namespace santa::tensor {

// What the header states of one layer.
struct TraceLayerInfo {
  std::uint32_t layer = 0;
  std::uint32_t keys = 0;                       // tokens in this layer, at most context_length
  std::optional<std::uint64_t> sliding_window;  // tokens, >= 1; keys do not exceed it
  DType key_dtype = DType::kF32;
  DType value_dtype = DType::kF32;
  bool has_output = false;
};

// What a trace states of itself, held against the shapes of its tensors. The texts are as in the
// file: escape them where they are shown.
struct TraceHeader {
  std::string path;   // of arrays: the query's
  Metadata metadata;  // everything that was stated; empty for arrays
  std::string kind;   // "captured" or "synthetic"; "arrays" for .npy files
  std::string model;
  std::string model_licence;
  std::string text;
  std::string text_licence;
  std::uint32_t query_heads = 0;         // kv_heads * group()
  std::uint32_t kv_heads = 0;            // >= 1
  std::uint32_t head_dimension = 0;      // 1..1024
  std::uint32_t context_length = 0;      // tokens, 0..2^20
  double softmax_scale = 0.0;            // finite, > 0
  std::uint32_t decode_position = 0;     // context_length - 1; 0 without context
  std::vector<TraceLayerInfo> contents;  // all layers of the file, rising

  // Query heads of one KV head, 1..16: query head h uses KV head h / group().
  std::uint32_t group() const { return query_heads / kv_heads; }
};

// One layer, every tensor finite and in the default order of axes.
struct TraceLayer {
  std::uint32_t layer = 0;
  Tensor query;                       // [query_heads, head_dimension]; F32, F16, BF16
  Tensor key;                         // [kv_heads, keys, head_dimension], oldest token first
  Tensor value;                       // as the key
  std::optional<Tensor> output;       // F32 [query_heads, head_dimension], the model's own
  std::optional<Tensor> key_scale;    // F32 [kv_heads, head_dimension], >= 0, with an I8 key
  std::optional<Tensor> value_scale;  // F32 [kv_heads, head_dimension], > 0, with an I8 value
  std::optional<std::uint64_t> sliding_window;

  std::uint32_t keys() const { return static_cast<std::uint32_t>(key.shape[1]); }
};

struct Trace : TraceHeader {
  std::vector<TraceLayer> layers;  // those that were loaded, rising
};

// Reads and checks the header alone: a fast look at a large file. Throws InputError of one line
// that names the file, the key or tensor, what was found and what is allowed.
TraceHeader read_trace_header(const std::string& path);

// Reads the layers named, in any order; all of them if none is named. Throws InputError as above,
// for a layer that is not in the file, and for the first value that is not finite.
Trace load_trace(const std::string& path, const std::vector<std::uint32_t>& layers = {});

// One layer, numbered 0, from three .npy files of the shapes and orders above. The scale is
// head_dimension^-0.5 if none is given. An integer key or value array stands for the integers
// themselves: its scales are 1. Throws InputError.
Trace load_npy_trace(const std::string& query_path, const std::string& key_path,
                     const std::string& value_path,
                     std::optional<double> softmax_scale = std::nullopt);

// Real values of one KV head, [keys][head_dimension]; of an I8 tensor integer * scale, rounded once
// to float. Throw std::out_of_range from kv_heads on.
std::vector<float> key_head(const TraceLayer& layer, std::uint32_t kv_head);
std::vector<float> value_head(const TraceLayer& layer, std::uint32_t kv_head);

// Real values of the queries, [query_heads][head_dimension].
std::vector<float> query_floats(const TraceLayer& layer);

// Integers of one KV head, [keys][head_dimension], owned by the layer. Throw std::out_of_range from
// kv_heads on and std::logic_error if the tensor is not I8.
const std::int8_t* key_integers(const TraceLayer& layer, std::uint32_t kv_head);
const std::int8_t* value_integers(const TraceLayer& layer, std::uint32_t kv_head);

}  // namespace santa::tensor
