#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "raw_options.hpp"
#include "santa/arithmetic/limits.hpp"
#include "santa/attention/scheme.hpp"
#include "santa/config/message_text.hpp"
#include "santa/error.hpp"

namespace santa::cli {

InputError got(const char* option, const std::string& text, const std::string& allowed) {
  return input_error(option, "", "got " + config::in_quotes(text), allowed);
}

std::uint64_t parse_integer(const char* option, const std::string& text, std::uint64_t min,
                            std::uint64_t max, const std::string& kind) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || rest != end || value < min || value > max) {
    throw got(option, text, fmt::format("{} from {} to {}", kind, min, max));
  }
  return value;
}

std::string shell_word(const std::string& text) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:=+-";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

namespace {

constexpr std::uint32_t kMaxHeads = 1024;
constexpr std::uint32_t kMaxLayers = 1024;

std::uint32_t parse_u32(const char* option, const OptionText& text, std::uint32_t min,
                        std::uint32_t max, std::uint32_t otherwise) {
  if (!text) return otherwise;
  return static_cast<std::uint32_t>(parse_integer(option, *text, min, max));
}

std::uint32_t parse_power_of_two(const char* option, const std::string& text, std::uint32_t max) {
  const std::string kind = "a power of two";
  const auto value = static_cast<std::uint32_t>(parse_integer(option, text, 1, max, kind));
  if ((value & (value - 1)) != 0)
    throw got(option, text, fmt::format("{} from 1 to {}", kind, max));
  return value;
}

double parse_scale(const std::string& text) {
  // strtod reads more than decimal numbers: refuse what has other characters.
  const bool plain = text.find_first_not_of("0123456789.eE+-") == std::string::npos;
  char* end = nullptr;
  errno = 0;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || !plain || *end != '\0' || errno == ERANGE || !(value > 0.0) ||
      !std::isfinite(value)) {
    throw got("--scale", text, "a decimal number from 2.3e-308 to 1.7e308");
  }
  return value;
}

template <typename Scheme, typename Names>
Scheme parse_scheme(const char* option, const std::string& text, const Names& names) {
  std::vector<std::string> allowed;
  for (const auto& entry : names) {
    if (entry.name == text) return static_cast<Scheme>(entry.value);
    allowed.emplace_back(entry.name);
  }
  throw got(option, text, config::joined(allowed));
}

// An option that this run would not use.
void refuse_unused(const char* option, const OptionText& text, bool used, const char* needs) {
  if (text && !used) {
    throw input_error(option, "", "has no effect in this run", needs);
  }
}

InputKind input_kind(const RawRunOptions& raw) {
  struct Choice {
    const char* name;
    bool given;
    InputKind kind;
  };
  const Choice choices[] = {
      {"--trace", raw.trace.has_value(), InputKind::kTrace},
      {"--query, --key, --value", raw.query || raw.key || raw.value, InputKind::kArrays},
      {"--model", raw.model.has_value(), InputKind::kModel},
      {"--synthetic", raw.synthetic.has_value(), InputKind::kSynthetic},
  };
  const Choice* first = nullptr;
  for (const Choice& choice : choices) {
    if (!choice.given) continue;
    if (first != nullptr) {
      throw input_error(choice.name, "", fmt::format("contradicts {}", first->name),
                        "one source of input");
    }
    first = &choice;
  }
  return first == nullptr ? InputKind::kShippedTrace : first->kind;
}

std::vector<std::uint32_t> parse_layer_list(const std::string& text) {
  std::vector<std::uint32_t> layers;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t comma = text.find(',', begin);
    const std::string item = text.substr(begin, comma - begin);
    std::uint64_t layer = 0;
    const auto [rest, error] = std::from_chars(item.data(), item.data() + item.size(), layer);
    if (item.empty() || error != std::errc() || rest != item.data() + item.size() ||
        layer > std::numeric_limits<std::uint32_t>::max() ||
        (!layers.empty() && layer <= layers.back())) {
      throw got("--layers", text, "rising layer indices with commas, such as 0,13");
    }
    layers.push_back(static_cast<std::uint32_t>(layer));
    if (comma == std::string::npos) return layers;
    begin = comma + 1;
  }
}

