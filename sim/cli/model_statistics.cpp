#include "model_statistics.hpp"

#include <fmt/format.h>

#include <cmath>

#include "build_information.hpp"
#include "json_report.hpp"
#include "model_limits.hpp"
#include "santa/attention/scheme.hpp"

namespace santa::cli {
namespace {

using RunTable = std::vector<Statistic<ModelResult>>;
using MethodTable = std::vector<Statistic<MethodView>>;
using RunGetter = std::function<Json(const ModelResult&)>;

constexpr double kNsPerS = 1e9;

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json finite(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

bool uses(const ModelResult& run, Method first, Method second) {
  for (const Method method : run.options.methods) {
    if (method == first || method == second) return true;
  }
  return false;
}

Json if_used(const ModelResult& run, Method first, Method second, Json value) {
  return uses(run, first, second) ? value : Json(nullptr);
}

void add_run(RunTable& table) {
  const auto add = [&](const char* key, const char* unit, const char* sentence, RunGetter value) {
    table.push_back({key, unit, sentence, std::move(value)});
  };
  add("provenance.program", "", "Name of the program.",
      [](const ModelResult&) { return Json("santasim"); });
  add("provenance.version", "", "Version of the program.",
      [](const ModelResult&) { return Json(kProgramVersion); });
  add("provenance.git_commit", "",
      "Commit the program was built from, -dirty if files differed; null outside git.",
      [](const ModelResult&) { return text_or_null(kGitCommit); });
  add("provenance.command", "", "A command that repeats this run, every choice spelled out.",
      [](const ModelResult& run) { return Json(run.options.command()); });
  add("provenance.configuration_hash", "",
      "Hash of the configuration; equal for equal configurations, however written.",
      [](const ModelResult& run) { return Json(run.hardware.hash()); });
  add("provenance.energy_pack", "", "Name of the energy pack that was loaded.",
      [](const ModelResult& run) { return Json(run.energy_pack); });
  add("provenance.energy_pack_sha256", "", "SHA-256 of its file.",
      [](const ModelResult& run) { return Json(run.energy_pack_sha256); });
  add("provenance.energy_scope", "", "What the energy is the sum of.",
      [](const ModelResult& run) { return Json(run.energy_scope); });
  add("model.name", "", "Name of the model.",
      [](const ModelResult& run) { return Json(run.model.name); });
  add("model.layers", "layers", "Layers of the model.",
      [](const ModelResult& run) { return Json(run.model.layers); });
  add("model.query_heads", "heads", "Query heads of a layer.",
      [](const ModelResult& run) { return Json(run.model.query_heads); });
  add("model.kv_heads", "heads", "KV heads of a layer.",
      [](const ModelResult& run) { return Json(run.model.kv_heads); });
  add("model.head_dimension", "features", "Features of a query, key or value.",
      [](const ModelResult& run) { return Json(run.model.head_dimension); });
  add("requests.lengths", "tokens", "Tokens that each request of the batch attends to.",
      [](const ModelResult& run) { return Json(run.options.lengths); });
  add("requests.batch", "requests", "Requests of the batch; a step makes a token of each.",
      [](const ModelResult& run) { return Json(run.options.lengths.size()); });
  add("requests.cache_bytes", "bytes", "Keys and values of all layers and requests.",
      [](const ModelResult& run) { return Json(run.cache_bytes()); });
}

void add_data(RunTable& table) {
  const auto add = [&](const char* key, const char* unit, const char* sentence, RunGetter value) {
    table.push_back({key, unit, sentence, std::move(value)});
  };
  add("data.source", "", "What keys, values and queries were drawn from.",
      [](const ModelResult& run) { return Json(run.data.source); });
  add("data.synthetic", "", "True if that is generated and no model's data.",
      [](const ModelResult& run) { return Json(run.data.synthetic); });
  add("data.sha256", "", "SHA-256 of its file.",
      [](const ModelResult& run) { return text_or_null(run.data.sha256); });
  add("data.model", "", "Model that it was captured from.",
      [](const ModelResult& run) { return text_or_null(run.data.model); });
  add("data.context", "tokens", "Its tokens; requests of this length are not drawn but taken.",
      [](const ModelResult& run) { return Json(run.data.shape.context); });
  add("data.kv_heads", "heads", "KV heads to draw from, of all its layers.",
      [](const ModelResult& run) { return Json(run.data_heads); });
  add("data.seed", "", "Seed of the drawing.",
      [](const ModelResult& run) { return Json(run.options.data.data_seed); });
  add("simulated.layers", "", "Layers that were simulated, with all their heads.",
      [](const ModelResult& run) { return Json(run.layers); });
  add("simulated.heads", "heads", "KV heads that were simulated, over layers and requests.",
      [](const ModelResult& run) { return Json(run.layers.size() * run.heads_per_layer()); });
  add("simulated.heads_total", "heads", "KV heads of the whole step.", [](const ModelResult& run) {
    return Json(static_cast<std::uint64_t>(run.model.layers) * run.heads_per_layer());
  });
  add("notes", "", "What else a reader should know.",
      [](const ModelResult& run) { return Json(run.notes); });
}

void add_options(RunTable& table) {
  using Getter = std::function<Json(const ModelOptions&)>;
  const auto add = [&](const char* key, const char* unit, const char* sentence, Method first,
                       Method second, const Getter& value) {
    table.push_back({key, unit, sentence, [=](const ModelResult& run) {
                       return if_used(run, first, second, value(run.options));
                     }});
  };
  const Method sampled = Method::kSampled;
  const Method bernoulli = Method::kSampledBernoulli;
  const Method topk = Method::kTopK;
  add("options.values", "", "How the sampled methods aggregate values: santa, strat or sys.",
      sampled, bernoulli,
      [](const ModelOptions& o) { return Json(attention::to_string(o.decode.values)); });
  add("options.samples", "draws", "S, draws a query head.", sampled, bernoulli,
      [](const ModelOptions& o) { return Json(o.decode.samples); });
  add("options.scores", "", "How the method bernoulli computes scores.", bernoulli, bernoulli,
      [](const ModelOptions& o) { return Json(attention::to_string(o.decode.scores)); });
  add("options.bernoulli", "draws", "B, draws a feature.", bernoulli, bernoulli,
      [](const ModelOptions& o) { return Json(o.decode.bernoulli_draws); });
  add("options.top_k", "rows", "k of the top-k unit.", topk, topk,
      [](const ModelOptions& o) { return Json(o.top_k); });
  add("options.seed", "", "Seed of all random draws of the units.", sampled, bernoulli,
      [](const ModelOptions& o) { return Json(o.seed); });
  table.push_back({"options.step", "", "Decode step, part of every random stream.",
                   [](const ModelResult& run) { return Json(run.options.step); }});
}

void add_derived(MethodTable& table) {
  const auto add = [&](const char* key, const char* unit, const char* sentence,
                       std::function<Json(const MethodView&)> value) {
    table.push_back({key, unit, sentence, std::move(value)});
  };
  add("title", "", "Name in tables.",
      [](const MethodView& v) { return Json(name_of(v.method.method).title); });
  add("tokens_per_s", "tokens/s", "Tokens of all requests a second, were attention all there is.",
      [](const MethodView& v) { return finite(tokens_per_s(v)); });
  add("energy_pj_per_token", "pJ/token", "Energy (mid) of the step over its tokens.",
      [](const MethodView& v) { return Json(per_token(v, v.method.of("energy_pj.total.mid"))); });
  add("traffic_bytes_per_token", "bytes/token", "Bytes moved in the step over its tokens.",
      [](const MethodView& v) { return Json(per_token(v, v.method.of("traffic_bytes.total"))); });
  add("bandwidth_fraction", "fraction", "Bandwidth used over the memory's peak.",
      [](const MethodView& v) {
        return finite(v.method.of("memory.busy_ns").value / v.method.of("latency_ns").value);
      });
  add("units_balance", "fraction", "Mean time until a unit's last output over the longest.",
      [](const MethodView& v) {
        return finite(v.method.of("unit_ns").value / v.method.of("latency_ns").value);
      });
  add("limit", "",
      "What is busy four fifths of the step or more: memory bandwidth, memory port, reads, or a "
      "block of the unit; latency where nothing is.",
      [](const MethodView& v) { return Json(limit_of(v)); });
  add("busiest.name", "", "What is busy longest.",
      [](const MethodView& v) { return Json(resources_of(v).front().name); });
  add("busiest.busy_fraction", "fraction", "Its part of the step, mean of the units of the system.",
      [](const MethodView& v) { return finite(resources_of(v).front().busy_fraction); });
  const std::pair<const char*, const char*> ratios[] = {{"latency", "latency_ns"},
                                                        {"energy", "energy_pj.total.mid"},
                                                        {"traffic", "traffic_bytes.total"}};
  for (const auto& [name, metric] : ratios) {
    const std::string key = metric;
    table.push_back({std::string("relative_to_dense.") + name, "ratio",
                     "The same of this method over the dense int8 unit; null without it.",
                     [key](const MethodView& v) {
                       const MethodResult* dense = v.run.dense();
                       if (dense == nullptr) return Json(nullptr);
                       return finite(v.method.of(key).value / dense->of(key).value);
                     }});
  }
}

void add_metrics(MethodTable& table) {
  for (std::size_t m = 0; m < model_metrics().size(); ++m) {
    const ModelMetric& metric = model_metrics()[m];
    if (!metric.block.empty()) continue;  // add_blocks() has them
    table.push_back({"step." + metric.key + ".value", metric.unit, metric.sentence,
                     [m](const MethodView& v) { return finite(v.method.step[m].value); }});
    table.push_back({"step." + metric.key + ".ci95", metric.unit,
                     "Half width of its 95 % interval; 0 with all layers simulated, null with one.",
                     [m](const MethodView& v) { return finite(v.method.step[m].ci95); }});
  }
  const std::pair<const char*, const char*> lists[] = {{"layers.latency_ns", "ns"},
                                                       {"layers.energy_pj", "pJ"}};
  for (const auto& [key, unit] : lists) {
    const std::size_t index =
        metric_index(std::string(unit) == "ns" ? "latency_ns" : "energy_pj.total.mid");
    table.push_back({key, unit, "Of each simulated layer, as simulated.layers lists them.",
                     [index](const MethodView& v) {
                       Json list = Json::array();
                       for (const auto& layer : v.method.layers) list.push_back(layer[index]);
                       return list;
                     }});
  }
}

// Cycles of the blocks that a method has, by their names.
void add_blocks(MethodTable& table) {
  constexpr const char* kInterval =
      "Half width of its 95 % interval; 0 with all layers simulated, null with one.";
  std::string last;
  for (const ModelMetric& metric : model_metrics()) {
    if (metric.block.empty()) continue;
    const std::string kind = metric.key.substr(metric.key.rfind('.') + 1);
    if (kind == last) continue;
    last = kind;
    const auto add = [&](const char* part, const std::string& sentence, double Estimate::*member) {
      table.push_back({fmt::format("step.blocks.*.{}.{}", kind, part), metric.unit, sentence,
                       [=](const MethodView& v) {
                         Json cycles = Json::object();
                         for (const std::string& block : blocks_of(v.method)) {
                           const std::string key = fmt::format("blocks.{}.{}", block, kind);
                           cycles[block] = finite(v.method.of(key).*member);
                         }
                         return cycles;
                       }});
    };
    add("value", metric.sentence, &Estimate::value);
    add("ci95", kInterval, &Estimate::ci95);
  }
}

}  // namespace

double tokens_per_s(const MethodView& view) {
  return static_cast<double>(view.run.options.lengths.size()) * kNsPerS /
         view.method.of("latency_ns").value;
}

double per_token(const MethodView& view, const Estimate& estimate) {
  return estimate.value / static_cast<double>(view.run.options.lengths.size());
}

const std::vector<Statistic<ModelResult>>& model_statistics() {
  static const RunTable table = [] {
    RunTable made;
    add_run(made);
    add_data(made);
    add_options(made);
    for (const config::KeyDescription& key : configuration_keys()) {
      made.push_back({"configuration." + key.key, key.unit, key.sentence,
                      [key](const ModelResult& run) { return hardware_value(run.hardware, key); }});
    }
    return made;
  }();
  return table;
}

const std::vector<Statistic<MethodView>>& method_statistics() {
  static const MethodTable table = [] {
    MethodTable made;
    add_derived(made);
    add_metrics(made);
    add_blocks(made);
    return made;
  }();
  return table;
}

Json make_report(const ModelResult& run) {
  Json report = Json::object();
  for (const auto& statistic : model_statistics()) {
    place(report, statistic.key, statistic.value(run));
  }
  for (const MethodResult& method : run.methods) {
    Json& target = report["methods"][name_of(method.method).name];
    for (const auto& statistic : method_statistics()) {
      place(target, statistic.key, statistic.value({run, method}));
    }
  }
  return report;
}

}  // namespace santa::cli
