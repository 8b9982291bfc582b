// What every block of a unit shares.
#pragma once

#include <algorithm>
#include <cmath>

#include "memory_port.hpp"
#include "pipeline.hpp"
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
  // Cycles in which `bytes` arrive one behind the other, at the port's width or the memory's rate.
  std::uint64_t stream_cycles(std::uint64_t bytes) const {
    const config::MemoryConfig& memory = hardware.memory;
    const double memory_bytes_per_cycle =
        static_cast<double>(memory.channels) * memory.channel_gb_per_s * 1e3 / hardware.clock_mhz;
    const double rate =
        std::min(static_cast<double>(hardware.unit.port_bytes), memory_bytes_per_cycle);
    return static_cast<std::uint64_t>(std::ceil(static_cast<double>(bytes) / rate));
  }
  std::uint64_t config_u64(std::int64_t value) const { return static_cast<std::uint64_t>(value); }
};

}  // namespace santa::sim
