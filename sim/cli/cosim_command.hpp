// `santasim cosim`.
#pragma once

#include "options.hpp"

namespace santa::cli {

// Runs the scenarios or the trace on the built-in unit of the configuration and writes everything
// that was asked for. Throws InputError, and VerificationError with the first difference.
void cosimulate(const CosimOptions& options);

}  // namespace santa::cli
