#include "analysis/model_result_check.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <vector>

#include "analysis/key_check.hpp"

namespace santa::cli {
namespace {

constexpr double kNsPerS = 1e9;
constexpr double kNsPerUs = 1e3;

// Of the units that santasim model simulates, those that every step keeps busy.
std::vector<const char*> blocks_of(const std::string& method) {
  if (method == "dense" || method == "dense_fp16") {
    return {"mac_array", "softmax_unit", "divider"};
  }
  if (method == "topk") return {"mac_array", "topk_selector", "value_array", "divider"};
  return {"query_encoder",      "ternary_gather", "weight_unit",
          "systematic_sampler", "value_gather",   "normalizer"};
}

class Check : private KeyCheck {
 public:
  Check(const Json& report, const std::string& path)
      : KeyCheck(report, path, SimulationCommand::kModel) {}

  void run() const {
    origin();
    for (const char* key :
         {"provenance.command", "provenance.version", "provenance.configuration_hash",
          "provenance.energy_pack_sha256", "model.name", "data.source", "configuration.name",
          "configuration.memory.model"}) {
      text(key);
    }
    for (const char* key : {"model.layers", "model.query_heads", "model.kv_heads",
                            "model.head_dimension", "requests.batch", "requests.cache_bytes",
                            "simulated.heads", "simulated.heads_total", "configuration.clock_mhz",
                            "configuration.unit.port_bytes", "configuration.system.units"}) {
      positive(key);
    }
    object("options");
    for (const char* key : {"options.values", "options.scores"}) {  // of the methods that ran
      if (!at(key).is_null()) text(key);
    }
    for (const char* key : {"options.samples", "options.bernoulli", "options.top_k", "options.seed",
                            "options.step"}) {
      not_negative_or_null(key);
    }
    list_of("requests.lengths", at("requests.batch"));
    numbers("simulated.layers");
    if (at("simulated.layers").empty()) refuse("simulated.layers", "one layer or more");
    for (const auto& [name, method] : object("methods").items()) one_method(name);
  }

 private:
  void list_of(const std::string& key, const Json& count) const {
    numbers(key);
    if (at(key).size() != count) refuse(key, count.dump() + " numbers");
  }

  // Value and interval, which nothing is known of where one layer of several was simulated; the
  // value is returned.
  double estimate(const std::string& key) const {
    const std::string interval = key + ".ci95";
    not_negative_or_null(interval);
    const bool one_of_several = at("simulated.layers").size() == 1 && at("model.layers") != 1;
    if (one_of_several && !at(interval).is_null())
      refuse(interval, "null, with one layer of several");
    return not_negative(key + ".value");
  }
  void estimates(const std::string& in, std::initializer_list<const char*> keys) const {
    for (const char* key : keys) estimate(in + key);
  }
  // The sum of the estimates below `key`, less that of `left_out`.
  double sum_below(const std::string& key, const char* left_out = "") const {
    double sum = 0.0;
    for (const auto& [name, part] : object(key).items()) {
      if (name != left_out) sum += estimate(key + "." + name);
    }
    return sum;
  }

  void one_method(const std::string& name) const {
    const std::string in = "methods." + name + ".";  // before each key
    for (const char* key : {"title", "limit", "busiest.name"}) text(in + key);
    for (const char* key : {"bandwidth_fraction", "busiest.busy_fraction"}) not_negative(in + key);
    for (const char* key : {"latency", "energy", "traffic"}) {
      not_negative_or_null(in + "relative_to_dense." + key);
    }
    const double batch = at("requests.batch").get<double>();
    const double ns = estimate(in + "step.latency_ns");
    positive(in + "step.latency_ns.value");
    equal(in + "tokens_per_s", batch * kNsPerS / ns, in + "step.latency_ns");
    energy(in, batch);
    const std::string total = in + "step.traffic_bytes.total";
    equal(total + ".value", sum_below(in + "step.traffic_bytes", "total"),
          in + "step.traffic_bytes");
    estimate(total);
    equal(in + "traffic_bytes_per_token", positive(total + ".value") / batch, total);
    estimates(in + "step.", {"memory.busy_ns", "unit_ns", "multiplies"});
    estimates(in + "step.samples.",
              {"drawn", "unique_rows", "row_reads", "features_needed", "features_total"});
    sum_below(in + "step.memory.time_ns");
    object(in + "step.blocks");
    for (const char* block : blocks_of(name)) object(in + "step.blocks." + block);
    blocks(in, ns * at("configuration.clock_mhz").get<double>() / kNsPerUs);
    for (const char* key : {"layers.latency_ns", "layers.energy_pj"}) {
      list_of(in + key, Json(at("simulated.layers").size()));
    }
  }

  void energy(const std::string& in, double batch) const {
    const std::string key = in + "step.energy_pj.";
    for (const char* end : {"low", "mid", "high"}) {
      estimate(key + "total." + end);
      positive(fmt::format("{}total.{}.value", key, end));
    }
    const double total = at(key + "total.mid.value").get<double>();
    equal(key + "total.mid.value", sum_below(key + "parts"), key + "parts");
    equal(in + "energy_pj_per_token", total / batch, key + "total.mid");
  }

  void blocks(const std::string& in, double step_cycles) const {
    for (const auto& [name, counters] : object(in + "step.blocks").items()) {
      const std::string key = in + "step.blocks." + name;
      for (const char* kind : {".starved_cycles", ".blocked_cycles"}) estimate(key + kind);
      const std::string busy = key + ".busy_cycles";
      if (estimate(busy) > step_cycles * (1.0 + kRounding)) {
        refuse(busy + ".value", "at most the cycles of " + in + "step.latency_ns");
      }
    }
  }
};

}  // namespace

void check_model_result(const Json& report, const std::string& path) {
  Check(report, path).run();
}

}  // namespace santa::cli
