// Traces: queries, keys and values of one decode step, the input of the simulator. docs/traces.md
// specifies the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "santa/tensor/safetensors.hpp"
#include "santa/tensor/tensor.hpp"

namespace santa::tensor {

// Ranges beyond those of santa/arithmetic/limits.hpp.
inline constexpr std::uint32_t kMaxKvHeads = 4096;
inline constexpr std::uint32_t kMaxLayerIndex = 65535;

// What the header states about one layer.
struct TraceLayerInfo {
  std::uint32_t index = 0;
  std::uint32_t context = 0;         // keys of this layer; fewer than the trace's under a window
  std::uint32_t first_position = 0;  // position of the first key, in tokens
  std::optional<std::uint32_t> sliding_window;  // tokens, the current one included
  std::optional<double> logit_softcap;          // the model's; not applied to anything in the file
  DType key_dtype = DType::kF32;
  DType value_dtype = DType::kF32;
  bool has_output = false;
};

enum class TraceKind {
  kCaptured,   // from a model
  kSynthetic,  // made up
  kArrays,     // .npy files, which state nothing
};

// What a trace states about itself. Texts are as in the file: escape them before printing.
struct TraceInfo {
  std::string path;  // of the file; of the query for arrays
  TraceKind kind = TraceKind::kArrays;
  std::string model;
  std::string model_licence;
  std::string model_source;  // may be empty
  std::string text;
  std::string text_licence;
  Metadata metadata;  // everything stated, these fields included

  std::uint32_t query_heads = 0;  // group() * kv_heads
  std::uint32_t kv_heads = 0;
  std::uint32_t head_dimension = 0;
  std::uint32_t context_length = 0;    // tokens, the current one included; may be 0
  std::uint32_t decode_position = 0;   // of the current token; 0 without context
  double softmax_scale = 0.0;          // factor of q.k before the softmax, finite, > 0
  std::vector<TraceLayerInfo> layers;  // rising index

  // Query heads that share a KV head: query head h uses KV head h / group().
  std::uint32_t group() const { return query_heads / kv_heads; }
};

// The tensors of one layer. All values are finite.
struct TraceLayer {
  TraceLayerInfo info;
  std::vector<float> query;        // [query_heads][head_dimension]
  Tensor key;                      // [kv_heads, context, head_dimension], in the stored type
  Tensor value;                    // the same shape
  std::vector<float> output;       // [query_heads][head_dimension], the model's own; may be empty
  std::vector<float> key_scale;    // [kv_heads][head_dimension] if key is I8, else empty
  std::vector<float> value_scale;  // the same for value; powers of two

  // Real values of tokens first .. first + count - 1 of one KV head, [count][head_dimension], to
  // `out`; of an I8 tensor integer times scale, rounded once. std::out_of_range beyond the context.
  void key_rows(std::uint32_t kv_head, std::uint32_t first, std::uint32_t count, float* out) const;
  void value_rows(std::uint32_t kv_head, std::uint32_t first, std::uint32_t count,
                  float* out) const;

  // Real values of a whole KV head, [context][head_dimension].
  std::vector<float> key_head(std::uint32_t kv_head) const;
  std::vector<float> value_head(std::uint32_t kv_head) const;

  // Integers of a whole KV head of an I8 tensor, [context][head_dimension]; std::invalid_argument
  // for other types.
  const std::int8_t* key_integers(std::uint32_t kv_head) const;
  const std::int8_t* value_integers(std::uint32_t kv_head) const;
};

struct Trace {
  TraceInfo info;
  std::vector<TraceLayer> layers;  // in the order of info.layers
};

// A trace file whose layers are read one by one. The constructor checks everything but the values:
// every stated number is held against the tensors' shapes. Tensors and metadata that the format
// does not know are ignored. Throws InputError as SafetensorsFile does.
class TraceFile {
 public:
  explicit TraceFile(const std::string& path);

  const TraceInfo& info() const { return info_; }

  // Reads a layer into the default order of axes and checks its values. Throws InputError if the
  // trace has no such layer.
  TraceLayer load_layer(std::uint32_t index) const;

 private:
  Tensor load(const std::string& name, const char* role) const;

  SafetensorsFile file_;
  TraceInfo info_;
};

// Reads a whole trace, or the layers named; info.layers then lists those alone. Throws InputError.
Trace load_trace(const std::string& path);
Trace load_trace(const std::string& path, const std::vector<std::uint32_t>& layers);

// One layer, number 0, from three .npy files: query [query_heads, head_dimension], key and value
// [kv_heads, context, head_dimension]. An array of |i1 holds the integers that it states: its
// scales are 1. Without a softmax scale it is head_dimension^-0.5. Throws InputError.
Trace load_npy_trace(const std::string& query_path, const std::string& key_path,
                     const std::string& value_path,
                     std::optional<double> softmax_scale = std::nullopt);

}  // namespace santa::tensor
