// What every input of the trace readers must fulfil; shared by the fuzz target and its replay.
#pragma once

#include <string>

namespace santa::tensor {

// Reads `bytes` as a safetensors file, as a trace and as a .npy file. Each reading must end with
// InputError and a message of one line, or with tensors that have the bytes their shapes demand.
// Returns what was violated, or "". Other exceptions pass through.
std::string check_trace_input(const std::string& bytes);

}  // namespace santa::tensor
