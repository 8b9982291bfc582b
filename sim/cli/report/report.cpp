#include "report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "analysis/result_file.hpp"
#include "output_file.hpp"
#include "report/page_source.hpp"
#include "santa/config/message_text.hpp"
#include "santa/error.hpp"
#include "sweep/store.hpp"

namespace santa::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRunsWithWindows = 16;
constexpr const char* kPlotlyFile = "/usr/share/python3-plotly/plotly.js";

// The members of an object that are named.
Json chosen(const Json& object, std::initializer_list<const char*> names) {
  Json result = Json::object();
  for (const char* name : names) {
    const auto member = object.find(name);
    if (member != object.end()) result[name] = *member;
  }
  return result;
}

Json slim_unit(const Json& unit, bool windows) {
  Json slim = chosen(unit, {"unit", "latency", "accuracy", "traffic", "blocks"});
  slim["memory"] = chosen(unit["memory"], {"busy_fraction", "limit"});
  slim["samples"] = chosen(unit["samples"], {"row_reads"});
  slim["operations"] =
      chosen(unit["operations"], {"gather_adds", "value_adds_executed", "multiplies"});
  slim["energy"] = chosen(unit["energy"], {"total_pj", "average_power_mw"});
  for (const auto& [name, range] : unit["energy"]["parts_pj"].items()) {
    slim["energy"]["parts_pj"][name] = chosen(range, {"mid"});
  }
  if (windows) slim["energy"]["windows"] = unit["energy"]["windows"];
  return slim;
}

Json slim_run(const ReportedRun& run, bool windows) {
  const Json& report = run.report;
  Json slim = Json::object();
  slim["label"] = run.label;
  slim["unit_label"] = unit_label(report, report);
  slim["baseline_labels"] = Json::object();
  Json& body = slim["report"] = slim_unit(report, windows);
  body["provenance"] = chosen(report["provenance"], {"version", "command", "configuration_hash",
                                                     "energy_pack", "energy_pack_sha256"});
  for (const char* section : {"input", "options", "configuration"}) {
    body[section] = report[section];
  }
  const auto baselines = report.find("baselines");
  if (baselines != report.end()) {
    for (const auto& [name, unit] : baselines->items()) {
      slim["baseline_labels"][name] = unit_label(unit, report);
      body["baselines"][name] = slim_unit(unit, windows);
    }
  }
  return slim;
}

// Settings that are not the same in every point, as "samples=4 memory.latency_ns=50".
std::vector<std::string> point_labels(const std::vector<Json>& lines) {
  std::map<std::string, std::string> first;
  std::map<std::string, bool> varies;
  for (const Json& line : lines) {
    for (const auto& [key, value] : line["settings"].items()) {
      const auto [entry, is_new] = first.emplace(key, value.get<std::string>());
      if (!is_new && entry->second != value) varies[key] = true;
      if (is_new && &line != &lines.front()) varies[key] = true;
    }
    for (const auto& [key, value] : first) {
      if (!line["settings"].contains(key)) varies[key] = true;
    }
  }
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string label;
    for (const auto& [key, value] : lines[i]["settings"].items()) {
      if (varies.count(key) == 0) continue;
      label += fmt::format("{}{}={}", label.empty() ? "" : " ", key, value.get<std::string>());
    }
    labels.push_back(label.empty() ? fmt::format("point {}", i) : label);
  }
  return labels;
}

// What sweep.json says of the sweep.
struct Manifest {
  std::string path;
  std::string name;
  std::size_t points = 0;
  std::string sha256;
};

constexpr const char* kWholeSweep = "what santasim sweep wrote; --resume writes it again";

