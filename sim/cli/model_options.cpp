#include "model_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <thread>

#include "raw_model_options.hpp"
#include "santa/arithmetic/limits.hpp"
#include "santa/attention/scheme.hpp"
#include "santa/config/message_text.hpp"

namespace santa::cli {
namespace {

constexpr std::uint32_t kMaxBatch = 64;
constexpr std::uint32_t kMaxLayers = 1024;
constexpr std::uint32_t kMaxJobs = 1024;
constexpr std::uint64_t kMaxSeed = std::numeric_limits<std::uint64_t>::max();

constexpr const char* kModelExamples =
    R"(One decode step of all layers, attention alone: every request of the batch appends a token and
attends to its context. Keys, values and queries are drawn from a trace (docs/models.md).

Examples:
  santasim model llama-3.1-8b                     32,768 tokens on the edge chip
  santasim model llama-3.1-8b --context 131072 --batch 16 --config server-hbm3
  santasim model llama-3.1-8b --lengths 1000,32000,120000 --set system.units=4
  santasim model llama-3.1-8b --context 1048576 --batch 16 --sample-layers 4
  santasim model qwen2.5-coder-1.5b --methods sampled,topk --set system.key_bits=4 --json -
)";

std::uint32_t parse_u32(const char* option, const OptionText& text, std::uint32_t min,
                        std::uint32_t max, std::uint32_t otherwise) {
  return text ? static_cast<std::uint32_t>(parse_integer(option, *text, min, max)) : otherwise;
}

std::uint32_t parse_power_of_two(const char* option, const OptionText& text, std::uint32_t max,
                                 std::uint32_t otherwise) {
  if (!text) return otherwise;
  const auto value =
      static_cast<std::uint32_t>(parse_integer(option, *text, 1, max, "a power of two"));
  if ((value & (value - 1)) != 0) {
    throw got(option, *text, fmt::format("a power of two from 1 to {}", max));
  }
  return value;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t comma = text.find(',', begin);
    parts.push_back(text.substr(begin, comma - begin));
    if (comma == std::string::npos) return parts;
    begin = comma + 1;
  }
}

std::vector<std::uint32_t> parse_lengths(const RawModelOptions& raw) {
  constexpr std::uint32_t kLongest = arithmetic::kMaxContext;
  if (!raw.lengths) {
    const std::uint32_t context = parse_u32("--context", raw.context, 1, kLongest, 32768);
    return std::vector<std::uint32_t>(parse_u32("--batch", raw.batch, 1, kMaxBatch, 1), context);
  }
  if (raw.context || raw.batch) {
    throw input_error("--lengths", "",
                      fmt::format("contradicts {}", raw.context ? "--context" : "--batch"),
                      "--lengths, or --context and --batch");
  }
  const std::vector<std::string> parts = split(*raw.lengths);
  if (parts.size() > kMaxBatch) {
    throw input_error("--lengths", "", fmt::format("got {} requests", parts.size()),
                      fmt::format("1 to {}", kMaxBatch));
  }
  std::vector<std::uint32_t> lengths;
  for (const std::string& part : parts) {
    lengths.push_back(static_cast<std::uint32_t>(
        parse_integer("--lengths", part, 1, kLongest, "integers with commas, each")));
  }
  return lengths;
}

std::vector<Method> parse_methods(const OptionText& text) {
  std::vector<std::string> names;
  for (const MethodName& method : kMethodNames) names.emplace_back(method.name);
  std::vector<bool> chosen(names.size(), !text);
  for (const std::string& part : text ? split(*text) : std::vector<std::string>{}) {
    const auto found = std::find(names.begin(), names.end(), part);
    if (found == names.end()) throw got("--methods", part, config::joined(names));
    const auto index = static_cast<std::size_t>(found - names.begin());
    if (chosen[index]) {
      throw input_error("--methods", "", fmt::format("{} is named twice", part), "each name once");
    }
    chosen[index] = true;
  }
  std::vector<Method> methods;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i]) methods.push_back(static_cast<Method>(i));
  }
  return methods;
}

bool has(const std::vector<Method>& methods, Method method) {
  return std::find(methods.begin(), methods.end(), method) != methods.end();
}

