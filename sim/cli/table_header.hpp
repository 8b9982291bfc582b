// The lines above the table: what ran, on which hardware, and what the energy includes.
#pragma once

#include <string>

#include "results.hpp"

namespace santa::cli {

std::string make_table_header(const RunResult& run);

}  // namespace santa::cli
