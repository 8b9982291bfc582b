#include "input.hpp"

#include "generated_input.hpp"
#include "recorded_input.hpp"
#include "santa/config/preset.hpp"
#include "shipped_trace.hpp"

namespace santa::cli {

std::vector<NamedPath> input_files(const InputOptions& options) {
  switch (options.kind) {
    case InputKind::kShippedTrace:
      return {{"the shipped trace", find_shipped_trace()}};
    case InputKind::kTrace:
      return {{"--trace", options.trace}};
    case InputKind::kArrays:
      return {{"--query", options.query}, {"--key", options.key}, {"--value", options.value}};
    case InputKind::kModel:
      return {{"--model", config::find_config("models", options.model)}};
    case InputKind::kSynthetic:
      break;
  }
  return {};
}

Input open_input(const InputOptions& options) {
  switch (options.kind) {
    case InputKind::kShippedTrace: {
      Input input = open_trace(find_shipped_trace(), options.layers);
      // Results say the same wherever the program is installed.
      input.summary.source = std::string("the shipped ") + kShippedTrace;
      return input;
    }
    case InputKind::kTrace:
      return open_trace(options.trace, options.layers);
    case InputKind::kArrays:
      return open_arrays(options);
    case InputKind::kModel:
      return open_model_shape(options);
    case InputKind::kSynthetic:
      break;
  }
  return open_synthetic(options);
}

}  // namespace santa::cli
