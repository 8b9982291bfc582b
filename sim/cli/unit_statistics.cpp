#include <utility>

#include "memory_statistics.hpp"
#include "santa/config/hardware.hpp"
#include "statistics.hpp"

namespace santa::cli {
namespace {

using energy::Range;
using Table = std::vector<Statistic<UnitView>>;
using Getter = std::function<Json(const UnitView&)>;
using RangeGetter = std::function<Json(const UnitView&, double Range::*)>;

Json optional_number(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// Three keys with the low, mid and high end of one quantity.
void add_range(Table& table, const std::string& key, const std::string& unit,
               const std::string& what, const RangeGetter& value) {
  const std::pair<const char*, double Range::*> ends[] = {
      {"low", &Range::low}, {"mid", &Range::mid}, {"high", &Range::high}};
  for (const auto& [name, member] : ends) {
    const auto end = member;
    table.push_back({key + "." + name, unit, what + ", " + name + " estimate.",
                     [value, end](const UnitView& view) { return value(view, end); }});
  }
}

template <typename Names, typename Values>
Json by_name(const Names& names, const Values& values, double Range::*end) {
  Json object = Json::object();
  for (std::size_t i = 0; i < names.size(); ++i) object[std::string(names[i])] = values[i].*end;
  return object;
}

double sum_mid(const energy::Range* values, std::size_t count) {
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) sum += values[i].mid;
  return sum;
}

double power_times_time(const energy::EnergyReport& report) {
  double sum = 0.0;
  for (const energy::Window& window : report.windows) sum += window.power_mw * window.duration_ns;
  return sum;
}

// The dense int8 unit's value of the same quantity; null without that unit or where it is 0.
Json over_dense(const UnitView& view, double (*quantity)(const sim::UnitReport&)) {
  const auto dense = view.run.find(sim::UnitKind::kDenseInt8);
  if (!dense) return nullptr;
  const double reference = quantity(view.run.units[*dense]);
  return reference > 0.0 ? Json(quantity(view.report()) / reference) : Json(nullptr);
}

void add_basics(Table& table) {
  table.push_back({"unit", "",
                   "Which unit this is: sampled (adders only), dense (int8), dense_fp16 or topk.",
                   [](const UnitView& v) { return Json(sim::to_string(v.report().kind)); }});
  table.push_back({"latency.cycles", "cycles",
                   "From the first request's start to the last one's output written.",
                   [](const UnitView& v) { return Json(v.report().latency_cycles); }});
  table.push_back({"latency.ns", "ns",
                   "The same as time; the last response of the memory may fall within a cycle.",
                   [](const UnitView& v) { return Json(v.report().latency_ns); }});
  table.push_back({"latency.units_ns", "ns",
                   "When each unit of the system (system.units) wrote its last output.",
                   [](const UnitView& v) { return Json(v.report().unit_latency_ns); }});
  table.push_back({"relative_to_dense.latency", "ratio",
                   "Latency over that of the dense int8 unit.", [](const UnitView& v) {
                     return over_dense(v, [](const sim::UnitReport& r) { return r.latency_ns; });
                   }});
  table.push_back({"relative_to_dense.energy", "ratio",
                   "Energy (mid) over that of the dense int8 unit.", [](const UnitView& v) {
                     return over_dense(
                         v, [](const sim::UnitReport& r) { return r.energy.total_pj.mid; });
                   }});
  table.push_back({"relative_to_dense.traffic", "ratio",
                   "Bytes moved over those of the dense int8 unit.", [](const UnitView& v) {
                     return over_dense(v, [](const sim::UnitReport& r) {
                       return static_cast<double>(r.traffic.total_bytes());
                     });
                   }});
}

void add_energy(Table& table) {
  add_range(table, "energy.total_pj", "pJ", "Energy of the unit and its memory over the run",
            [](const UnitView& v, double Range::*end) { return Json(v.energy().total_pj.*end); });
  add_range(
      table, "energy.average_power_mw", "mW", "Energy over latency",
      [](const UnitView& v, double Range::*end) { return Json(v.energy().average_power_mw.*end); });
  add_range(table, "energy.parts_pj.*", "pJ",
            "Energy by physical kind (adders, sram, dram_io, ...)",
            [](const UnitView& v, double Range::*end) {
              return by_name(energy::kPartNames, v.energy().parts_pj, end);
            });
  add_range(table, "energy.blocks_pj.*", "pJ", "The same energy by block of the unit",
            [](const UnitView& v, double Range::*end) {
              return by_name(energy::kBlockNames, v.energy().blocks_pj, end);
            });
  table.push_back({"energy.checks.parts_sum_pj", "pJ",
                   "Sum of energy.parts_pj (mid), which equals the total or the run fails.",
                   [](const UnitView& v) {
                     return Json(sum_mid(v.energy().parts_pj.data(), energy::kPartCount));
                   }});
  table.push_back({"energy.checks.blocks_sum_pj", "pJ",
                   "Sum of energy.blocks_pj (mid), which equals the total or the run fails.",
                   [](const UnitView& v) {
                     return Json(sum_mid(v.energy().blocks_pj.data(), energy::kBlockCount));
                   }});
  table.push_back(
      {"energy.checks.power_times_time_pj", "pJ",
       "Sum of power x duration over the windows, which equals the total or the run fails.",
       [](const UnitView& v) { return Json(power_times_time(v.energy())); }});
  table.push_back({"energy.scope", "", "What is in the energy and what is not.",
                   [](const UnitView& v) { return Json(v.energy().scope); }});
  table.push_back({"energy.dram_kind", "", "Memory whose energy is counted.",
                   [](const UnitView& v) { return Json(v.energy().dram_kind); }});
  table.push_back({"energy.dram_devices", "devices", "Devices whose background power is counted.",
                   [](const UnitView& v) { return Json(v.energy().dram_devices); }});
}

void add_energy_windows(Table& table) {
  table.push_back({"energy.windows.duration_ns", "ns",
                   "Duration of each slice of the run, from time 0 on, without gaps.",
                   [](const UnitView& v) {
                     Json list = Json::array();
                     for (const auto& window : v.energy().windows)
                       list.push_back(window.duration_ns);
                     return list;
                   }});
  table.push_back(
      {"energy.windows.power_mw", "mW", "Mean power (mid) in each slice.", [](const UnitView& v) {
         Json list = Json::array();
         for (const auto& window : v.energy().windows) list.push_back(window.power_mw);
         return list;
       }});
}

// One field of every energy line.
template <typename Field>
Getter of_lines(Field field) {
  return [field](const UnitView& view) {
    Json list = Json::array();
    for (const energy::OperationLine& line : view.energy().operations) list.push_back(field(line));
    return list;
  };
}

template <typename Field>
Getter of_statics(Field field) {
  return [field](const UnitView& view) {
    Json list = Json::array();
    for (const energy::StaticLine& line : view.energy().statics) list.push_back(field(line));
    return list;
  };
}

void add_energy_lines(Table& table) {
  using energy::OperationLine;
  using energy::StaticLine;
  const std::string key = "energy.operations[].";
  table.push_back({key + "block", "", "Block that performed the operation.",
                   of_lines([](const OperationLine& l) { return Json(name_of(l.block)); })});
  table.push_back({key + "part", "", "Physical kind that the energy is booked under.",
                   of_lines([](const OperationLine& l) { return Json(name_of(l.part)); })});
  table.push_back({key + "name", "", "Operation or memory access.",
                   of_lines([](const OperationLine& l) { return Json(l.name); })});
  table.push_back({key + "width_bits", "bits", "Width of the operands or of the port.",
                   of_lines([](const OperationLine& l) { return Json(l.width_bits); })});
  table.push_back({key + "count", "operations", "How often it was performed.",
                   of_lines([](const OperationLine& l) { return Json(l.count); })});
  table.push_back({key + "each_pj", "pJ", "Price that was applied to one (mid).",
                   of_lines([](const OperationLine& l) { return Json(l.each_pj.mid); })});
  table.push_back({key + "total_pj", "pJ", "Energy of all of them (mid).",
                   of_lines([](const OperationLine& l) { return Json(l.total_pj.mid); })});
  table.push_back({key + "constant", "", "Key of the price in the energy pack.",
                   of_lines([](const OperationLine& l) { return Json(l.constant); })});
  table.push_back({key + "rule", "", "How the price follows from that constant.",
                   of_lines([](const OperationLine& l) { return Json(l.rule); })});
  table.push_back({key + "confidence", "",
                   "How well the constant is founded: primary, derived or estimate.",
                   of_lines([](const OperationLine& l) { return Json(name_of(l.confidence)); })});
  const std::string statics = "energy.static[].";
  table.push_back({statics + "block", "", "Block that draws power all the time.",
                   of_statics([](const StaticLine& l) { return Json(name_of(l.block)); })});
  table.push_back({statics + "part", "", "Leakage or background.",
                   of_statics([](const StaticLine& l) { return Json(name_of(l.part)); })});
  table.push_back({statics + "name", "", "What draws it.",
                   of_statics([](const StaticLine& l) { return Json(l.name); })});
  table.push_back({statics + "power_mw", "mW", "Power (mid).",
                   of_statics([](const StaticLine& l) { return Json(l.power_mw.mid); })});
  table.push_back({statics + "total_pj", "pJ", "Energy over the run (mid).",
                   of_statics([](const StaticLine& l) { return Json(l.total_pj.mid); })});
}

// A counter that is a member of a member of the report.
template <typename Part, typename Value>
Getter counter(Part sim::UnitReport::*part, Value Part::*value) {
  return [part, value](const UnitView& view) { return Json(view.report().*part.*value); };
}

void add_traffic(Table& table) {
  using sim::Traffic;
  using sim::UnitReport;
  const auto traffic = [&](const char* key, const char* sentence, std::uint64_t Traffic::*value) {
    table.push_back({key, "bytes", sentence, counter(&UnitReport::traffic, value)});
  };
  traffic("traffic.query_bytes", "Query operands read.", &Traffic::query_bytes);
  traffic("traffic.key_bytes", "Keys read; skipped features are not.", &Traffic::key_bytes);
  traffic("traffic.value_bytes", "Value rows read.", &Traffic::value_bytes);
  traffic("traffic.stash_bytes", "Weights or scores that did not fit on chip, written and read.",
          &Traffic::stash_bytes);
  traffic("traffic.output_bytes", "Outputs written.", &Traffic::output_bytes);
  traffic("traffic.append_bytes",
          "The new token's key and value, and the tile that it fills, transposed; santasim model "
          "alone has it.",
          &Traffic::append_bytes);
  table.push_back({"traffic.total_bytes", "bytes",
                   "Sum of the five streams, each in whole accesses of the memory.",
                   [](const UnitView& v) { return Json(v.report().traffic.total_bytes()); }});
}

void add_operations(Table& table) {
  using attention::OperationCounts;
  using sim::OperationTotals;
  using sim::UnitReport;
  const auto algorithm = [&](const char* key, const char* unit, const char* sentence,
                             std::uint64_t OperationCounts::*value) {
    table.push_back({key, unit, sentence, [value](const UnitView& view) {
                       return Json(view.report().operations.algorithm.*value);
                     }});
  };
  algorithm("operations.score_adds", "additions", "Additions of the algorithm for scores.",
            &OperationCounts::score_adds);
  algorithm("operations.score_multiplies", "multiplications",
            "Multiplications of the algorithm for scores.", &OperationCounts::score_multiplies);
  algorithm("operations.value_adds", "additions", "Additions of the algorithm for values.",
            &OperationCounts::value_adds);
  algorithm("operations.value_multiplies", "multiplications",
            "Multiplications of the algorithm for values.", &OperationCounts::value_multiplies);
  algorithm("operations.key_elements_read", "elements",
            "Elements of K that the algorithm reads, once for a group.",
            &OperationCounts::key_elements_read);
  algorithm("operations.value_elements_read", "elements",
            "Elements of V that the algorithm reads, by query head.",
            &OperationCounts::value_elements_read);
  algorithm("operations.scores_written", "elements", "Scores that the algorithm writes.",
            &OperationCounts::scores_written);
  algorithm("operations.outputs_written", "elements", "Output elements.",
            &OperationCounts::outputs_written);
  const auto executed = [&](const char* key, const char* unit, const char* sentence,
                            std::uint64_t OperationTotals::*value) {
    table.push_back({key, unit, sentence, counter(&UnitReport::operations, value)});
  };
  executed("operations.gather_adds", "additions",
           "Additions of shifted keys that the ternary gather executed.",
           &OperationTotals::gather_adds);
  executed("operations.value_adds_executed", "additions",
           "Additions of value elements executed, after draws of one row are merged.",
           &OperationTotals::value_adds_executed);
  executed("operations.multiplies", "multiplications", "Multiplications executed, of any width.",
           &OperationTotals::multiplies);
  executed("operations.divides", "divisions", "Divisions executed.", &OperationTotals::divides);
  executed("operations.exponentials", "exponentials",
           "Exponentials evaluated, by table or in floating point.",
           &OperationTotals::exponentials);
  executed("operations.random_words", "words", "64-bit words drawn from the shift register.",
           &OperationTotals::random_words);
}

void add_results(Table& table) {
  using sim::SampleTotals;
  const auto samples = [&](const char* key, const char* unit, const char* sentence,
                           std::uint64_t SampleTotals::*value) {
    table.push_back({key, unit, sentence, counter(&sim::UnitReport::samples, value)});
  };
  samples("samples.drawn", "draws", "Draws of all query heads.", &SampleTotals::drawn);
  samples("samples.unique_rows", "rows", "Different value rows used, by KV head.",
          &SampleTotals::unique_rows);
  samples("samples.row_reads", "rows", "Value rows fetched from memory.", &SampleTotals::row_reads);
  samples("samples.features_needed", "features", "Features of K fetched, summed over requests.",
          &SampleTotals::features_needed);
  samples("samples.features_total", "features", "Features of K, summed over requests.",
          &SampleTotals::features_total);
  samples("samples.tiles_scanned", "tiles", "Tiles whose weights the sampler read.",
          &SampleTotals::tiles_scanned);
  samples("samples.tiles_total", "tiles", "Tiles of all query heads.", &SampleTotals::tiles_total);
  table.push_back({"accuracy.relative_l2", "ratio",
                   "L2 distance of the output from float64 attention over the real tensors, over "
                   "the norm of the latter, all query heads together.",
                   [](const UnitView& v) { return optional_number(v.accuracy().relative_l2); }});
  table.push_back(
      {"accuracy.worst_head_relative_l2", "ratio", "The same of the worst query head alone.",
       [](const UnitView& v) { return optional_number(v.accuracy().worst_head_relative_l2); }});
  table.push_back({"accuracy.worst_head_layer", "", "Layer of that query head.",
                   [](const UnitView& v) { return Json(v.accuracy().worst_layer); }});
  table.push_back({"accuracy.worst_head", "", "Index of that query head in its layer.",
                   [](const UnitView& v) { return Json(v.accuracy().worst_query_head); }});
  table.push_back(
      {"accuracy.log_sum_exp_error", "nats",
       "Largest absolute error of a query head's log-sum-exp; null for fp16.",
       [](const UnitView& v) { return optional_number(v.accuracy().log_sum_exp_error); }});
  table.push_back({"accuracy.missing_reason", "", "Why the error is null; null where it is not.",
                   [](const UnitView& v) {
                     const std::string& reason = v.accuracy().missing_reason;
                     return reason.empty() ? Json(nullptr) : Json(reason);
                   }});
}

void add_blocks(Table& table) {
  using sim::BlockCounters;
  const auto cycles = [&](const char* key, const char* sentence,
                          std::uint64_t BlockCounters::*value) {
    table.push_back({key, "cycles", sentence, [value](const UnitView& view) {
                       Json object = Json::object();
                       for (const BlockCounters& block : view.report().blocks) {
                         object[block.block] = block.*value;
                       }
                       return object;
                     }});
  };
  cycles("blocks.*.busy_cycles", "Cycles in which the block works.", &BlockCounters::busy_cycles);
  cycles("blocks.*.starved_cycles", "Cycles in which it waits for input.",
         &BlockCounters::starved_cycles);
  cycles("blocks.*.blocked_cycles",
         "Cycles in which it waits for room downstream or for memory credit.",
         &BlockCounters::blocked_cycles);
}

Table make_table() {
  Table table;
  add_basics(table);
  add_results(table);
  add_energy(table);
  add_traffic(table);
  for (Statistic<UnitView>& statistic : memory_statistics()) table.push_back(std::move(statistic));
  add_operations(table);
  add_blocks(table);
  add_energy_windows(table);
  add_energy_lines(table);
  return table;
}

}  // namespace

const std::vector<Statistic<UnitView>>& unit_statistics() {
  static const Table table = make_table();
  return table;
}

}  // namespace santa::cli
