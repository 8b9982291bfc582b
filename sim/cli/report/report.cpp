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

// All that its figures show; long lists are of the layers that were simulated.
Json slim_model(const ReportedRun& run) {
  Json slim = Json::object();
  slim["label"] = run.label;
  Json& body = slim["report"] = chosen(run.report, {"model", "requests", "data", "simulated",
                                                    "options", "configuration", "methods"});
  body["provenance"] = chosen(run.report["provenance"], {"version", "command", "configuration_hash",
                                                         "energy_pack", "energy_pack_sha256"});
  return slim;
}

// Adds a result. Throws InputError if it is of another command than those before it.
void add(ReportedRuns& runs, ReportedRun run, const std::string& path) {
  const bool of_model = is_model_result(run.report);
  if (runs.runs.empty()) runs.of_models = of_model;
  if (of_model != runs.of_models) {
    throw input_error(config::escaped(path), "",
                      fmt::format("is a result of santasim {} beside one of santasim {}",
                                  of_model ? "model" : "run", of_model ? "run" : "model"),
                      "results of one command on a page");
  }
  runs.runs.push_back(std::move(run));
}

std::string about_run(const Json& report) {
  return fmt::format("{}: {} query heads over {} KV heads of {} features, {} tokens, layers {}.",
                     text_at(report, "input.source"), number_at(report, "input.query_heads"),
                     number_at(report, "input.kv_heads"), number_at(report, "input.head_dimension"),
                     number_at(report, "input.context"), at_key(report, "input.layers").dump());
}

std::string about_model(const Json& report) {
  const Json& lengths = at_key(report, "requests.lengths");
  const auto [shortest, longest] = std::minmax_element(lengths.begin(), lengths.end());
  return fmt::format(
      "A decode step, attention alone: {} layers, {} query heads over {} KV heads of {} features; "
      "batch {} of {} tokens; {} of {} heads simulated, drawn from {}.",
      number_at(report, "model.layers"), number_at(report, "model.query_heads"),
      number_at(report, "model.kv_heads"), number_at(report, "model.head_dimension"),
      number_at(report, "requests.batch"),
      *shortest == *longest ? shortest->dump()
                            : fmt::format("{} to {}", shortest->dump(), longest->dump()),
      number_at(report, "simulated.heads"), number_at(report, "simulated.heads_total"),
      text_at(report, "data.source"));
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
    add(result, {labels[i], parse_any_result(*text, path)}, path);
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
    Json report = load_any_result(path);
    std::string label = fs::path(path).stem().string();
    if (inputs.size() > 1 && !is_model_result(report)) label += ": " + unit_label(report, report);
    add(runs, {config::escaped(label), std::move(report)}, path);
  }
  const Json& first = runs.runs.front().report;
  runs.title = fmt::format("{} on {}",
                           runs.of_models ? text_at(first, "model.name") : unit_label(first, first),
                           text_at(first, "configuration.name"));
  if (inputs.size() > 1) {
    runs.title = fmt::format("{} {}", inputs.size(), runs.of_models ? "decode steps" : "runs");
  }
  runs.about = runs.of_models ? about_model(first) : about_run(first);
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
    const bool windows = page["runs"].size() < kRunsWithWindows;
    page["runs"].push_back(runs.of_models ? slim_model(run) : slim_run(run, windows));
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
  replace(page, "@FIGURES@",
          std::string(kFigureToolsJs) +
              (runs.of_models ? kModelFiguresJs : std::string(kFiguresJs) + kSensitivityJs));
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
