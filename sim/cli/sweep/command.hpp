// `santasim sweep`.
#pragma once

#include "options.hpp"

namespace santa::cli {

// Simulates every point that the folder does not have, and writes the tables. Returns the exit
// code: that of the worst point if some failed. Throws InputError, after which everything that was
// finished is in the folder.
int sweep(const SweepOptions& options);

}  // namespace santa::cli