template <typename Scheme, typename Names, typename Allowed>
Scheme parse_scheme(const char* option, const std::string& text, const Names& names,
                    Allowed allowed) {
  std::vector<std::string> shown;
  for (const auto& entry : names) {
    const auto scheme = static_cast<Scheme>(entry.value);
    if (!allowed(scheme)) continue;
    if (entry.name == text) return scheme;
    shown.emplace_back(entry.name);
  }
  throw got(option, text, config::joined(shown));
}

// An option that only methods use which were not asked for.
void refuse_unused(const char* option, const OptionText& text, bool used, const char* needs) {
  if (text && !used) throw input_error(option, "", "has no effect in this run", needs);
}

void check_methods(const RawModelOptions& raw, ModelOptions& options) {
  using attention::ScoreScheme;
  using attention::ValueScheme;
  options.methods = parse_methods(raw.methods);
  const bool bernoulli = has(options.methods, Method::kSampledBernoulli);
  const bool sampled = bernoulli || has(options.methods, Method::kSampled);
  const bool topk = has(options.methods, Method::kTopK);
  const char* any_sampled = "with the method sampled or bernoulli";
  refuse_unused("--values", raw.values, sampled, any_sampled);
  refuse_unused("--samples", raw.samples, sampled || (topk && !raw.top_k),
                "with the method sampled or bernoulli, or with topk where --top-k is not given");
  refuse_unused("--scores", raw.scores, bernoulli, "with the method bernoulli");
  refuse_unused("--bernoulli", raw.bernoulli, bernoulli, "with the method bernoulli");
  refuse_unused("--top-k", raw.top_k, topk, "with the method topk");
  refuse_unused("--seed", raw.seed, sampled, any_sampled);
  attention::DecodeOptions& decode = options.decode;
  decode.scores = ScoreScheme::kBernoulli;
  if (raw.values) {
    decode.values = parse_scheme<ValueScheme>("--values", *raw.values, attention::kValueSchemeNames,
                                              attention::is_sampled);
  }
  if (raw.scores) {
    decode.scores = parse_scheme<ScoreScheme>("--scores", *raw.scores, attention::kScoreSchemeNames,
                                              attention::is_bernoulli);
  }
  decode.samples =
      parse_power_of_two("--samples", raw.samples, arithmetic::kMaxSamples, decode.samples);
  decode.bernoulli_draws = parse_power_of_two(
      "--bernoulli", raw.bernoulli, arithmetic::kMaxBernoulliDraws, decode.bernoulli_draws);
  options.top_k = parse_u32("--top-k", raw.top_k, 1, arithmetic::kMaxSamples, decode.samples);
}

void check_data(const RawModelOptions& raw, InputOptions& data) {
  if (raw.trace && raw.synthetic) {
    throw input_error("--synthetic", "", "contradicts --trace", "one source of data");
  }
  if (raw.trace) {
    if (raw.trace->empty()) throw got("--trace", "", "the path of a file");
    data.kind = InputKind::kTrace;
    data.trace = *raw.trace;
  }
  if (raw.synthetic) {
    if (*raw.synthetic != "gaussian") throw got("--synthetic", *raw.synthetic, "gaussian");
    data.kind = InputKind::kSynthetic;
  }
  if (raw.data_seed) data.data_seed = parse_integer("--data-seed", *raw.data_seed, 1, kMaxSeed);
}

}  // namespace

