// The trace that runs when no input is named.
#pragma once

#include <string>

namespace santa::cli {

// File name in the trace folders.
inline constexpr const char* kShippedTrace = "qwen2.5-coder-1.5b-persuasion-5120.safetensors";

// Its path: the first that exists in $SANTASIM_TRACE_DIR if it is set and not empty, the traces
// folder of the source tree this program was built from, ../share/santasim/traces relative to the
// executable. Throws InputError if it is in none of them.
std::string find_shipped_trace();

}  // namespace santa::cli
