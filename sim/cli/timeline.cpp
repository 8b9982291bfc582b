#include "timeline.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace santa::cli {
namespace {

// Picoseconds: spans that touch in the simulation touch in the file, whatever the clock.
std::int64_t to_ps(double ns) {
  return std::llround(ns * 1e3);
}

// Microseconds with all digits of a picosecond.
std::string to_us(std::int64_t ps) {
  constexpr std::int64_t kPerMicrosecond = 1000000;
  return fmt::format("{}.{:06}", ps / kPerMicrosecond, ps % kPerMicrosecond);
}

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump();
}

class EventWriter {
 public:
  explicit EventWriter(OutputFile& file) : file_(file) {
    file_.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
  }
  void add(const std::string& event) {
    file_.write(first_ ? "\n" : ",\n");
    file_.write(event);
    first_ = false;
  }
  void finish() { file_.write("\n]}\n"); }

 private:
  OutputFile& file_;
  bool first_ = true;
};

void write_names(EventWriter& out, const sim::UnitReport& unit, std::size_t process) {
  const auto name = [&](const char* what, std::size_t thread, const std::string& text) {
    out.add(fmt::format(R"({{"name":"{}","ph":"M","pid":{},"tid":{},"args":{{"name":{}}}}})", what,
                        process, thread, quoted(text)));
  };
  name("process_name", 0, sim::to_string(unit.kind) + " unit");
  name("thread_name", 0, "whole run");
  for (std::size_t block = 0; block < unit.blocks.size(); ++block) {
    name("thread_name", block + 1, unit.blocks[block].block);
    out.add(fmt::format(
        R"({{"name":"thread_sort_index","ph":"M","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
        process, block + 1, block));
  }
}

void write_spans(EventWriter& out, const RunResult& run, const sim::UnitReport& unit,
                 std::size_t process) {
  out.add(fmt::format(R"({{"name":"run","ph":"X","pid":{},"tid":0,"ts":{},"dur":{}}})", process,
                      to_us(0), to_us(to_ps(unit.latency_ns))));
  for (const sim::Span& span : unit.spans) {
    const std::int64_t start = to_ps(span.start_ns);
    const JobName& job = run.jobs.at(span.job);
    out.add(fmt::format(
        R"({{"name":{},"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"layer":{},"kv_head":{}}}}})",
        quoted(span.name), process, span.block + 1, to_us(start), to_us(to_ps(span.end_ns) - start),
        job.layer, job.kv_head));
  }
}

void write_power(EventWriter& out, const sim::UnitReport& unit, std::size_t process) {
  const auto power = [&](double time_ns, double value) {
    out.add(fmt::format(
        R"({{"name":"power_mw","ph":"C","pid":{},"tid":0,"ts":{},"args":{{"power_mw":{}}}}})",
        process, to_us(to_ps(time_ns)), value));
  };
  for (const energy::Window& window : unit.energy.windows) power(window.start_ns, window.power_mw);
  power(unit.latency_ns, 0.0);
}

}  // namespace

void write_timeline(const RunResult& run, OutputFile& file) {
  EventWriter out(file);
  for (std::size_t i = 0; i < run.units.size(); ++i) {
    const sim::UnitReport& unit = run.units[i];
    write_names(out, unit, i + 1);
    write_spans(out, run, unit, i + 1);
    write_power(out, unit, i + 1);
  }
  out.finish();
}

}  // namespace santa::cli
