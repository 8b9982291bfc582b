#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "json_report.hpp"
#include "model_statistics.hpp"
#include "santa/attention/scheme.hpp"
#include "text.hpp"

namespace santa::cli {
namespace {

constexpr std::size_t kIndent = 10;
constexpr std::size_t kLabelWidth = 26;
constexpr std::size_t kColumnWidth = 14;
constexpr double kPercent = 100.0;
// The table's units: microseconds, microjoules, megabytes.
constexpr double kNsPerUs = 1e3;
constexpr double kPjPerUj = 1e6;
constexpr double kBytesPerMb = 1e6;

std::string entry(const char* label, const std::string& text) {
  std::string lines = wrapped(std::string(kIndent, ' ') + text, kIndent);
  const std::string name(label);
  return lines.replace(0, name.size(), name);
}

std::string lengths_text(const std::vector<std::uint32_t>& lengths) {
  const auto [shortest, longest] = std::minmax_element(lengths.begin(), lengths.end());
  if (*shortest == *longest) {
    return fmt::format("batch {} of {} tokens each", lengths.size(), grouped(*longest));
  }
  return fmt::format("batch {} of {} to {} tokens", lengths.size(), grouped(*shortest),
                     grouped(*longest));
}

std::string data_text(const ModelResult& run) {
  const bool taken =
      std::all_of(run.options.lengths.begin(), run.options.lengths.end(),
                  [&](std::uint32_t length) { return length == run.data.shape.context; });
  return fmt::format(
      "{}{}: {} KV heads over {} tokens{}{}, data seed {}",
      run.data.synthetic ? "SYNTHETIC, no model's data: " : "", run.data.source, run.data_heads,
      grouped(run.data.shape.context), run.data.model.empty() ? "" : " of " + run.data.model,
      taken ? ", as they are" : ", drawn in windows of a tile", run.options.data.data_seed);
}

std::string method_text(const ModelResult& run) {
  const attention::DecodeOptions& decode = run.options.decode;
  const auto runs = [&](Method method) {
    const std::vector<Method>& methods = run.options.methods;
    return std::find(methods.begin(), methods.end(), method) != methods.end();
  };
  const bool bernoulli = runs(Method::kSampledBernoulli);
  const bool sampled = runs(Method::kSampled) || bernoulli;
  std::vector<std::string> parts;
  if (sampled) {
    parts.push_back(fmt::format("sampled: {} values, {} draws a query head",
                                attention::to_string(decode.values), decode.samples));
  }
  if (bernoulli) {
    parts.push_back(fmt::format("Bernoulli: {} of {} draws a feature",
                                attention::to_string(decode.scores), decode.bernoulli_draws));
  }
  if (runs(Method::kTopK)) parts.push_back(fmt::format("top-k: {} rows", run.options.top_k));
  if (sampled) parts.push_back(fmt::format("seed {}, step {}", run.options.seed, run.options.step));
  if (parts.empty()) parts.emplace_back("all keys, all values");
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string header(const ModelResult& run) {
  const config::ModelShape& model = run.model;
  const config::SystemConfig& system = run.hardware.system;
  std::string text = entry(
      "model",
      fmt::format("{}: {} layers, {} query heads over {} KV heads of {} features; {}; "
                  "{} GB of keys and values",
                  model.name, model.layers, model.query_heads, model.kv_heads, model.head_dimension,
                  lengths_text(run.options.lengths), quantity(run.cache_bytes() * 1e-9)));
  text += entry("data", data_text(run));
  text += entry("hardware",
                fmt::format("{} (hash {}), {} unit{} at {} MHz, {} placement, {}-bit keys, {}-bit "
                            "values, {}{}",
                            run.hardware.name, run.hardware.hash(), system.units,
                            system.units == 1 ? "" : "s", run.hardware.clock_mhz,
                            config::name_of(system.placement), system.key_bits, system.value_bits,
                            config::name_of(run.hardware.memory.kind),
                            run.hardware.dram ? " by the timing " + run.hardware.dram->name : ""));
  text += entry("methods", method_text(run));
  text += entry("energy", fmt::format("pack {}: {}", run.energy_pack, run.energy_scope));
  const std::uint64_t heads = run.heads_per_layer();
  const auto layers = static_cast<std::uint64_t>(model.layers);
  const bool sampled = run.layers.size() < layers;
  text += entry("simulated",
                fmt::format("{} of {} layers, {} of {} heads{}", run.layers.size(), layers,
                            grouped(run.layers.size() * heads), grouped(layers * heads),
                            sampled ? "; scaled, +- is the 95 % interval over layers" : ""));
  for (const std::string& note : run.notes) text += entry("note", note);
  return text + entry("scope", "attention alone: no linear layers, no time between layers");
}

using Cell = std::function<std::string(const MethodView&)>;

class Rows {
 public:
  explicit Rows(const ModelResult& run) : run_(run) {}
  void add(const std::string& label, const Cell& cell) {
    text_ += fmt::format("{:<{}}", label, kLabelWidth);
    for (const MethodResult& method : run_.methods) {
      text_ += fmt::format("{:>{}}", cell({run_, method}), kColumnWidth);
    }
    text_ += "\n";
  }
  // A metric of the step by its key, over `divisor`, and its interval where layers were left out.
  void add_metric(const std::string& label, const std::string& key, double divisor) {
    add(label, [&](const MethodView& v) { return quantity(v.method.of(key).value / divisor); });
    if (run_.layers.size() == static_cast<std::size_t>(run_.model.layers)) return;
    add("  +-", [&](const MethodView& v) {
      const double half = v.method.of(key).ci95 / divisor;
      return std::isfinite(half) ? quantity(half) : "unknown";
    });
  }
  const std::string& text() const { return text_; }

 private:
  const ModelResult& run_;
  std::string text_;
};

std::string percent(double fraction) {
  return std::isfinite(fraction) ? fmt::format("{:.1f} %", kPercent * fraction) : "-";
}

void add_ratio(Rows& rows, const ModelResult& run, const char* label, const char* key) {
  const MethodResult* dense = run.dense();
  if (dense == nullptr || run.methods.size() == 1) return;
  rows.add(label, [&](const MethodView& v) {
    return fmt::format("{:.3f}", v.method.of(key).value / dense->of(key).value);
  });
}

}  // namespace

std::string make_table(const ModelResult& run) {
  Rows rows(run);
  rows.add("", [](const MethodView& v) {
    return v.method.method == Method::kSampledBernoulli
               ? std::string("+ Bernoulli")
               : std::string(name_of(v.method.method).title);
  });
  const auto batch = static_cast<double>(run.options.lengths.size());
  rows.add_metric("step, us", "latency_ns", kNsPerUs);
  rows.add("tokens/s", [](const MethodView& v) { return quantity(tokens_per_s(v)); });
  rows.add_metric("energy, uJ/token", "energy_pj.total.mid", kPjPerUj * batch);
  rows.add_metric("  low estimate", "energy_pj.total.low", kPjPerUj * batch);
  rows.add_metric("  high estimate", "energy_pj.total.high", kPjPerUj * batch);
  rows.add_metric("traffic, MB/token", "traffic_bytes.total", kBytesPerMb * batch);
  for (const char* stream : {"query", "key", "value", "stash", "output", "append"}) {
    const std::string key = std::string("traffic_bytes.") + stream;
    rows.add(std::string("  ") + stream, [&](const MethodView& v) {
      return quantity(v.method.of(key).value / (kBytesPerMb * batch));
    });
  }
  rows.add("value rows read/token", [](const MethodView& v) {
    return quantity(per_token(v, v.method.of("samples.row_reads")));
  });
  rows.add("memory bandwidth used", [](const MethodView& v) {
    return percent(v.method.of("memory.busy_ns").value / v.method.of("latency_ns").value);
  });
  if (run.hardware.system.units > 1) {
    rows.add("units busy until the end", [](const MethodView& v) {
      return percent(v.method.of("unit_ns").value / v.method.of("latency_ns").value);
    });
  }
  add_ratio(rows, run, "latency over dense int8", "latency_ns");
  add_ratio(rows, run, "energy over dense int8", "energy_pj.total.mid");
  add_ratio(rows, run, "traffic over dense int8", "traffic_bytes.total");
  return header(run) + "\n" + rows.text();
}

namespace {

// What stands for `*` in a key: the names that some method has there, in their order; an empty one
// for a key with a single value.
std::vector<std::string> names_in(const Statistic<MethodView>& statistic, const ModelResult& run) {
  std::vector<std::string> names;
  if (statistic.key.find('*') == std::string::npos) return {""};
  for (const MethodResult& method : run.methods) {
    const Json values = statistic.value({run, method});
    for (const auto& [name, value] : values.items()) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

std::string tsv_line(const Statistic<MethodView>& statistic, const std::string& name,
                     const ModelResult& run) {
  std::string key = statistic.key;
  if (!name.empty()) key.replace(key.find('*'), 1, name);
  std::string line = key + "\t" + statistic.unit;
  for (const MethodResult& method : run.methods) {
    Json value = statistic.value({run, method});
    if (!name.empty()) value = value.value(name, Json());
    line += "\t" + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return line + "\n";
}

}  // namespace

std::string make_tsv(const ModelResult& run) {
  std::string text = "key\tunit";
  for (const MethodResult& method : run.methods) {
    text += fmt::format("\t{}", name_of(method.method).name);
  }
  text += "\n";
  for (const auto& statistic : method_statistics()) {
    if (statistic.value({run, run.methods.front()}).is_array()) continue;
    for (const std::string& name : names_in(statistic, run)) {
      text += tsv_line(statistic, name, run);
    }
  }
  return text;
}

}  // namespace santa::cli
