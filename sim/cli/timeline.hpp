// The timeline in the Chrome trace event format, which Perfetto and chrome://tracing open.
#pragma once

#include "output_file.hpp"
#include "results.hpp"

namespace santa::cli {

// One process a unit, one thread for the whole run and one a block with its spans of work, and a
// counter with the power in each energy window. Times are in microseconds, as the format demands.
// Written event by event.
void write_timeline(const RunResult& run, OutputFile& file);

}  // namespace santa::cli