Manifest load_manifest(const std::string& folder) {
  Manifest manifest;
  manifest.path = config::escaped(folder + "/sweep.json");
  const std::optional<std::string> text = read_text(folder + "/sweep.json");
  if (!text) throw input_error(manifest.path, "", "cannot be read", kWholeSweep);
  const Json json = Json::parse(*text, nullptr, false);
  const auto require = [&](const char* key, bool fits) {
    if (!fits) throw input_error(manifest.path, key, "is missing or damaged", kWholeSweep);
  };
  require("name", at_key(json, "name").is_string());
  require("points", at_key(json, "points").is_number_unsigned());
  require("sha256", at_key(json, "sha256").is_string());
  manifest.name = text_at(json, "name");
  manifest.points = at_key(json, "points").get<std::size_t>();
  manifest.sha256 = text_at(json, "sha256");
  return manifest;
}

// One line of results.jsonl, the `index`th. Throws InputError for another one.
Json parse_line(const std::string& text, const std::string& place, std::size_t index) {
  Json line = Json::parse(text, nullptr, false);
  const auto require = [&](const char* key, bool fits, const std::string& allowed) {
    if (!fits) throw input_error(place, key, "is no line of this sweep", allowed);
  };
  require("", line.is_object(), kWholeSweep);
  require("index", at_key(line, "index") == index, std::to_string(index));
  const std::string status = text_at(line, "status");
  require("status", status == "done" || status == "failed", "done, failed");
  require("key", at_key(line, "key").is_string(), kWholeSweep);
  const Json& settings = at_key(line, "settings");
  require("settings",
          settings.is_object() && std::all_of(settings.begin(), settings.end(),
                                              [](const Json& value) { return value.is_string(); }),
          kWholeSweep);
  return line;
}

// Every line of results.jsonl. Throws InputError unless they are the points of the manifest.
std::vector<Json> load_lines(const std::string& folder) {
  const std::string table = folder + "/results.jsonl";
  const std::optional<std::string> text = read_text(table);
  if (!text) {
    throw input_error(config::escaped(folder), "", "has no results.jsonl",
                      "the folder of a finished sweep; santasim sweep --resume finishes it");
  }
  const Manifest manifest = load_manifest(folder);
  std::vector<Json> lines;
  PointsHash hash;
  for (std::size_t begin = 0; begin < text->size();) {
    const std::size_t end = std::min(text->find('\n', begin), text->size());
    const std::string place = fmt::format("{}:{}", config::escaped(table), lines.size() + 1);
    lines.push_back(parse_line(text->substr(begin, end - begin), place, lines.size()));
    begin = end + 1;
    Settings settings;
    for (const auto& [key, value] : lines.back()["settings"].items()) {
      settings.push_back({key, value.get<std::string>()});
    }
    hash.add(lines.back()["key"], settings);
  }
  if (lines.size() != manifest.points) {
    throw input_error(config::escaped(table), "", fmt::format("has {} lines", lines.size()),
                      fmt::format("{}, the points of {}; santasim sweep --resume writes them",
                                  manifest.points, manifest.path));
  }
  if (hash.finish() != manifest.sha256) {
    throw input_error(config::escaped(table), "",
                      "has other keys and settings than the points of " + manifest.path,
                      kWholeSweep);
  }
  return lines;
}

ReportedRuns load_sweep(const std::string& folder) {
  const std::vector<Json> lines = load_lines(folder);
  const std::vector<std::string> labels = point_labels(lines);
  ReportedRuns result;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i]["status"] != "done") {
      ++result.failed;
      continue;
    }
    const std::string key = lines[i]["key"];
    const std::string path = fmt::format("{}/points/{}.json", folder, key);
    const std::optional<std::string> text = read_point(path, key);
    if (!text) {
      throw input_error(config::escaped(path), "",
                        "is missing, or is not the result that was written", kWholeSweep);
    }
    result.runs.push_back({labels[i], parse_result(*text, path)});
  }
  result.title = "Sweep: " + load_manifest(folder).name;
  result.about = fmt::format("{} points, {} of them failed.", lines.size(), result.failed);
  return result;
}

