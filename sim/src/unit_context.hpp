// What every block of a unit shares.
#pragma once

#include "memory_port.hpp"
#include "probe.hpp"
#include "santa/config/hardware.hpp"
#include "santa/energy/meter.hpp"

namespace santa::sim {

struct UnitContext {
  const config::HardwareConfig& hardware;
  const Clock& clock;
  energy::EnergyMeter& meter;
  UnitProbe& probe;
  MemoryPort& port;
  UnitReport& report;  // totals that blocks add to as they work

  void count(energy::Handle handle, std::uint64_t events) const {
    meter.count(handle, events, now_ns());
  }
  std::uint64_t config_u64(std::int64_t value) const { return static_cast<std::uint64_t>(value); }
};

}  // namespace santa::sim
