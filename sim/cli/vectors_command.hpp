// `santasim vectors record` and `santasim vectors check`.
#pragma once

#include "options.hpp"

namespace santa::cli {

// Throws InputError, and VerificationError with the first difference.
void handle_vectors(const VectorsOptions& options);

}  // namespace santa::cli