void replace(std::string& page, const std::string& mark, const std::string& text) {
  page.replace(page.find(mark), mark.size(), text);
}

std::string read_plotly(const std::string& path) {
  const std::string place = path.empty() ? kPlotlyFile : path;
  std::string text = read_text(place).value_or("");
  if (text.find("Plotly") == std::string::npos || text.find("</script") != std::string::npos) {
    throw input_error(path.empty() ? "plotly.js" : "--plotly", config::in_quotes(place),
                      text.empty() ? "cannot be read" : "is not plotly.js",
                      path.empty() ? "Debian's package python3-plotly, or --plotly FILE"
                                   : "a file plotly.js or plotly.min.js");
  }
  return text;
}

}  // namespace

ReportedRuns load_reported_runs(const std::vector<std::string>& inputs) {
  std::error_code error;
  if (inputs.size() == 1 && fs::is_directory(inputs.front(), error)) {
    ReportedRuns runs = load_sweep(inputs.front());
    if (runs.runs.empty()) {
      throw input_error(config::escaped(inputs.front()), "", "has no point that is done",
                        "a sweep with results");
    }
    return runs;
  }
  ReportedRuns runs;
  for (const std::string& path : inputs) {
    if (fs::is_directory(path, error)) {
      throw input_error(config::escaped(path), "", "is a folder beside other results",
                        "one folder of a sweep alone, or result files");
    }
    Json report = load_result(path);
    std::string label = fs::path(path).stem().string();
    if (inputs.size() > 1) label += ": " + unit_label(report, report);
    runs.runs.push_back({config::escaped(label), std::move(report)});
  }
  const Json& first = runs.runs.front().report;
  runs.title =
      fmt::format("{} on {}", unit_label(first, first), text_at(first, "configuration.name"));
  if (inputs.size() > 1) runs.title = fmt::format("{} runs", inputs.size());
  runs.about =
      fmt::format("{}: {} query heads over {} KV heads of {} features, {} tokens, layers {}.",
                  text_at(first, "input.source"), number_at(first, "input.query_heads"),
                  number_at(first, "input.kv_heads"), number_at(first, "input.head_dimension"),
                  number_at(first, "input.context"), at_key(first, "input.layers").dump());
  return runs;
}

Json page_data(const ReportedRuns& runs) {
  Json page = Json::object();
  page["title"] = runs.title;
  page["about"] = runs.about;
  page["program"] = program_version();
  page["failed"] = runs.failed;
  page["runs_with_windows"] = kRunsWithWindows;
  page["runs"] = Json::array();
  for (const ReportedRun& run : runs.runs) {
    page["runs"].push_back(slim_run(run, page["runs"].size() < kRunsWithWindows));
  }
  return page;
}

std::string make_page(const ReportedRuns& runs, const std::string& plotly) {
  // Within a script nothing may look like the end of it; in JSON '<' is in texts only.
  std::string values;
  for (const char c : page_data(runs).dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<') {
      values += "\\u003c";
    } else {
      values += c;
    }
  }
  // From the back, so that no mark is looked for in what was put in.
  std::string page = kPageHtml;
  replace(page, "@FIGURES@", std::string(kFiguresJs) + kSensitivityJs);
  replace(page, "@PAGE@", kPageJs);
  replace(page, "@DATA@", values);
  replace(page, "@PLOTLY@", plotly);
  replace(page, "@STYLE@", kPageCss);
  return page;
}

void report(const ReportOptions& options) {
  std::vector<NamedPath> inputs;
  for (const std::string& path : options.inputs) inputs.push_back({"an input", path});
  require_distinct(inputs, {{"--output", options.output}});
  OutputFile::check("--output", options.output);
  const std::string plotly = read_plotly(options.plotly);
  const std::string page = make_page(load_reported_runs(options.inputs), plotly);
  OutputFile file("--output", options.output);
  file.write(page);
  file.commit();
}

}  // namespace santa::cli
