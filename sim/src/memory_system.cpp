#include "memory_system.hpp"

namespace santa::sim {
namespace {

using config::Placement;

std::size_t part_count(const config::SystemConfig& system) {
  switch (system.placement) {
    case Placement::kPerUnit:
      return static_cast<std::size_t>(system.units);
    case Placement::kKeysValues:
      return 2;
    case Placement::kInterleaved:
      break;
  }
  return 1;
}

std::size_t part_of_stream(const RequestOrigin& origin) {
  return origin.stream == Stream::kKey || origin.stream == Stream::kAppendKey ? 0 : 1;
}

// Adds what one part counted; `requests` and the latency are weighed in the end.
void add(MemoryCounters& sum, const MemoryCounters& part, double parts) {
  const auto requests = [](const MemoryCounters& counters) {
    return static_cast<double>(counters.read_requests + counters.write_requests);
  };
  const double all = requests(sum) + requests(part);
  if (all > 0.0) {
    sum.mean_latency_ns =
        (sum.mean_latency_ns * requests(sum) + part.mean_latency_ns * requests(part)) / all;
  }
  sum.read_requests += part.read_requests;
  sum.write_requests += part.write_requests;
  sum.activates += part.activates;
  sum.row_hits += part.row_hits;
  sum.busy_fraction += part.busy_fraction / parts;
  sum.peak_outstanding += part.peak_outstanding;
  if (!part.dram) return;
  if (!sum.dram) {
    sum.dram = part.dram;
  } else {
    sum.dram->sums += part.dram->sums;
  }
}

}  // namespace

config::HardwareConfig memory_part(const config::HardwareConfig& hardware) {
  config::HardwareConfig part = hardware;
  const auto parts = static_cast<std::int64_t>(part_count(hardware.system));
  part.memory.channels /= parts;
  if (!has_own_part(hardware)) part.memory.max_outstanding *= hardware.system.units;
  return part;
}

bool has_own_part(const config::HardwareConfig& hardware) {
  return hardware.system.placement == Placement::kPerUnit;
}

MemorySystem::MemorySystem(const std::string& name, const config::HardwareConfig& hardware,
                           energy::EnergyMeter& meter, const DramObserver& observer)
    : part_(memory_part(hardware)), parts_(part_count(hardware.system)) {
  for (std::size_t i = 0; i < parts_; ++i) {
    const std::string part_name = name + "_memory" + std::to_string(i);
    if (hardware.dram) {
      dram_.push_back(std::make_unique<DramMemory>(part_name.c_str(), part_, meter,
                                                   i == 0 ? observer : nullptr));
    } else {
      bandwidth_.push_back(
          std::make_unique<BandwidthMemory>(part_name.c_str(), part_.memory, meter));
    }
  }
  const auto units = static_cast<std::size_t>(hardware.system.units);
  if (has_own_part(hardware) || (units == 1 && parts_ == 1)) return;
  const auto route =
      parts_ == 1 ? [](const RequestOrigin&) { return std::size_t{0}; } : part_of_stream;
  interconnect_ =
      std::make_unique<Interconnect>((name + "_interconnect").c_str(), units, parts_, route);
  for (std::size_t i = 0; i < parts_; ++i) bind_part(i, interconnect_->memory(i));
}

void MemorySystem::bind(std::size_t unit, MemoryPort& port) {
  if (interconnect_) {
    port.socket.bind(interconnect_->port(unit));
  } else {
    bind_part(unit, port.socket);
  }
}

MemoryCounters MemorySystem::finish(const sc_core::sc_time& run) {
  MemoryCounters sum;
  for (const auto& part : bandwidth_) {
    add(sum, part->counters(run), static_cast<double>(parts_));
  }
  for (const auto& part : dram_) add(sum, part->finish(run), static_cast<double>(parts_));
  return sum;
}

}  // namespace santa::sim
