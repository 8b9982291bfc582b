// The cycle model of the same request, in a child process: SystemC elaborates once in a process.
#pragma once

#include <cstdint>
#include <vector>

#include "santa/config/hardware.hpp"
#include "santa/cosim/request.hpp"
#include "santa/energy/pack.hpp"

namespace santa::cosim {

struct CycleModelResult {
  std::uint64_t latency_cycles = 0;
  std::vector<std::int16_t> output;  // [group][head_dimension]
  std::vector<attention::SampledRow> rows;
};

// One request alone on the unit of its values: the sampled one, or a baseline, which takes exact
// scores. The request attends to its whole cache. Throws
// std::runtime_error with the child's message if the child fails.
CycleModelResult run_cycle_model(const config::HardwareConfig& hardware,
                                 const energy::EnergyPack& pack, const CosimRequest& request);

}  // namespace santa::cosim
