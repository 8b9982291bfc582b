// The options of `santasim model` as text. Private to the option parser.
#pragma once

#include "model_options.hpp"
#include "raw_options.hpp"

namespace santa::cli {

struct RawModelOptions {
  std::string model;
  std::string config = "edge-lpddr5";
  std::vector<std::string> set;
  OptionText context;
  OptionText batch;
  OptionText lengths;
  OptionText trace;
  OptionText synthetic;
  OptionText data_seed;
  OptionText methods;
  OptionText values;
  OptionText scores;
  OptionText samples;
  OptionText bernoulli;
  OptionText top_k;
  OptionText seed;
  OptionText step;
  OptionText sample_layers;
  OptionText jobs;
  OptionText json;
  bool tsv = false;
};
CLI::App* add_model(CLI::App& app, RawModelOptions& raw);
ModelOptions check_model_options(const RawModelOptions& raw);

}  // namespace santa::cli
