#include "sweep/tables.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "output_file.hpp"
#include "santa/error.hpp"
#include "statistics.hpp"

namespace santa::cli {
namespace {

// Lists that are long and of no use in a table: they stay in the files of the points.
void drop_long_lists(Json& unit) {
  if (!unit.contains("energy")) return;
  Json& energy = unit["energy"];
  for (const char* name : {"operations", "static", "windows"}) energy.erase(name);
}

Json short_report(const std::string& text) {
  Json report = Json::parse(text);
  drop_long_lists(report);
  if (report.contains("baselines")) {
    for (Json& baseline : report["baselines"]) drop_long_lists(baseline);
  }
  return report;
}

using Fields = std::vector<std::pair<std::string, std::string>>;

// Everything that has a single value, by its key.
void flatten(const std::string& prefix, const Json& json, Fields& fields) {
  if (json.is_object()) {
    for (const auto& [name, value] : json.items()) {
      flatten(prefix.empty() ? name : fmt::format("{}.{}", prefix, name), value, fields);
    }
  } else if (json.is_null()) {
    fields.emplace_back(prefix, "");
  } else if (!json.is_array()) {
    fields.emplace_back(prefix, json.is_string() ? json.get<std::string>() : json.dump());
  }
}

Json load_report(const SweepStore& store, const SweepPoint& point) {
  std::string damage;
  const std::optional<std::string> text = store.load(point, damage);
  if (!text) {
    throw input_error(store.point_path(point), "", "has gone or changed while the sweep ran",
                      "a folder that nobody else writes to; --resume simulates it again");
  }
  return short_report(*text);
}

std::string json_line(std::size_t index, const SweepRow& row, const Json& report) {
  Json line = Json::object();
  line["index"] = index;
  line["key"] = row.point->key;
  line["status"] = row.failure.empty() ? "done" : "failed";
  line["reason"] = row.failure.empty() ? Json() : Json(row.failure);
  Json& settings = line["settings"] = Json::object();
  for (const auto& [key, value] : row.point->settings) settings[key] = value;
  line["result"] = report;
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

class Columns {
 public:
  void add(const std::string& name) {
    if (places_.emplace(name, names_.size()).second) names_.push_back(name);
  }
  const std::vector<std::string>& names() const { return names_; }
  std::string line(const Fields& fields) const {
    std::vector<std::string> cells(names_.size());
    for (const auto& [name, value] : fields) cells[places_.at(name)] = csv_field(value);
    return fmt::format("{}\r\n", fmt::join(cells, ","));
  }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::size_t> places_;
};

}  // namespace

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

void write_sweep_tables(const SweepStore& store, const SweepSpec& spec,
                        const std::vector<SweepRow>& rows) {
  Columns columns;
  for (const char* name : {"index", "key", "status", "reason"}) columns.add(name);
  for (const std::string& key : spec.keys) columns.add(key);
  OutputFile jsonl("--out", store.path("results.jsonl"));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SweepRow& row = rows[i];
    const Json report = row.failure.empty() ? load_report(store, *row.point) : Json();
    jsonl.write(json_line(i, row, report));
    Fields fields;
    if (!report.is_null()) flatten("", report, fields);
    for (const auto& [name, value] : fields) columns.add(name);
  }
  jsonl.commit();
  OutputFile csv("--out", store.path("results.csv"));
  Fields header;
  for (const std::string& name : columns.names()) header.emplace_back(name, name);
  csv.write(columns.line(header));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SweepRow& row = rows[i];
    Fields fields = {{"index", std::to_string(i)},
                     {"key", row.point->key},
                     {"status", row.failure.empty() ? "done" : "failed"},
                     {"reason", row.failure}};
    for (const auto& [key, value] : row.point->settings) fields.emplace_back(key, value);
    if (row.failure.empty()) flatten("", load_report(store, *row.point), fields);
    csv.write(columns.line(fields));
  }
  csv.commit();
}

}  // namespace santa::cli
