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

// Whose turn it is: without prefetch, a request starts when the one before it has ended.
class JobTurn {
 public:
  explicit JobTurn(bool prefetch) : prefetch_(prefetch) {}
  // From a thread, before request `index` of the unit.
  void wait_for(std::uint64_t index) {
    while (!prefetch_ && finished_ < index) sc_core::wait(event_);
  }
  void finish() {
    ++finished_;
    event_.notify();
  }
  std::uint64_t finished() const { return finished_; }

 private:
  bool prefetch_;
  std::uint64_t finished_ = 0;
  sc_core::sc_event event_;
};

struct UnitContext {
  const config::HardwareConfig& hardware;
  const Clock& clock;
  energy::EnergyMeter& meter;
  UnitProbe& probe;
  MemoryPort& port;
  UnitReport& report;  // totals that blocks add to as they work
  JobTurn& turn;

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
