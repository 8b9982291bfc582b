// Random workloads on which the cycle model is compared with the RTL, one request at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "santa/config/hardware.hpp"
#include "santa/cosim/request.hpp"
#include "santa/cosim/rtl_model.hpp"
#include "santa/cosim/scenario.hpp"

namespace santa::cosim {

// How the memory behaves, for both: the RTL sees words and stalls, the cycle model a bandwidth.
struct MemoryClass {
  const char* name;
  std::uint32_t latency_cycles;
  // Chance that a word read is put off a cycle. Requests do not spill then: the cycle model has one
  // bandwidth for reads and writes, and these stalls are the reads' alone.
  double stall;
  bool description;  // the memory of the hardware description instead
};
const std::vector<MemoryClass>& memory_classes();

struct CycleWorkload {
  std::string name;  // its class
  CosimRequest request;
  Scenario scenario;                // for the RTL
  config::HardwareConfig hardware;  // for the cycle model
};

// Workload number `index` of a class: a Gaussian request of random shape and scheme.
CycleWorkload make_cycle_workload(const BuiltModel& model, const config::HardwareConfig& hardware,
                                  const MemoryClass& memory, std::uint64_t index);

}  // namespace santa::cosim