CLI::App* add_model(CLI::App& app, RawModelOptions& raw) {
  CLI::App* model =
      app.add_subcommand("model", "Simulate a decode step of a whole model, a batch of requests");
  const auto text = [&](const char* group, const char* name, OptionText& target, const char* type,
                        const char* description) {
    model->add_option(name, target, description)->type_name(type)->group(group);
  };
  model->add_option("MODEL", raw.model, "Shape of the model, preset or file")->required();
  const char* load = "Requests";
  text(load, "--context", raw.context, "N", "Tokens of each request, the new one included (32768)");
  text(load, "--batch", raw.batch, "N", "Requests, 1 to 64 (1)");
  text(load, "--lengths", raw.lengths, "L", "Tokens of each request, with commas");
  const char* data = "Keys, values and queries";
  text(data, "--trace", raw.trace, "F", "Draw them from this trace (the shipped one)");
  text(data, "--synthetic", raw.synthetic, "KIND", "gaussian, in place of a trace");
  text(data, "--data-seed", raw.data_seed, "N", "Of that drawing, not of sampling (1)");
  const char* unit = "System";
  model->add_option("--config", raw.config, "Hardware: preset or file (edge-lpddr5)")
      ->type_name("F")
      ->group(unit);
  model->add_option("--set", raw.set, "Change a key of the hardware; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->group(unit);
  text(unit, "--methods", raw.methods, "M",
       "With commas: dense, dense_fp16, topk, sampled, bernoulli (all)");
  text(unit, "--values", raw.values, "SCHEME", "Of the sampled methods: santa, strat, sys (sys)");
  text(unit, "--scores", raw.scores, "SCHEME",
       "Of the method bernoulli: bernoulli, bernoulli-iid, bernoulli-group (bernoulli)");
  text(unit, "--samples", raw.samples, "S", "Draws a query head, power of two 1..4096 (256)");
  text(unit, "--bernoulli", raw.bernoulli, "B", "Draws a feature, power of two 1..64 (8)");
  text(unit, "--top-k", raw.top_k, "K", "Rows of the top-k unit, 1..4096 (as --samples)");
  text(unit, "--seed", raw.seed, "N", "Of all random draws of the units, from 1 (1)");
  text(unit, "--step", raw.step, "N", "Decode step; another step draws other numbers (0)");
  const char* work = "Work";
  text(work, "--sample-layers", raw.sample_layers, "N",
       "Simulate N of the layers, with all their heads, and scale (all)");
  text(work, "--jobs", raw.jobs, "N", "Processes at a time (as many as processors)");
  const char* output = "Output";
  text(output, "--json", raw.json, "F", "Everything, documented keys; - for standard output");
  model->add_flag("--tsv", raw.tsv, "Tab-separated values in place of the table")->group(output);
  model->footer(kModelExamples);
  return model;
}

ModelOptions check_model_options(const RawModelOptions& raw) {
  ModelOptions options;
  if (raw.model.empty()) throw got("MODEL", "", "a preset or the path of a file");
  options.model = raw.model;
  options.config = raw.config;
  options.overrides = parse_overrides(raw.set);
  options.lengths = parse_lengths(raw);
  check_data(raw, options.data);
  check_methods(raw, options);
  if (raw.seed) options.seed = parse_integer("--seed", *raw.seed, 1, kMaxSeed);
  if (raw.step) options.step = parse_integer("--step", *raw.step, 0, kMaxSeed);
  if (raw.sample_layers) {
    options.sample_layers = parse_u32("--sample-layers", raw.sample_layers, 1, kMaxLayers, 1);
  }
  options.jobs = parse_u32("--jobs", raw.jobs, 1, kMaxJobs,
                           std::clamp(std::thread::hardware_concurrency(), 1U, kMaxJobs));
  options.tsv = raw.tsv;
  if (raw.json) options.json = *raw.json;
  if (raw.json && raw.json->empty()) throw got("--json", "", "a file, or - for standard output");
  if (options.tsv && options.json == "-") {
    throw input_error("--tsv", "", "contradicts --json -", "one of them on standard output");
  }
  return options;
}

std::string ModelOptions::command() const {
  std::string text = "santasim model " + shell_word(model) + " --config " + shell_word(config);
  for (const config::Override& change : overrides) {
    text += " --set " + shell_word(change.key + "=" + change.value);
  }
  text += fmt::format(" --lengths {}", fmt::join(lengths, ","));
  if (data.kind == InputKind::kTrace) text += " --trace " + shell_word(data.trace);
  if (data.kind == InputKind::kSynthetic) text += " --synthetic gaussian";
  text += fmt::format(" --data-seed {} --methods ", data.data_seed);
  for (const Method method : methods) {
    text += fmt::format("{}{}", method == methods.front() ? "" : ",", name_of(method).name);
  }
  const bool bernoulli = has(methods, Method::kSampledBernoulli);
  if (bernoulli || has(methods, Method::kSampled)) {
    text += fmt::format(" --values {} --samples {} --seed {}", attention::to_string(decode.values),
                        decode.samples, seed);
  }
  if (bernoulli) {
    text += fmt::format(" --scores {} --bernoulli {}", attention::to_string(decode.scores),
                        decode.bernoulli_draws);
  }
  if (has(methods, Method::kTopK)) text += fmt::format(" --top-k {}", top_k);
  text += fmt::format(" --step {}", step);
  if (sample_layers) text += fmt::format(" --sample-layers {}", *sample_layers);
  return text;
}

}  // namespace santa::cli
