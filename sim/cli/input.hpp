// Where queries, keys and values come from: a trace, .npy files, or a generator.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "options.hpp"
#include "output_file.hpp"
#include "santa/attention/synthetic.hpp"

namespace santa::cli {

// Keys and values that a trace holds as integers already.
struct IntegerCache {
  std::vector<std::int8_t> key;    // [kv_heads][context][head_dimension]
  std::vector<std::int8_t> value;  // the same
  std::vector<float> key_scale;    // [kv_heads][head_dimension]
  std::vector<float> value_scale;  // the same, powers of two
};

struct InputLayer {
  std::uint32_t index = 0;
  attention::LayerTensors tensors;  // real values, whatever the file holds
  std::optional<IntegerCache> integers;
  std::vector<float> output;  // [query_heads][head_dimension], the model's own; may be empty
};

// What the results say about their input.
struct InputSummary {
  bool synthetic = false;
  std::string kind;    // "trace", "arrays", "model shape", "gaussian", "needle"
  std::string model;   // empty where there is none
  std::string source;  // path or paths, name of the shipped trace, or what generated the data
  std::string sha256;  // of the file, or of the three files one after another; empty if generated
  std::string model_licence;
  std::string text;
  std::string text_licence;
  std::vector<std::uint32_t> layers;          // indices that are simulated
  std::optional<std::uint32_t> model_layers;  // layers of the whole model, where known
  attention::LayerShape shape;                // of the first layer; context: of the longest
  double softmax_scale = 0.0;                 // of the first layer
  std::optional<std::uint64_t> data_seed;
  std::vector<std::string> notes;  // what a reader should know, one sentence each
};

struct Input {
  InputSummary summary;
  // One entry a layer; each call makes the layer anew, so that no more than one need be in memory.
  std::vector<std::function<InputLayer()>> layers;
};

// The files that the options name, for checks of the output paths.
std::vector<NamedPath> input_files(const InputOptions& options);

// Throws InputError.
Input open_input(const InputOptions& options);

}  // namespace santa::cli
