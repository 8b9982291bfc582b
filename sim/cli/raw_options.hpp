// The options of `santasim run` as text, before they are checked. Private to the option parser.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "options.hpp"

namespace santa::cli {

using OptionText = std::optional<std::string>;

struct RawRunOptions {
  std::string config = "edge-lpddr5";
  std::vector<std::string> set;
  OptionText trace;
  OptionText query;
  OptionText key;
  OptionText value;
  OptionText scale;
  OptionText model;
  OptionText synthetic;
  OptionText query_heads;
  OptionText kv_heads;
  OptionText head_dimension;
  OptionText context;
  OptionText layers;
  OptionText data_seed;
  OptionText values;
  OptionText scores;
  OptionText samples;
  OptionText bernoulli;
  OptionText top_k;
  OptionText seed;
  OptionText step;
  OptionText json;
  OptionText timeline;
  bool tsv = false;
  bool no_baselines = false;
};

// Numbers, names and contradictions. Throws InputError.
RunOptions check_run_options(const RawRunOptions& raw);

}  // namespace santa::cli
