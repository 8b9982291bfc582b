// The file that describes a sweep (docs/sweeps.md).
#pragma once

#include <string>
#include <vector>

#include "sweep/keys.hpp"

namespace santa::cli {

struct SweepSpec {
  std::string name;
  SimulationCommand command = SimulationCommand::kRun;  // that each point is
  std::vector<std::string> keys;  // that some point sets, in the order of the file
  std::vector<Settings> points;   // in the order of the results
};

// Reads and expands a file. Throws InputError for everything that is wrong with it; values that
// the command refuses are found when their point is made.
SweepSpec load_sweep_spec(const std::string& path);
// The same from memory; `file_name` stands for the file in messages.
SweepSpec parse_sweep_spec(const std::string& text, const std::string& file_name);

}  // namespace santa::cli
