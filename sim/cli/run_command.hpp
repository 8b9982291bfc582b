// `santasim run`.
#pragma once

#include "options.hpp"

namespace santa::cli {

// Loads, simulates, checks and writes everything that was asked for. Throws InputError and
// VerificationError.
void run(const RunOptions& options);

}  // namespace santa::cli
