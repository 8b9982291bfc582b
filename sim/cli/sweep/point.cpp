#include "sweep/point.hpp"

#include <fmt/format.h>

#include "failure.hpp"
#include "input.hpp"
#include "json_report.hpp"
#include "options.hpp"
#include "run_command.hpp"
#include "sha256.hpp"

namespace santa::cli {
namespace {

constexpr std::size_t kKeyDigits = 16;

std::string key_of(const std::string& text) {
  Sha256 hash;
  hash.update(text);
  return hash.finish().substr(0, kKeyDigits);
}

}  // namespace

const std::string& PointMaker::hash_of(const std::string& path) {
  const auto known = hashes_.find(path);
  if (known != hashes_.end()) return known->second;
  return hashes_[path] = sha256_of_file(path);
}

std::string PointMaker::canonical_text(const std::vector<std::string>& words) {
  RunOptions options = parse_run_words(words);
  const Setup setup = load_setup(options);
  std::string text = setup.hardware.canonical_text();
  text += fmt::format("energy pack: {}\n", hash_of(setup.pack_file));
  for (const NamedPath& file : input_files(options.input)) {
    text += fmt::format("{}: {}\n", file.option, hash_of(file.path));
  }
  // The hardware is above, however it is written.
  options.config.clear();
  options.overrides.clear();
  return text + options.command() + "\n";
}

SweepPoint PointMaker::make(const Settings& settings) {
  SweepPoint point;
  point.settings = settings;
  try {
    point.words = known_.words(settings);
    point.key = key_of(canonical_text(point.words));
  } catch (const std::exception&) {
    point.refusal = current_failure().message;
    std::string text = "refused:";
    for (const auto& [key, value] : settings) text += fmt::format("\n{}={}", key, value);
    point.key = key_of(text);
  }
  return point;
}

std::string simulated_report(const RunOptions& options) {
  return to_text(make_report(simulate(options, load_setup(options))));
}

}  // namespace santa::cli
