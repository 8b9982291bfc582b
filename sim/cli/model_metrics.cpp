#include "model_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "santa/energy/names.hpp"

namespace santa::cli {
namespace {

using sim::UnitReport;
using Table = std::vector<ModelMetric>;

void add_energy(Table& table) {
  using energy::Range;
  const std::pair<const char*, double Range::*> ends[] = {
      {"low", &Range::low}, {"mid", &Range::mid}, {"high", &Range::high}};
  for (const auto& [name, member] : ends) {
    const auto end = member;
    table.push_back({std::string("energy_pj.total.") + name, "pJ",
                     std::string("Energy of units and memory, ") + name + " estimate.",
                     [end](const UnitReport& r) { return r.energy.total_pj.*end; }});
  }
  for (std::size_t part = 0; part < energy::kPartCount; ++part) {
    table.push_back({"energy_pj.parts." + std::string(energy::kPartNames[part]), "pJ",
                     "Of it by physical kind, mid estimate.",
                     [part](const UnitReport& r) { return r.energy.parts_pj[part].mid; }});
  }
}

void add_traffic(Table& table) {
  using sim::Traffic;
  table.push_back(
      {"traffic_bytes.total", "bytes", "Bytes read and written.",
       [](const UnitReport& r) { return static_cast<double>(r.traffic.total_bytes()); }});
  const std::pair<const char*, std::uint64_t Traffic::*> streams[] = {
      {"query", &Traffic::query_bytes},   {"key", &Traffic::key_bytes},
      {"value", &Traffic::value_bytes},   {"stash", &Traffic::stash_bytes},
      {"output", &Traffic::output_bytes}, {"append", &Traffic::append_bytes}};
  for (const auto& [name, member] : streams) {
    const auto stream = member;
    table.push_back(
        {std::string("traffic_bytes.") + name, "bytes", "Of it by stream.",
         [stream](const UnitReport& r) { return static_cast<double>(r.traffic.*stream); }});
  }
}

void add_samples(Table& table) {
  using sim::SampleTotals;
  const auto add = [&](const char* key, const char* unit, const char* sentence,
                       std::uint64_t SampleTotals::*member) {
    table.push_back({key, unit, sentence, [member](const UnitReport& r) {
                       return static_cast<double>(r.samples.*member);
                     }});
  };
  add("samples.drawn", "draws", "Draws of all query heads, or rows selected.",
      &SampleTotals::drawn);
  add("samples.unique_rows", "rows", "Different value rows, each KV head for itself.",
      &SampleTotals::unique_rows);
  add("samples.row_reads", "rows", "Value rows read.", &SampleTotals::row_reads);
  add("samples.features_needed", "features", "Key features that some head of a group needed.",
      &SampleTotals::features_needed);
  add("samples.features_total", "features", "Key features there are.",
      &SampleTotals::features_total);
}

void add_memory(Table& table) {
  using sim::MemoryCounters;
  table.push_back({"memory.busy_ns", "ns", "Time in which the memory moves data at its peak.",
                   [](const UnitReport& r) { return r.memory.busy_fraction * r.latency_ns; }});
  table.push_back({"memory.activates", "activates", "Rows opened.",
                   [](const UnitReport& r) { return static_cast<double>(r.memory.activates); }});
  for (std::size_t i = 0; i < sim::kDramLimitCount; ++i) {
    table.push_back(
        {"memory.time_ns." + std::string(sim::kDramLimitNames[i]), "ns",
         "Time of the data buses by what they do or wait for; 0 without the dram model.",
         [i](const UnitReport& r) {
           return r.memory.dram ? r.memory.dram->time_ns(static_cast<sim::DramLimit>(i)) : 0.0;
         }});
  }
}

// The blocks of all units, in the order of their work.
constexpr const char* kBlockNames[] = {
    "query_encoder", "key_fetch",   "fetch",         "mac_array",  "ternary_gather",
    "softmax_unit",  "weight_unit", "topk_selector", "normalizer", "systematic_sampler",
    "value_fetch",   "value_array", "value_gather",  "divider"};

// "value_fetch" of "unit3.value_fetch".
std::string_view block_kind(std::string_view name) {
  return name.substr(name.find('.') + 1);
}

double mean_cycles(const UnitReport& report, std::string_view block,
                   std::uint64_t sim::BlockCounters::*member) {
  double sum = 0.0;
  for (const sim::BlockCounters& counters : report.blocks) {
    if (block_kind(counters.block) == block) sum += static_cast<double>(counters.*member);
  }
  return sum / static_cast<double>(report.unit_latency_ns.size());
}

void add_blocks(Table& table) {
  using sim::BlockCounters;
  const auto add = [&](const char* key, const char* sentence,
                       std::uint64_t BlockCounters::*member) {
    for (const char* block : kBlockNames) {
      table.push_back({fmt::format("blocks.{}.{}", block, key), "cycles", sentence,
                       [=](const UnitReport& r) { return mean_cycles(r, block, member); }, block});
    }
  };
  add("busy_cycles", "Cycles in which the block works, mean of the units of the system.",
      &BlockCounters::busy_cycles);
  add("starved_cycles", "Cycles in which it waits for input.", &BlockCounters::starved_cycles);
  add("blocked_cycles", "Cycles in which it waits for room downstream or for memory credit.",
      &BlockCounters::blocked_cycles);
}

// A block that the table does not have would be lost.
void require_known_blocks(const UnitReport& report) {
  for (const sim::BlockCounters& counters : report.blocks) {
    const std::string_view block = block_kind(counters.block);
    if (std::find(std::begin(kBlockNames), std::end(kBlockNames), block) == std::end(kBlockNames)) {
      throw std::logic_error("no metric of the block " + counters.block);
    }
  }
}

Table make_table() {
  Table table;
  table.push_back({"latency_ns", "ns", "From the first request of a layer to its last output.",
                   [](const UnitReport& r) { return r.latency_ns; }});
  table.push_back({"unit_ns", "ns", "Time until its last output, mean of the units of the system.",
                   [](const UnitReport& r) {
                     double sum = 0.0;
                     for (const double unit : r.unit_latency_ns) sum += unit;
                     return sum / static_cast<double>(r.unit_latency_ns.size());
                   }});
  add_energy(table);
  add_traffic(table);
  add_samples(table);
  add_memory(table);
  table.push_back({"multiplies", "operations", "Multiplications.", [](const UnitReport& r) {
                     return static_cast<double>(r.operations.multiplies);
                   }});
  add_blocks(table);
  return table;
}

}  // namespace

const std::vector<ModelMetric>& model_metrics() {
  static const Table table = make_table();
  return table;
}

std::size_t metric_index(const std::string& key) {
  const Table& table = model_metrics();
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].key == key) return i;
  }
  throw std::logic_error("no metric " + key);
}

std::vector<double> measure_layer(const sim::UnitReport& report) {
  require_known_blocks(report);
  std::vector<double> values;
  for (const ModelMetric& metric : model_metrics()) values.push_back(metric.value(report));
  return values;
}

Estimate estimate_sum(const std::vector<double>& sample, std::size_t population) {
  const auto count = static_cast<double>(sample.size());
  const auto all = static_cast<double>(population);
  double sum = 0.0;
  for (const double value : sample) sum += value;
  if (sample.size() == population) return {sum, 0.0};
  // From the first on, so that equal values have no spread at all.
  double shifted = 0.0;
  for (const double value : sample) shifted += value - sample.front();
  const double mean = sample.front() + shifted / count;
  if (sample.size() == 1) return {all * mean, std::numeric_limits<double>::quiet_NaN()};
  double squares = 0.0;
  for (const double value : sample) squares += (value - mean) * (value - mean);
  const boost::math::students_t distribution(count - 1.0);
  const double t = boost::math::quantile(distribution, 0.975);
  const double error = std::sqrt(squares / (count - 1.0) / count * (1.0 - count / all));
  return {all * mean, t * all * error};
}

}  // namespace santa::cli
