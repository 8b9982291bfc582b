// Changes of a run, each simulated on its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "options.hpp"
#include "statistics.hpp"

namespace santa::cli {

struct Experiment {
  std::string key;  // "memory.channels", "samples"
  std::string from;
  std::string to;
  RunOptions options;
  std::optional<Json> report;  // what came out
  std::string refusal;         // or why nothing did
};

// One change at a time: twice the lanes, buffers, channels, half the latency, half the draws, ...
// of what the unit of this run has. Without baselines.
std::vector<Experiment> make_experiments(const RunOptions& options);

// Simulates `options` less its baselines, and every experiment. The first result is that of
// `options`. Throws InputError if that run fails.
Json run_experiments(const RunOptions& options, std::vector<Experiment>& experiments,
                     std::uint32_t jobs);

}  // namespace santa::cli
