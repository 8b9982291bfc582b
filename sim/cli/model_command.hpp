// santasim model
#pragma once

#include "model_options.hpp"

namespace santa::cli {

// Runs and writes what was asked for. Throws InputError and energy::VerificationError.
void run_model(const ModelOptions& options);

}  // namespace santa::cli
