#pragma once

#include <string>

namespace santa::gpu {

// Version of the display driver, and the newest CUDA that it can run: "580.1 (CUDA 13.0)". The
// first is "unknown" where the management library is missing.
std::string driver_version();

}  // namespace santa::gpu
