// The one table of result keys: name, unit and meaning of each, and how it is computed. The JSON
// report, the tab-separated output and `santasim describe stats` are made from it.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "results.hpp"

namespace santa::cli {

using Json = nlohmann::ordered_json;

// One simulated unit of a run.
struct UnitView {
  const RunResult& run;
  std::size_t index;
  const sim::UnitReport& report() const { return run.units[index]; }
  const energy::EnergyReport& energy() const { return report().energy; }
  const Accuracy& accuracy() const { return run.accuracy[index]; }
};

// A key with what it means. In the key, `*` stands for any name (of a block, of a part of the
// energy) and `[]` after a name for every element of a list of objects. Then `value` gives an
// object by those names, or an array with one entry an element.
template <typename Source>
struct Statistic {
  std::string key;
  std::string unit;  // empty where there is none
  std::string sentence;
  std::function<Json(const Source&)> value;
};

// Keys of one unit: at the top of a report for the unit asked for, and under "baselines.dense.",
// "baselines.dense_fp16." and "baselines.topk.".
const std::vector<Statistic<UnitView>>& unit_statistics();

// Keys of the whole run.
const std::vector<Statistic<RunResult>>& run_statistics();

// Keys of a hardware description and of its timing, in the order of reports.
std::vector<config::KeyDescription> configuration_keys();

// Value of one of them, as in the canonical text; null where there is no such section.
Json hardware_value(const config::HardwareConfig& hardware,
                    const config::KeyDescription& description);

// Name under "baselines." and kind of each, in the order of reports.
struct Baseline {
  const char* name;
  sim::UnitKind kind;
};
inline constexpr Baseline kBaselines[] = {{"dense", sim::UnitKind::kDenseInt8},
                                          {"dense_fp16", sim::UnitKind::kDenseFp16},
                                          {"topk", sim::UnitKind::kTopK}};

}  // namespace santa::cli
