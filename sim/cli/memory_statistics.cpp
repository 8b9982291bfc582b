#include "memory_statistics.hpp"

#include <cstdint>

namespace santa::cli {
namespace {

using Table = std::vector<Statistic<UnitView>>;
using sim::DramCounters;
using sim::DramSums;
using sim::MemoryCounters;

void add_common(Table& table) {
  const auto memory = [&](const char* key, const char* unit, const char* sentence, auto value) {
    table.push_back({key, unit, sentence,
                     [value](const UnitView& view) { return Json(view.report().memory.*value); }});
  };
  memory("memory.read_requests", "requests", "Read requests of the unit.",
         &MemoryCounters::read_requests);
  memory("memory.write_requests", "requests", "Write requests of the unit.",
         &MemoryCounters::write_requests);
  memory("memory.activates", "activates", "Rows opened.", &MemoryCounters::activates);
  memory("memory.row_hits", "pieces",
         "Pieces of requests, each on one channel and in one row, that found their row open.",
         &MemoryCounters::row_hits);
  memory("memory.busy_fraction", "fraction", "Bandwidth used over peak bandwidth, whole run.",
         &MemoryCounters::busy_fraction);
  memory("memory.mean_latency_ns", "ns", "Mean time from a request's acceptance to its response.",
         &MemoryCounters::mean_latency_ns);
  memory("memory.peak_outstanding", "requests", "Most requests in flight at once.",
         &MemoryCounters::peak_outstanding);
}

// A value of the dram model's counters; null with another model.
template <typename Value>
auto of_dram(Value value) {
  return [value](const UnitView& view) {
    const auto& dram = view.report().memory.dram;
    return dram ? Json(value(*dram)) : Json(nullptr);
  };
}

// The same by limit.
template <typename Value>
auto by_limit(Value value) {
  return [value](const UnitView& view) {
    const auto& dram = view.report().memory.dram;
    Json object = Json::object();
    for (std::size_t i = 0; i < sim::kDramLimitCount; ++i) {
      object[std::string(sim::kDramLimitNames[i])] =
          dram ? Json(value(*dram, static_cast<sim::DramLimit>(i))) : Json(nullptr);
    }
    return object;
  };
}

void add_dram(Table& table) {
  const auto sum = [&](const char* key, const char* unit, const char* sentence,
                       std::uint64_t DramSums::*value) {
    table.push_back({key, unit, sentence,
                     of_dram([value](const DramCounters& dram) { return dram.sums.*value; })});
  };
  sum("memory.bursts", "bursts",
      "Read and write commands; this and what follows, of the dram model.", &DramSums::bursts);
  sum("memory.precharges", "precharges", "Rows closed for another row.", &DramSums::precharges);
  sum("memory.refreshes", "refreshes", "Refreshes of all banks of a channel.",
      &DramSums::refreshes);
  table.push_back({"memory.limit", "",
                   "What to change for more bandwidth: bus where data moves in four fifths of the "
                   "time in which it is asked for, else the largest other of memory.time_ns.",
                   of_dram([](const DramCounters& dram) {
                     return sim::kDramLimitNames[sim::index_of(sim::binding_limit(dram.sums))];
                   })});
  table.push_back({"memory.limited_bursts.*", "bursts",
                   "Bursts by the constraint that set the time of their command (docs/dram.md).",
                   by_limit([](const DramCounters& dram, sim::DramLimit limit) {
                     return dram.sums.limited_bursts[sim::index_of(limit)];
                   })});
  table.push_back({"memory.time_ns.*", "ns",
                   "Time of the data buses, all channels added up: bus while they move data, else "
                   "the constraint that the next burst waited for.",
                   by_limit([](const DramCounters& dram, sim::DramLimit limit) {
                     return dram.time_ns(limit);
                   })});
}

}  // namespace

std::vector<Statistic<UnitView>> memory_statistics() {
  Table table;
  add_common(table);
  add_dram(table);
  return table;
}

}  // namespace santa::cli
