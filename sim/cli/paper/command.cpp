#include "paper/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <thread>

#include "json_report.hpp"
#include "output_file.hpp"
#include "paper/document.hpp"
#include "progress.hpp"
#include "raw_options.hpp"
#include "santa/config/message_text.hpp"
#include "santa/error.hpp"
#include "santa/paper/part.hpp"
#include "shipped_trace.hpp"

namespace santa::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOut = "--out";

// The command that repeats this, less its outputs.
std::string command_of(const PaperOptions& options) {
  std::string text = "santasim paper";
  for (const std::string& name : options.only) text += " --only " + name;
  if (options.gpu_results != SANTA_GPU_RESULTS_DIR) {
    text += " --gpu-results " + shell_word(options.gpu_results);
  }
  return text + fmt::format(" --seed {}", options.seed);
}

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && fs::is_directory(folder, error)) return;
  throw input_error(kOut, config::in_quotes(folder), error ? error.message() : "is not a folder",
                    "a folder to write to");
}

struct Outputs {
  std::string document;
  std::string numbers;
};

Outputs check_outputs(const PaperOptions& options) {
  std::vector<NamedPath> outputs;
  Outputs paths;
  if (!options.folder.empty()) {
    make_folder(options.folder);
    paths.document = (fs::path(options.folder) / "paper.md").string();
    paths.numbers = (fs::path(options.folder) / "paper.json").string();
    outputs.push_back({kOut, paths.document});
    outputs.push_back({kOut, paths.numbers});
  }
  if (!options.json.empty() && options.json != kStandardOutput) {
    outputs.push_back({"--json", options.json});
  }
  require_distinct({}, outputs);
  for (const NamedPath& output : outputs) OutputFile::check(output.option, output.path);
  return paths;
}

void write_file(const std::string& path, const std::string& text) {
  OutputFile file(kOut, path);
  file.write(text);
  file.commit();
}

}  // namespace

void regenerate_paper(const PaperOptions& options) {
  const Outputs paths = check_outputs(options);
  paper::Settings settings;
  settings.trace = find_shipped_trace();
  settings.trace_name = fmt::format("`{}`", kShippedTrace);
  settings.gpu_results = options.gpu_results;
  settings.seed = options.seed;
  Progress progress;
  std::string name;
  paper::Execution execution;
  execution.jobs =
      options.jobs != 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
  execution.progress = [&](double fraction) { progress.show(name, fraction); };
  std::vector<paper::Part> parts;
  std::string screen;
  for (const paper::PartMaker& maker : paper::part_makers()) {
    name = maker.name;
    if (!options.only.empty() &&
        std::find(options.only.begin(), options.only.end(), name) == options.only.end()) {
      continue;
    }
    parts.push_back(maker.make(settings, execution));
    screen += (screen.empty() ? "" : "\n") + paper_table(parts.back());
  }
  const std::string command = command_of(options);
  const Json json = paper_json(parts, command);
  if (!options.folder.empty()) {
    write_file(paths.document, paper_document(parts, command));
    write_file(paths.numbers, to_text(json));
    screen +=
        fmt::format("\n{}\n{}\n", config::escaped(paths.document), config::escaped(paths.numbers));
  }
  write_standard_output(place_result(options.json, screen, [&] { return json; }));
}

}  // namespace santa::cli