void check_input(const RawRunOptions& raw, InputOptions& input) {
  input.kind = input_kind(raw);
  const bool arrays = input.kind == InputKind::kArrays;
  const bool synthetic = input.kind == InputKind::kSynthetic;
  const bool generated = synthetic || input.kind == InputKind::kModel;
  if (arrays) {
    const std::pair<const char*, const OptionText*> parts[] = {
        {"--query", &raw.query}, {"--key", &raw.key}, {"--value", &raw.value}};
    for (const auto& [name, text] : parts) {
      if (!*text) throw input_error(name, "", "is missing", "--query, --key and --value together");
    }
    input.query = *raw.query;
    input.key = *raw.key;
    input.value = *raw.value;
  }
  refuse_unused("--scale", raw.scale, arrays, "with --query, --key and --value");
  refuse_unused("--query-heads", raw.query_heads, synthetic, "with --synthetic");
  refuse_unused("--kv-heads", raw.kv_heads, synthetic, "with --synthetic");
  refuse_unused("--head-dimension", raw.head_dimension, synthetic, "with --synthetic");
  refuse_unused("--context", raw.context, generated, "with --synthetic or --model");
  refuse_unused("--data-seed", raw.data_seed, generated, "with --synthetic or --model");
  refuse_unused("--layers", raw.layers, !arrays, "with --trace, --model or --synthetic");
  const std::pair<const char*, const OptionText*> files[] = {{"--trace", &raw.trace},
                                                             {"--query", &raw.query},
                                                             {"--key", &raw.key},
                                                             {"--value", &raw.value},
                                                             {"--model", &raw.model}};
  for (const auto& [name, text] : files) {
    if (*text && (*text)->empty()) throw got(name, "", "the path of a file");
  }
  if (raw.trace) input.trace = *raw.trace;
  if (raw.scale) input.scale = parse_scale(*raw.scale);
  if (raw.model) input.model = *raw.model;
  if (raw.synthetic) {
    if (*raw.synthetic == "needle") {
      input.synthetic = SyntheticData::kNeedle;
    } else if (*raw.synthetic != "gaussian") {
      throw got("--synthetic", *raw.synthetic, "gaussian, needle");
    }
  }
  input.shape.query_heads = parse_u32("--query-heads", raw.query_heads, 1, kMaxHeads, 32);
  input.shape.kv_heads = parse_u32("--kv-heads", raw.kv_heads, 1, kMaxHeads, 8);
  input.shape.head_dimension =
      parse_u32("--head-dimension", raw.head_dimension, 1, arithmetic::kMaxHeadDimension, 128);
  input.shape.context = parse_u32("--context", raw.context, 1, arithmetic::kMaxContext, 4096);
  if (input.shape.query_heads % input.shape.kv_heads != 0) {
    throw input_error("--kv-heads", "", fmt::format("got {}", input.shape.kv_heads),
                      fmt::format("a divisor of --query-heads {}", input.shape.query_heads));
  }
  if (raw.data_seed) {
    input.data_seed =
        parse_integer("--data-seed", *raw.data_seed, 1, std::numeric_limits<std::uint64_t>::max());
  }
  if (raw.layers && generated) {
    input.layer_count = parse_u32("--layers", raw.layers, 1, kMaxLayers, 1);
  } else if (raw.layers) {
    input.layers = parse_layer_list(*raw.layers);
  }
}

void check_schemes(const RawRunOptions& raw, RunOptions& options) {
  using attention::ScoreScheme;
  using attention::ValueScheme;
  attention::DecodeOptions& decode = options.decode;
  if (raw.values) {
    decode.values =
        parse_scheme<ValueScheme>("--values", *raw.values, attention::kValueSchemeNames);
  }
  if (raw.scores) {
    decode.scores =
        parse_scheme<ScoreScheme>("--scores", *raw.scores, attention::kScoreSchemeNames);
  }
  if (!attention::is_sampled(decode.values) && decode.scores != ScoreScheme::kExact) {
    throw input_error("--scores", "", "got " + config::in_quotes(*raw.scores),
                      fmt::format("exact, for the {} unit computes every score",
                                  attention::to_string(decode.values)));
  }
  const bool topk_runs = options.baselines || decode.values == ValueScheme::kTopK;
  refuse_unused("--bernoulli", raw.bernoulli, attention::is_bernoulli(decode.scores),
                "with --scores bernoulli, bernoulli-iid or bernoulli-group");
  refuse_unused("--top-k", raw.top_k, topk_runs, "with the top-k unit, less --no-baselines");
  refuse_unused("--samples", raw.samples,
                attention::is_sampled(decode.values) || (topk_runs && !raw.top_k),
                "with a sampled unit, or with the top-k unit where --top-k is not given");
  // Only the sampled unit draws.
  const bool draws = attention::is_sampled(decode.values);
  refuse_unused("--seed", raw.seed, draws, "with a sampled unit: --values santa, strat or sys");
  refuse_unused("--step", raw.step, draws, "with a sampled unit: --values santa, strat or sys");
  if (raw.samples) {
    decode.samples = parse_power_of_two("--samples", *raw.samples, arithmetic::kMaxSamples);
  }
  if (raw.bernoulli) {
    decode.bernoulli_draws =
        parse_power_of_two("--bernoulli", *raw.bernoulli, arithmetic::kMaxBernoulliDraws);
  }
  options.top_k = parse_u32("--top-k", raw.top_k, 1, arithmetic::kMaxSamples, decode.samples);
  if (decode.values == ValueScheme::kTopK) decode.samples = options.top_k;
  attention::check_options(decode);
}

