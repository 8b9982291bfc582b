#include "analysis/result_check.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "analysis/key_check.hpp"

namespace santa::cli {
namespace {

constexpr std::array<const char*, 3> kEnds = {"low", "mid", "high"};

class Check : private KeyCheck {
 public:
  Check(const Json& report, const std::string& path)
      : KeyCheck(report, path, SimulationCommand::kRun) {}

  void run() const {
    origin();
    for (const char* key : {"provenance.command", "provenance.version", "configuration.name",
                            "configuration.memory.model", "configuration.memory.timing",
                            "input.source", "options.values", "options.scores"}) {
      text(key);
    }
    for (const char* key :
         {"input.context", "input.query_heads", "input.kv_heads", "input.head_dimension",
          "configuration.clock_mhz", "configuration.unit.port_bytes",
          "configuration.memory.channels", "configuration.memory.channel_gb_per_s",
          "configuration.memory.max_outstanding", "configuration.system.value_bits"}) {
      positive(key);
    }
    unit("");
    const Json& baselines = at("baselines");
    if (baselines.is_null()) return;
    for (const auto& [name, baseline] : object("baselines").items()) {
      if (!baseline.is_object()) refuse("baselines." + name, "an object");
      unit("baselines." + name + ".");
    }
  }

 private:
  // Of the unit at the top, or of a baseline: `in` goes before each key.
  void unit(const std::string& in) const {
    text(in + "unit");
    times(in);
    energy(in);
    traffic(in);
    for (const char* key :
         {"memory.busy_fraction", "memory.read_requests", "memory.write_requests",
          "memory.mean_latency_ns", "memory.peak_outstanding", "operations.gather_adds",
          "operations.value_adds_executed", "operations.multiplies"}) {
      not_negative(in + key);
    }
    for (const char* key : {"accuracy.relative_l2", "samples.row_reads"}) {
      not_negative_or_null(in + key);
    }
    const double cycles = at(in + "latency.cycles").get<double>();
    for (const auto& [name, counters] : object(in + "blocks").items()) {
      const std::string key = in + "blocks." + name + ".busy_cycles";
      if (not_negative(key) > cycles) refuse(key, "at most " + in + "latency.cycles");
    }
  }

  void times(const std::string& in) const {
    const double cycles = positive(in + "latency.cycles");
    const double ns = positive(in + "latency.ns");
    // The last response of the memory may fall within the last cycle.
    const double period_ns = 1e3 / at("configuration.clock_mhz").get<double>();
    const double last = std::ceil(ns / period_ns - kRounding * cycles);
    if (last != cycles) {
      contradiction(in + "latency.cycles", in + "latency.ns and configuration.clock_mhz", last);
    }
  }

  void energy(const std::string& in) const {
    const Json& parts = object(in + "energy.parts_pj");
    const double ns = at(in + "latency.ns").get<double>();
    for (const char* end : kEnds) {
      const std::string total_key = fmt::format("{}energy.total_pj.{}", in, end);
      const double total = positive(total_key);
      double sum = 0.0;
      for (const auto& [name, range] : parts.items()) {
        sum += not_negative(fmt::format("{}energy.parts_pj.{}.{}", in, name, end));
      }
      if (!are_equal(total, sum)) contradiction(total_key, in + "energy.parts_pj", sum);
      const std::string power_key = fmt::format("{}energy.average_power_mw.{}", in, end);
      if (!are_equal(not_negative(power_key), total / ns)) {
        contradiction(power_key, in + "energy.total_pj and " + in + "latency.ns", total / ns);
      }
    }
    windows(in + "energy.windows");
  }

  void windows(const std::string& key) const {
    const Json& duration = at(key + ".duration_ns");
    const Json& power = at(key + ".power_mw");
    for (const char* name : {".duration_ns", ".power_mw"}) numbers(key + name);
    if (duration.size() != power.size()) refuse(key + ".power_mw", "a power for each duration");
  }

  void traffic(const std::string& in) const {
    double sum = 0.0;
    const std::string total = in + "traffic.total_bytes";
    for (const char* stream : {"query", "key", "value", "stash", "output", "append"}) {
      sum += not_negative(fmt::format("{}traffic.{}_bytes", in, stream));
    }
    if (positive(total) != sum) contradiction(total, in + "traffic's streams", sum);
  }
};

}  // namespace

void check_result(const Json& report, const std::string& path) {
  Check(report, path).run();
}

}  // namespace santa::cli
