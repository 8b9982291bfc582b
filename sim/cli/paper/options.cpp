#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>

#include "raw_options.hpp"
#include "santa/config/message_text.hpp"
#include "santa/paper/part.hpp"

namespace santa::cli {
namespace {

constexpr std::uint64_t kMostJobs = 1024;

std::vector<std::string> part_names() {
  std::vector<std::string> names;
  for (const paper::PartMaker& maker : paper::part_makers()) names.emplace_back(maker.name);
  return names;
}

std::string examples() {
  std::string text =
      "Measures what the paper's tables and figures state without a large model, with the golden\n"
      "model's integers, and sets it beside the paper's values. DIR gets paper.md and paper.json;\n"
      "tools/paper_figures.py DIR draws the pictures. NAME is one of:\n";
  for (const paper::PartMaker& maker : paper::part_makers()) {
    text += fmt::format("  {:<10}{}\n", maker.name, maker.description);
  }
  return text +
         "\nExamples:\n"
         "  santasim paper                                  all tables on the screen\n"
         "  santasim paper --only table17 --only figure7\n"
         "  santasim paper --out my-paper --seed 2          other draws and other Gaussian data\n";
}

}  // namespace

CLI::App* add_paper(CLI::App& app, RawPaperOptions& raw) {
  CLI::App* paper = app.add_subcommand("paper", "The paper's tables and figures, measured here");
  const auto text = [&](const char* name, OptionText& target, const char* type,
                        const std::string& description) {
    paper->add_option(name, target, description)->type_name(type);
  };
  paper->add_option("--only", raw.only, "That part alone; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  text("--out", raw.folder, "DIR",
       "Folder for paper.md and paper.json, made where it is not there");
  text("--json", raw.json, "F", "Everything; - for standard output");
  text("--gpu-results", raw.gpu_results, "DIR", "Recorded times for figure4 (gpu/results)");
  text("--seed", raw.seed, "N", "Of all draws and of the Gaussian data, from 1 (1)");
  text("--jobs", raw.jobs, "N", "Threads (cores); changes no result");
  paper->footer(examples());
  return paper;
}

PaperOptions check_paper_options(const RawPaperOptions& raw) {
  PaperOptions options;
  const std::vector<std::string> names = part_names();
  for (const std::string& name : raw.only) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw got("--only", name, config::joined(names));
    }
    if (std::find(options.only.begin(), options.only.end(), name) != options.only.end()) {
      throw input_error("--only", "", config::in_quotes(name) + " is named twice",
                        "each part once");
    }
    options.only.push_back(name);
  }
  const auto folder = [](const char* option, const OptionText& given, std::string otherwise) {
    if (given && given->empty()) throw got(option, "", "a folder");
    return given.value_or(std::move(otherwise));
  };
  options.folder = folder("--out", raw.folder, "");
  constexpr const char* kPartOfGpuResults = "figure4";
  if (raw.gpu_results && !options.only.empty() &&
      std::find(options.only.begin(), options.only.end(), kPartOfGpuResults) ==
          options.only.end()) {
    throw input_error("--gpu-results", "", "has no effect in this run",
                      fmt::format("with --only {}, or without --only", kPartOfGpuResults));
  }
  options.gpu_results = folder("--gpu-results", raw.gpu_results, SANTA_GPU_RESULTS_DIR);
  if (raw.json && raw.json->empty()) throw got("--json", "", "a file, or - for standard output");
  options.json = raw.json.value_or("");
  constexpr std::uint64_t kMaxSeed = std::numeric_limits<std::uint32_t>::max();
  if (raw.seed) options.seed = parse_integer("--seed", *raw.seed, 1, kMaxSeed);
  if (raw.jobs) {
    options.jobs = static_cast<std::uint32_t>(parse_integer("--jobs", *raw.jobs, 1, kMostJobs));
  }
  return options;
}

}  // namespace santa::cli
