// Requests of a co-simulation from a recorded trace.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "santa/config/hardware.hpp"
#include "santa/cosim/request.hpp"

namespace santa::cli {

// Longest context that is simulated: whole tiles of every unit, seconds a request.
inline constexpr std::uint32_t kTraceContext = 2048;

// One request for each KV head of each layer, prepared as `santasim run` does it; of longer
// contexts the first kTraceContext keys. Throws InputError, also where the unit is too small.
std::vector<cosim::CosimRequest> trace_requests(const std::string& trace,
                                                const config::HardwareConfig& hardware,
                                                const std::function<void(double)>& progress);

}  // namespace santa::cli
