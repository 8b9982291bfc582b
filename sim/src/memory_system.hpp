// The memory of all units of one method: one or several parts, each of some of the channels, by
// `system.placement`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bandwidth_memory.hpp"
#include "dram_memory.hpp"
#include "interconnect.hpp"
#include "santa/config/hardware.hpp"

namespace santa::sim {

// The hardware as one part of the memory sees it: its share of the channels, and room for the
// requests of all units that use it. Also what a unit takes for its bandwidth.
config::HardwareConfig memory_part(const config::HardwareConfig& hardware);

// Whether units have parts of their own, so that each counts its addresses from 0.
bool has_own_part(const config::HardwareConfig& hardware);

class MemorySystem {
 public:
  // `observer` sees the bursts of the first part, if the model is dram.
  MemorySystem(const std::string& name, const config::HardwareConfig& hardware,
               energy::EnergyMeter& meter, const DramObserver& observer);
  // The port of unit `unit`, each once.
  void bind(std::size_t unit, MemoryPort& port);
  // Of all parts together, at the end of the run, once.
  MemoryCounters finish(const sc_core::sc_time& run);

 private:
  template <typename Socket>
  void bind_part(std::size_t part, Socket& socket) {
    if (!dram_.empty()) {
      socket.bind(dram_[part]->socket);
    } else {
      socket.bind(bandwidth_[part]->socket);
    }
  }

  config::HardwareConfig part_;
  std::size_t parts_;
  std::vector<std::unique_ptr<BandwidthMemory>> bandwidth_;
  std::vector<std::unique_ptr<DramMemory>> dram_;
  std::unique_ptr<Interconnect> interconnect_;  // where units and parts are not pairs
};

}  // namespace santa::sim
