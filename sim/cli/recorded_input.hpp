// Inputs read from files: traces and .npy arrays.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "input.hpp"

namespace santa::cli {

// A .safetensors trace; `layers` empty: all of its layers. Throws InputError.
Input open_trace(const std::string& path, const std::vector<std::uint32_t>& layers);

// One layer from --query, --key and --value.
Input open_arrays(const InputOptions& options);

}  // namespace santa::cli
