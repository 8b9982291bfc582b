// `santasim cosim`.
#pragma once

#include <string>

#include "options.hpp"

namespace santa::cli {

// Runs the scenarios or the trace on the built-in unit of the configuration and writes everything
// that was asked for. Throws InputError, and VerificationError with the first difference.
void cosimulate(const CosimOptions& options);

// The file of a unit: names in configs/rtl as well as those of `santasim run`, or a path. Throws
// InputError.
std::string find_unit(const std::string& name_or_path);

}  // namespace santa::cli
