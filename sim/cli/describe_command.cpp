#include "describe_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "json_report.hpp"
#include "model_statistics.hpp"
#include "santa/config/hardware.hpp"
#include "santa/config/model_shape.hpp"
#include "santa/config/preset.hpp"
#include "santa/energy/pack.hpp"
#include "statistics.hpp"
#include "text.hpp"

namespace santa::cli {
namespace {

// A table to show in any format: its name in JSON, a heading, column names, rows of text.
struct Listing {
  std::string name;
  std::string heading;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

// Narrow columns side by side; the last one, of sentences, wraps on lines of its own.
std::string as_text(const Listing& listing) {
  std::string out = wrapped(listing.heading, 0) + "\n";
  const std::size_t narrow = listing.columns.size() - 1;
  std::vector<std::size_t> widths(narrow, 0);
  for (const auto& row : listing.rows) {
    for (std::size_t c = 0; c < narrow; ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  for (const auto& row : listing.rows) {
    std::string line;
    for (std::size_t c = 0; c < narrow; ++c) line += fmt::format("{:<{}}  ", row[c], widths[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n" + wrapped("    " + row[narrow], 4);
  }
  return out;
}

std::string as_markdown(const Listing& listing) {
  const auto line = [](const std::vector<std::string>& cells) {
    std::string text = "|";
    for (const std::string& cell : cells) {
      text += " ";
      for (const char c : cell) text += c == '|' ? "\\|" : std::string(1, c);
      text += " |";
    }
    return text + "\n";
  };
  std::string out = listing.heading + "\n\n" + line(listing.columns);
  out += line(std::vector<std::string>(listing.columns.size(), "---"));
  for (std::vector<std::string> row : listing.rows) {
    row.front() = "`" + row.front() + "`";
    out += line(row);
  }
  return out;
}

Json as_json(const Listing& listing) {
  Json list = Json::array();
  for (const auto& row : listing.rows) {
    Json entry = Json::object();
    for (std::size_t c = 0; c < listing.columns.size(); ++c) entry[listing.columns[c]] = row[c];
    list.push_back(std::move(entry));
  }
  return list;
}

std::string render(const std::vector<Listing>& listings, DescribeFormat format) {
  if (format == DescribeFormat::kJson) {
    Json object = Json::object();
    for (const Listing& listing : listings) object[listing.name] = as_json(listing);
    return to_text(object);
  }
  std::string out;
  for (const Listing& listing : listings) {
    if (!out.empty()) out += "\n";
    out += format == DescribeFormat::kMarkdown ? as_markdown(listing) : as_text(listing);
  }
  return out;
}

template <typename Source>
std::vector<std::vector<std::string>> rows_of(const std::vector<Statistic<Source>>& statistics) {
  std::vector<std::vector<std::string>> rows;
  rows.reserve(statistics.size());
  for (const auto& s : statistics) rows.push_back({s.key, s.unit, s.sentence});
  return rows;
}

std::vector<Listing> describe_statistics() {
  const std::vector<std::string> columns = {"key", "unit", "meaning"};
  return {{"run", "Keys of the whole run. A key that does not apply is null, never missing.",
           columns, rows_of(run_statistics())},
          {"unit",
           "Keys of one unit: at the top for the unit asked for, and again under baselines.dense, "
           "baselines.dense_fp16 and baselines.topk. `*` stands for a name, `[]` for every element "
           "of a list.",
           columns, rows_of(unit_statistics())},
          {"model", "Keys of a run of santasim model.", columns, rows_of(model_statistics())},
          {"method",
           "Keys of one method of santasim model, under methods.dense, methods.dense_fp16, "
           "methods.topk, methods.sampled and methods.bernoulli.",
           columns, rows_of(method_statistics())}};
}

Listing describe_keys(const std::string& name, const std::string& heading,
                      const std::vector<config::KeyDescription>& keys) {
  Listing listing{name, heading, {"key", "type", "allowed", "unit", "meaning"}, {}};
  for (const config::KeyDescription& key : keys) {
    listing.rows.push_back({key.key, key.type, key.allowed, key.unit, key.sentence});
  }
  return listing;
}

Listing describe_presets() {
  Listing listing{"presets",
                  "Presets that ship with the program, by name.",
                  {"name", "kind", "used by", "file"},
                  {}};
  const std::vector<std::string> kinds[] = {{"hardware", "--config"},
                                            {"models", "--model"},
                                            {"energy", "energy_pack, --pack"},
                                            {"dram", "memory.timing"}};
  for (const auto& kind : kinds) {
    for (const std::string& name : config::preset_names(kind[0])) {
      listing.rows.push_back({name, kind[0], kind[1], config::find_config(kind[0], name)});
    }
  }
  return listing;
}

std::vector<Listing> describe_configuration() {
  return {
      describe_keys("hardware", "Keys of a hardware file (--config, --set). Every key is required.",
                    config::describe_hardware_keys()),
      describe_keys("dram",
                    "Keys of a file of memory.timing, there without dram, and of a section dram in "
                    "its place; --set changes either. Every key is required.",
                    config::describe_dram_keys()),
      describe_keys("model", "Keys of a model file (--model). Every key is required.",
                    config::describe_model_keys()),
      describe_presets()};
}

std::vector<Listing> describe_energy(const std::string& name) {
  const energy::EnergyPack pack = energy::EnergyPack::load(config::find_config("energy", name));
  Listing listing{"constants",
                  fmt::format("Constants of the energy pack {}: {}", pack.name(), pack.title()),
                  {"constant", "at", "low", "mid", "high", "unit", "confidence", "origin"},
                  {}};
  for (const energy::ConstantRow& row : pack.rows()) {
    std::string origin = fmt::format("{}, {}: {}", row.process, row.supply, row.source);
    if (!row.interpolation.empty()) origin += "; between points: " + row.interpolation;
    if (!row.note.empty()) origin += "; " + row.note;
    listing.rows.push_back({row.constant, row.at, fmt::format("{}", row.value.low),
                            fmt::format("{}", row.value.mid), fmt::format("{}", row.value.high),
                            row.unit, row.confidence, origin});
  }
  return {listing};
}

}  // namespace

std::string describe(const DescribeOptions& options) {
  switch (options.topic) {
    case DescribeTopic::kStatistics:
      return render(describe_statistics(), options.format);
    case DescribeTopic::kConfiguration:
      return render(describe_configuration(), options.format);
    case DescribeTopic::kEnergy:
      break;
  }
  return render(describe_energy(options.energy_pack), options.format);
}

}  // namespace santa::cli
