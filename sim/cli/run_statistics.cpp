#include <fmt/format.h>

#include "build_information.hpp"
#include "santa/attention/scheme.hpp"
#include "santa/config/yaml_reader.hpp"
#include "statistics.hpp"

namespace santa::cli {
namespace {

using Table = std::vector<Statistic<RunResult>>;

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

template <typename Value>
Json value_or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

void add_input(Table& table) {
  const auto add = [&](const char* key, const char* unit, const char* sentence,
                       const std::function<Json(const InputSummary&)>& value) {
    table.push_back(
        {key, unit, sentence, [value](const RunResult& run) { return value(run.input); }});
  };
  add("input.kind", "", "trace, arrays, model shape, gaussian or needle.",
      [](const InputSummary& s) { return Json(s.kind); });
  add("input.synthetic", "", "True if the tensors are generated and no model's data.",
      [](const InputSummary& s) { return Json(s.synthetic); });
  add("input.source", "", "Files that were read, or what generated the data.",
      [](const InputSummary& s) { return Json(s.source); });
  add("input.sha256", "", "SHA-256 of the file; of the three .npy files one after another.",
      [](const InputSummary& s) { return text_or_null(s.sha256); });
  add("input.model", "", "Model that the tensors or the shape come from.",
      [](const InputSummary& s) { return text_or_null(s.model); });
  add("input.model_licence", "", "Licence of the model, as the trace or preset states it.",
      [](const InputSummary& s) { return text_or_null(s.model_licence); });
  add("input.text", "", "Text that the model read.",
      [](const InputSummary& s) { return text_or_null(s.text); });
  add("input.text_licence", "", "Licence of the text.",
      [](const InputSummary& s) { return text_or_null(s.text_licence); });
  add("input.layers", "", "Layers that are simulated, by index.",
      [](const InputSummary& s) { return Json(s.layers); });
  add("input.model_layers", "layers", "Layers of the whole model, where known.",
      [](const InputSummary& s) { return value_or_null(s.model_layers); });
  add("input.context", "tokens", "Keys attended to, in the longest layer.",
      [](const InputSummary& s) { return Json(s.shape.context); });
  add("input.query_heads", "heads", "Query heads of a layer.",
      [](const InputSummary& s) { return Json(s.shape.query_heads); });
  add("input.kv_heads", "heads", "KV heads of a layer.",
      [](const InputSummary& s) { return Json(s.shape.kv_heads); });
  add("input.head_dimension", "features", "Features of a query, key or value.",
      [](const InputSummary& s) { return Json(s.shape.head_dimension); });
  add("input.softmax_scale", "", "Factor on the score before the softmax, in the first layer.",
      [](const InputSummary& s) { return Json(s.softmax_scale); });
  add("input.data_seed", "", "Seed of generated tensors.",
      [](const InputSummary& s) { return value_or_null(s.data_seed); });
  add("input.notes", "", "What else a reader should know.",
      [](const InputSummary& s) { return Json(s.notes); });
  table.push_back({"input.requests", "requests",
                   "Requests simulated, each a group of query heads over one KV head.",
                   [](const RunResult& run) { return Json(run.jobs.size()); }});
  table.push_back({"input.reference_to_model_relative_l2", "ratio",
                   "Distance of the float64 attention from the model's own output, where the trace "
                   "has it.",
                   [](const RunResult& run) { return value_or_null(run.reference_to_model); }});
}

void add_options(Table& table) {
  const auto add = [&](const char* key, const char* unit, const char* sentence,
                       const std::function<Json(const RunOptions&)>& value) {
    table.push_back(
        {key, unit, sentence, [value](const RunResult& run) { return value(run.options); }});
  };
  add("options.values", "", "How values are aggregated: santa, strat, sys, topk or dense.",
      [](const RunOptions& o) { return Json(attention::to_string(o.decode.values)); });
  add("options.scores", "", "How the sampled unit computes scores.",
      [](const RunOptions& o) { return Json(attention::to_string(o.decode.scores)); });
  add("options.samples", "draws", "S, draws a query head; null without a sampled unit.",
      [](const RunOptions& o) {
        return attention::is_sampled(o.decode.values) ? Json(o.decode.samples) : Json(nullptr);
      });
  add("options.bernoulli", "draws", "B, draws a feature; null with exact scores.",
      [](const RunOptions& o) {
        return attention::is_bernoulli(o.decode.scores) ? Json(o.decode.bernoulli_draws)
                                                        : Json(nullptr);
      });
  add("options.top_k", "rows", "k of the top-k unit.",
      [](const RunOptions& o) { return Json(o.top_k); });
  add("options.seed", "", "Seed of all random draws.",
      [](const RunOptions& o) { return Json(o.seed); });
  add("options.step", "", "Decode step, part of every random stream.",
      [](const RunOptions& o) { return Json(o.step); });
}

void add_configuration(Table& table) {
  for (const config::KeyDescription& key : configuration_keys()) {
    table.push_back({"configuration." + key.key, key.unit, key.sentence,
                     [key](const RunResult& run) { return hardware_value(run.hardware, key); }});
  }
}

void add_provenance(Table& table) {
  const auto add = [&](const char* key, const char* sentence,
                       std::function<Json(const RunResult&)> value) {
    table.push_back({key, "", sentence, std::move(value)});
  };
  add("provenance.program", "Name of the program.",
      [](const RunResult&) { return Json("santasim"); });
  add("provenance.version", "Version of the program.",
      [](const RunResult&) { return Json(kProgramVersion); });
  add("provenance.git_commit",
      "Commit the program was built from, -dirty if files differed; null outside git.",
      [](const RunResult&) { return text_or_null(kGitCommit); });
  add("provenance.command", "A command that repeats this run, every choice spelled out.",
      [](const RunResult& run) { return Json(run.options.command()); });
  add("provenance.configuration_hash",
      "Hash of the configuration; equal for equal configurations, however written.",
      [](const RunResult& run) { return Json(run.hardware.hash()); });
  add("provenance.energy_pack", "Name of the energy pack that was loaded.",
      [](const RunResult& run) { return Json(run.units[run.main_unit].energy.pack_name); });
  add("provenance.energy_pack_sha256", "SHA-256 of its file.",
      [](const RunResult& run) { return Json(run.energy_pack_sha256); });
}

Table make_table() {
  Table table;
  add_provenance(table);
  add_input(table);
  add_options(table);
  add_configuration(table);
  return table;
}

}  // namespace

std::vector<config::KeyDescription> configuration_keys() {
  std::vector<config::KeyDescription> keys = config::describe_hardware_keys();
  for (config::KeyDescription& key : config::describe_dram_keys()) keys.push_back(std::move(key));
  return keys;
}

Json hardware_value(const config::HardwareConfig& hardware,
                    const config::KeyDescription& description) {
  config::Node node = config::load_yaml_text(hardware.canonical_text(), "configuration");
  std::string key = description.key;
  for (std::size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.')) {
    if (!node.has(key.substr(0, dot))) return nullptr;
    node = node.child(key.substr(0, dot));
    key.erase(0, dot + 1);
  }
  const std::string text = node.text(key);
  const bool is_number = description.type == "number" || description.type == "integer" ||
                         description.type == "power of two";
  return is_number ? Json::parse(text) : Json(text);
}

const std::vector<Statistic<RunResult>>& run_statistics() {
  static const Table table = make_table();
  return table;
}

}  // namespace santa::cli
