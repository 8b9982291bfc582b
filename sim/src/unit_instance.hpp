// One unit with its port and everything it records.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "memory_port.hpp"
#include "unit_context.hpp"

namespace santa::sim {

class UnitInstance {
 public:
  // `jobs` are the requests it serves; `hardware` is what it sees of the hardware; `base` is where
  // its addresses begin.
  UnitInstance(const std::string& name, const config::HardwareConfig& hardware,
               const UnitRequest& unit, std::vector<Job> jobs, std::uint64_t base,
               const Clock& clock, energy::EnergyMeter& meter, bool record_spans,
               std::function<void()> job_finished);

  MemoryPort& port() { return port_; }
  const std::vector<Job>& jobs() const { return jobs_; }
  // When the last request ended.
  const sc_core::sc_time& end() const { return end_; }
  // Everything recorded, once the simulation has ended; without memory and energy.
  UnitReport take_report();

 private:
  void finish_job();
  void make_unit(const UnitRequest& unit, const UnitContext& context);

  config::HardwareConfig hardware_;
  std::vector<Job> jobs_;
  std::string name_;
  std::function<void()> job_finished_;
  UnitProbe probe_;
  MemoryPort port_;
  JobTurn turn_;
  UnitReport report_;
  std::unique_ptr<sc_core::sc_module> unit_;
  sc_core::sc_time end_;
};

// Bytes that the requests lie in, as a unit of this kind lays them out.
std::uint64_t bytes_of(const std::vector<Job>& jobs, UnitKind kind, const config::UnitConfig& unit);

}  // namespace santa::sim
