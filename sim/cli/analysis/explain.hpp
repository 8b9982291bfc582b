// `santasim explain`.
#pragma once

#include "options.hpp"

namespace santa::cli {

// Simulates what is asked for, and prints what limits it and what each change would give. Throws
// InputError and VerificationError.
void explain(const ExplainOptions& options);

}  // namespace santa::cli
