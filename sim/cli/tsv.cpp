#include <fmt/format.h>

#include "json_report.hpp"
#include "statistics.hpp"
#include "table.hpp"

namespace santa::cli {
namespace {

// Adds "prefix.name" keys for the plain values of `json`.
void flatten(const std::string& prefix, const Json& json,
             std::vector<std::pair<std::string, std::string>>& out) {
  if (json.is_object()) {
    for (const auto& [name, value] : json.items()) {
      flatten(fmt::format("{}.{}", prefix, name), value, out);
    }
  } else if (!json.is_array()) {
    out.emplace_back(prefix, json.is_string() ? json.get<std::string>() : json.dump());
  }
}

// The same value for every unit: `*` keys as one line a name.
std::vector<std::pair<std::string, std::string>> values_of(const Statistic<UnitView>& statistic,
                                                           const UnitView& view) {
  std::vector<std::pair<std::string, std::string>> values;
  const std::size_t star = statistic.key.find('*');
  const Json json = statistic.value(view);
  if (star == std::string::npos) {
    flatten(statistic.key, json, values);
    return values;
  }
  for (const auto& [name, value] : json.items()) {
    std::string key = statistic.key;
    flatten(key.replace(star, 1, name), value, values);
  }
  return values;
}

}  // namespace

std::string make_tsv(const RunResult& run) {
  std::string text = "key\tunit";
  for (const sim::UnitReport& unit : run.units) text += "\t" + sim::to_string(unit.kind);
  text += "\n";
  for (const auto& statistic : unit_statistics()) {
    // Lists have no single value, and the units have different blocks.
    if (statistic.key.find("[]") != std::string::npos || statistic.key.rfind("blocks.", 0) == 0) {
      continue;
    }
    std::vector<std::vector<std::pair<std::string, std::string>>> columns;
    for (std::size_t u = 0; u < run.units.size(); ++u) {
      columns.push_back(values_of(statistic, {run, u}));
    }
    for (std::size_t line = 0; line < columns.front().size(); ++line) {
      text += columns.front()[line].first + "\t" + statistic.unit;
      for (const auto& column : columns) text += "\t" + column[line].second;
      text += "\n";
    }
  }
  return text;
}

}  // namespace santa::cli
