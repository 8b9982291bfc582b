// What a run shows on the screen.
#pragma once

#include <string>

#include "results.hpp"

namespace santa::cli {

// The compact table for people: what ran, then one column a unit. Fits kScreenWidth.
std::string make_table(const RunResult& run);

// The same numbers for machines, tab-separated: a header line, then key, unit and one column a
// simulated unit, for every documented key that has a single value.
std::string make_tsv(const RunResult& run);

}  // namespace santa::cli
