#include "analysis/result_check.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "analysis/result_file.hpp"
#include "santa/config/message_text.hpp"
#include "santa/error.hpp"

namespace santa::cli {
namespace {

constexpr const char* kAllowed = "a file that santasim run --json wrote, or a point of a sweep";
constexpr double kRounding = 1e-9;  // of sums whose parts were added in another order
constexpr std::array<const char*, 3> kEnds = {"low", "mid", "high"};

bool are_equal(double a, double b) {
  return std::fabs(a - b) <= kRounding * std::fmax(std::fabs(a), std::fabs(b));
}

class Check {
 public:
  Check(const Json& report, const std::string& path)
      : report_(report), path_(config::escaped(path)) {}

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
    const Json& baselines = at_key(report_, "baselines");
    if (baselines.is_null()) return;
    for (const auto& [name, baseline] : object("baselines").items()) {
      if (!baseline.is_object()) refuse("baselines." + name, "an object");
      unit("baselines." + name + ".");
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& key, const std::string& allowed) const {
    const Json& value = at_key(report_, key);
    const std::string found = value.is_null()         ? "missing"
                              : value.is_structured() ? "got a list or an object"
                                                      : "got " + config::escaped(value.dump());
    throw input_error(path_, config::escaped(key), found + ", so it is no result of a run",
                      allowed + ", as santasim run --json writes it");
  }
  // Both numbers are there, and do not fit.
  [[noreturn]] void contradiction(const std::string& key, const std::string& other,
                                  double expected) const {
    throw input_error(
        path_, config::escaped(key),
        fmt::format("got {}, so it is no result of a run", at_key(report_, key).dump()),
        fmt::format("{}, which follows from {}", expected, config::escaped(other)));
  }

  double positive(const std::string& key) const {
    const double value = not_negative(key, "a number above 0");
    if (value == 0.0) refuse(key, "a number above 0");
    return value;
  }
  double not_negative(const std::string& key, const char* allowed = "a number from 0") const {
    const Json& value = at_key(report_, key);
    if (!value.is_number() || value.get<double>() < 0.0) refuse(key, allowed);
    return value.get<double>();
  }
  void not_negative_or_null(const std::string& key) const {
    if (!at_key(report_, key).is_null()) not_negative(key, "a number from 0, or null");
  }
  void text(const std::string& key) const {
    if (!at_key(report_, key).is_string()) refuse(key, "a text");
  }
  const Json& object(const std::string& key) const {
    const Json& value = at_key(report_, key);
    if (!value.is_object() || value.empty()) refuse(key, "an object with members");
    return value;
  }

  void origin() const {
    const std::string own = "santasim";
    if (text_at(report_, "provenance.program") != own) refuse("provenance.program", "\"santasim\"");
    // "santasim model llama-3.1-8b --context 100"
    const std::string command = text_at(report_, "provenance.command");
    if (command.rfind(own + " ", 0) != 0) return;
    const std::size_t begin = own.size() + 1;
    const std::string name = command.substr(begin, command.find(' ', begin) - begin);
    if (name == "run") return;
    throw input_error(path_, "",
                      fmt::format("is no result of a run but of {} {}", own, config::escaped(name)),
                      name == "model" ? std::string(kAllowed) +
                                            "; tools/model_report.py shows those "
                                            "of santasim model"
                                      : kAllowed);
  }

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
    const double cycles = at_key(report_, in + "latency.cycles").get<double>();
    for (const auto& [name, counters] : object(in + "blocks").items()) {
      const std::string key = in + "blocks." + name + ".busy_cycles";
      if (not_negative(key) > cycles) refuse(key, "at most " + in + "latency.cycles");
    }
  }

  void times(const std::string& in) const {
    const double cycles = positive(in + "latency.cycles");
    const double ns = positive(in + "latency.ns");
    // The last response of the memory may fall within the last cycle.
    const double period_ns = 1e3 / at_key(report_, "configuration.clock_mhz").get<double>();
    const double last = std::ceil(ns / period_ns - kRounding * cycles);
    if (last != cycles) {
      contradiction(in + "latency.cycles", in + "latency.ns and configuration.clock_mhz", last);
    }
  }

  void energy(const std::string& in) const {
    const Json& parts = object(in + "energy.parts_pj");
    const double ns = at_key(report_, in + "latency.ns").get<double>();
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
    const Json& duration = at_key(report_, key + ".duration_ns");
    const Json& power = at_key(report_, key + ".power_mw");
    for (const char* name : {".duration_ns", ".power_mw"}) {
      const Json& list = at_key(report_, key + name);
      if (!list.is_array()) refuse(key + name, "a list of numbers");
      for (const Json& value : list) {
        if (!value.is_number()) refuse(key + name, "a list of numbers");
      }
    }
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

  const Json& report_;
  std::string path_;
};

}  // namespace

void check_result(const Json& report, const std::string& path) {
  Check(report, path).run();
}

}  // namespace santa::cli
