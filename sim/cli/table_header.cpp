#include "table_header.hpp"

#include <fmt/format.h>

#include "santa/attention/scheme.hpp"
#include "santa/config/message_text.hpp"
#include "text.hpp"

namespace santa::cli {
namespace {

constexpr std::size_t kIndent = 10;

std::string entry(const char* label, const std::string& text) {
  // Two spaces in the label's place, so that wrapped() keeps the indent.
  std::string lines = wrapped(std::string(kIndent, ' ') + text, kIndent);
  const std::string name(label);
  return lines.replace(0, name.size(), name);
}

std::string layers_text(const InputSummary& input) {
  std::string text = input.layers.size() == 1
                         ? fmt::format("layer {}", input.layers.front())
                         : fmt::format("layers {}", fmt::join(input.layers, ","));
  if (input.model_layers) {
    text += fmt::format(" ({} of {} layers)", input.layers.size(), *input.model_layers);
  }
  return text;
}

std::string input_text(const InputSummary& input) {
  std::string text = input.synthetic ? "SYNTHETIC, no model's data: " : "REAL: ";
  if (!input.model.empty()) text += input.model + ", ";
  text += fmt::format("{}, {} tokens, {} query heads over {} KV heads of {} features",
                      layers_text(input), grouped(input.shape.context), input.shape.query_heads,
                      input.shape.kv_heads, input.shape.head_dimension);
  return text;
}

std::string source_text(const InputSummary& input) {
  std::string text = input.source;
  if (!input.sha256.empty()) text += fmt::format(", sha256 {}...", input.sha256.substr(0, 12));
  if (!input.model_licence.empty()) text += fmt::format("; model licence: {}", input.model_licence);
  if (!input.text.empty()) text += fmt::format("; text: {}", input.text);
  if (!input.text_licence.empty()) text += fmt::format(" ({})", input.text_licence);
  return text;
}

std::string unit_text(const RunOptions& options) {
  const attention::DecodeOptions& decode = options.decode;
  switch (decode.values) {
    case attention::ValueScheme::kDense:
      return "dense int8 multiply-accumulate unit; no sampled unit in this run";
    case attention::ValueScheme::kTopK:
      return fmt::format("top-k unit, {} rows a query head; no sampled unit in this run",
                         decode.samples);
    default:
      break;
  }
  std::string text = fmt::format("adders only, {} values of {} draws a query head, {} scores",
                                 attention::to_string(decode.values), decode.samples,
                                 attention::to_string(decode.scores));
  if (attention::is_bernoulli(decode.scores)) {
    text += fmt::format(" of {} draws a feature", decode.bernoulli_draws);
  }
  return text + fmt::format(", seed {}, step {}", options.seed, options.step);
}

}  // namespace

std::string make_table_header(const RunResult& run) {
  const energy::EnergyReport& energy = run.units[run.main_unit].energy;
  std::string text = entry("input", input_text(run.input));
  text += entry("source", source_text(run.input));
  for (const std::string& note : run.input.notes) text += entry("note", note);
  if (run.reference_to_model) {
    text += entry("check", fmt::format("float64 attention of the trace is within {:.2e} (rel. L2) "
                                       "of the model's own output",
                                       *run.reference_to_model));
  }
  const config::HardwareConfig& hardware = run.hardware;
  text +=
      entry("hardware", fmt::format("{} (hash {}), {} MHz, {}{}", hardware.name, hardware.hash(),
                                    hardware.clock_mhz, config::name_of(hardware.memory.kind),
                                    hardware.dram ? " by the timing " + hardware.dram->name : ""));
  text += entry("unit", unit_text(run.options));
  text += entry("energy", fmt::format("pack {}: {}", energy.pack_name, energy.scope));
  text += entry("error", "against float64 softmax attention over the real tensors");
  return text;
}

}  // namespace santa::cli
