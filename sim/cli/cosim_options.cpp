#include <fmt/format.h>

#include <limits>

#include "raw_options.hpp"

namespace santa::cli {

CosimOptions check_cosim_options(const RawCosimOptions& raw) {
  constexpr std::uint64_t kMostSeeds = 1000000;
  CosimOptions options;
  options.config = raw.config;
  options.overrides = parse_overrides(raw.set);
  const std::pair<const char*, bool> choices[] = {{"--seeds", raw.seeds.has_value()},
                                                  {"--seed", raw.seed.has_value()},
                                                  {"--trace", raw.trace.has_value()},
                                                  {"--vectors", raw.vectors.has_value()},
                                                  {"--long", raw.long_contexts}};
  const char* first = nullptr;
  for (const auto& [name, given] : choices) {
    if (!given) continue;
    if (first != nullptr) {
      throw input_error(name, "", fmt::format("contradicts {}", first),
                        "one of --seeds, --seed, --trace, --vectors and --long");
    }
    first = name;
  }
  if (raw.seeds) options.seeds = parse_integer("--seeds", *raw.seeds, 0, kMostSeeds);
  if (raw.seed) {
    options.seed = parse_integer("--seed", *raw.seed, 0, std::numeric_limits<std::uint64_t>::max());
  }
  const std::pair<const char*, const OptionText*> paths[] = {{"--trace", &raw.trace},
                                                             {"--vectors", &raw.vectors},
                                                             {"--export", &raw.export_folder},
                                                             {"--json", &raw.json}};
  for (const auto& [name, text] : paths) {
    if (*text && (*text)->empty()) throw got(name, "", "a path");
  }
  if (raw.trace) options.trace = *raw.trace;
  if (raw.vectors) options.vectors = *raw.vectors;
  options.long_contexts = raw.long_contexts;
  if (raw.export_folder) options.export_folder = *raw.export_folder;
  if (raw.json) options.json = *raw.json;
  if (raw.waves && *raw.waves == "on-failure") {
    options.waves = WaveFiles::kOnFailure;
  } else if (raw.waves && *raw.waves == "always") {
    options.waves = WaveFiles::kAlways;
  } else if (raw.waves && *raw.waves != "never") {
    throw got("--waves", *raw.waves, "never, on-failure, always");
  }
  return options;
}

std::string CosimOptions::command() const {
  std::string text = "santasim cosim --config " + shell_word(config);
  for (const config::Override& change : overrides) {
    text += " --set " + shell_word(change.key + "=" + change.value);
  }
  if (!trace.empty()) text += " --trace " + shell_word(trace);
  if (!vectors.empty()) text += " --vectors " + shell_word(vectors);
  if (long_contexts) text += " --long";
  return text;
}

}  // namespace santa::cli