void check_dram_trace(const RawRunOptions& raw, RunOptions& options) {
  refuse_unused("--dram-trace-format", raw.dram_trace_format, raw.dram_trace.has_value(),
                "with --dram-trace");
  if (!raw.dram_trace) return;
  if (raw.dram_trace->empty() || *raw.dram_trace == "-") {
    throw got("--dram-trace", *raw.dram_trace, "a file");
  }
  options.dram_trace = *raw.dram_trace;
  const std::string format = raw.dram_trace_format.value_or("dramsim3");
  if (format == "ramulator2") {
    options.dram_trace_format = DramTraceFormat::kRamulator2;
  } else if (format != "dramsim3") {
    throw got("--dram-trace-format", format, "dramsim3, ramulator2");
  }
}

}  // namespace

std::vector<config::Override> parse_overrides(const std::vector<std::string>& assignments) {
  std::vector<config::Override> overrides;
  for (const std::string& assignment : assignments) {
    const config::Override change = config::parse_override(assignment);
    for (const config::Override& earlier : overrides) {
      if (earlier.key == change.key) {
        throw input_error("--set", change.key, "is set twice", "each key once");
      }
    }
    overrides.push_back(change);
  }
  return overrides;
}

RunOptions check_run_options(const RawRunOptions& raw) {
  RunOptions options;
  options.config = raw.config;
  options.overrides = parse_overrides(raw.set);
  options.baselines = !raw.no_baselines;
  options.tsv = raw.tsv;
  check_input(raw, options.input);
  check_schemes(raw, options);
  constexpr std::uint64_t kMaxSeed = std::numeric_limits<std::uint64_t>::max();
  if (raw.seed) options.seed = parse_integer("--seed", *raw.seed, 1, kMaxSeed);
  if (raw.step) options.step = parse_integer("--step", *raw.step, 0, kMaxSeed);
  if (raw.json) options.json = *raw.json;
  if (raw.timeline) options.timeline = *raw.timeline;
  if (raw.json && raw.json->empty()) throw got("--json", "", "a file, or - for standard output");
  if (raw.timeline && (raw.timeline->empty() || *raw.timeline == "-")) {
    throw got("--timeline", *raw.timeline, "a file");
  }
  check_dram_trace(raw, options);
  if (options.tsv && options.json == "-") {
    throw input_error("--tsv", "", "contradicts --json -", "one of them on standard output");
  }
  return options;
}

std::string RunOptions::command() const {
  std::string text = "santasim run --config " + shell_word(config);
  const auto add = [&](const char* option, const std::string& value) {
    text += fmt::format(" {} {}", option, shell_word(value));
  };
  const auto add_number = [&](const char* option, std::uint64_t value) {
    add(option, std::to_string(value));
  };
  for (const config::Override& change : overrides) add("--set", change.key + "=" + change.value);
  switch (input.kind) {
    case InputKind::kShippedTrace:
      break;
    case InputKind::kTrace:
      add("--trace", input.trace);
      break;
    case InputKind::kArrays:
      add("--query", input.query);
      add("--key", input.key);
      add("--value", input.value);
      if (input.scale) add("--scale", fmt::format("{}", *input.scale));
      break;
    case InputKind::kModel:
      add("--model", input.model);
      break;
    case InputKind::kSynthetic:
      add("--synthetic", input.synthetic == SyntheticData::kNeedle ? "needle" : "gaussian");
      add_number("--query-heads", input.shape.query_heads);
      add_number("--kv-heads", input.shape.kv_heads);
      add_number("--head-dimension", input.shape.head_dimension);
      break;
  }
  if (input.kind == InputKind::kModel || input.kind == InputKind::kSynthetic) {
    add_number("--context", input.shape.context);
    add_number("--layers", input.layer_count);
    add_number("--data-seed", input.data_seed);
  } else if (!input.layers.empty()) {
    add("--layers", fmt::format("{}", fmt::join(input.layers, ",")));
  }
  add("--values", std::string(attention::to_string(decode.values)));
  if (attention::is_sampled(decode.values)) {
    add("--scores", std::string(attention::to_string(decode.scores)));
    if (attention::is_bernoulli(decode.scores)) add_number("--bernoulli", decode.bernoulli_draws);
    add_number("--samples", decode.samples);
  }
  if (baselines || decode.values == attention::ValueScheme::kTopK) add_number("--top-k", top_k);
  if (attention::is_sampled(decode.values)) {
    add_number("--seed", seed);
    add_number("--step", step);
  }
  if (!baselines) text += " --no-baselines";
  return text;
}

}  // namespace santa::cli
