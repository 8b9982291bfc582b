#include "santa/sim/simulation.hpp"

#include <memory>
#include <string>

#include "attention_unit.hpp"
#include "bandwidth_memory.hpp"
#include "dense_unit.hpp"
#include "dram_memory.hpp"
#include "santa/error.hpp"
#include "topk_unit.hpp"

namespace santa::sim {
namespace {

constexpr double kEnergyWindowNs = 1000.0;

void require(bool fits, const std::string& key, std::uint64_t needed, std::int64_t limit) {
  if (fits) return;
  throw input_error("hardware configuration", key, "the request needs " + std::to_string(needed),
                    "at most " + std::to_string(limit) + " on this hardware");
}

// Bytes that the unit's requests lie in.
std::uint64_t bytes_of(const SimulationRequest& request, UnitKind kind) {
  if (request.jobs.empty()) return 0;
  const config::UnitConfig& unit = request.hardware->unit;
  const bool fp16 = kind == UnitKind::kDenseFp16;
  const std::vector<JobAddresses> map = kind == UnitKind::kSampled
                                            ? make_unit_address_map(request.jobs, unit)
                                            : make_address_map(request.jobs, fp16 ? 2 : 1);
  const Job& last = request.jobs.back();
  return map.back().output +
         2 * last.request.query.group * row_stride_bytes(last.cache->head_dimension, unit);
}

void check_capacity(const SimulationRequest& request) {
  const std::uint64_t capacity = DramAddressMap(*request.hardware).capacity_bytes();
  for (const UnitRequest& unit : request.units) {
    const std::uint64_t needed = bytes_of(request, unit.kind);
    if (needed <= capacity) continue;
    throw input_error(
        "hardware configuration", "memory.channels",
        "the request needs " + std::to_string(needed) + " bytes",
        "at most " + std::to_string(capacity) + ", which these channels of this timing hold");
  }
}

void check_request(const SimulationRequest& request) {
  const config::UnitConfig& unit = request.hardware->unit;
  if (request.hardware->dram) check_capacity(request);
  for (const Job& job : request.jobs) {
    const std::uint32_t group = job.request.query.group;
    const std::uint32_t dimension = job.cache->head_dimension;
    require(group <= unit.group_heads, "unit.group_heads", group, unit.group_heads);
    require(dimension <= unit.max_head_dimension, "unit.max_head_dimension", dimension,
            unit.max_head_dimension);
    if (job.cache->tile_keys != unit.tile_keys) {
      throw std::logic_error("the cache was quantised for another tile size");
    }
  }
}

// The memory of a description, behind its socket.
class Memory {
 public:
  Memory(const std::string& name, const config::HardwareConfig& hardware,
         energy::EnergyMeter& meter, const DramObserver& observer) {
    if (hardware.dram) {
      dram_ = std::make_unique<DramMemory>(name.c_str(), hardware, meter, observer);
    } else {
      bandwidth_ = std::make_unique<BandwidthMemory>(name.c_str(), hardware.memory, meter);
    }
  }
  void bind(MemoryPort& port) {
    if (dram_) {
      port.socket.bind(dram_->socket);
    } else {
      port.socket.bind(bandwidth_->socket);
    }
  }
  // At the end of the run, once.
  MemoryCounters finish(const sc_core::sc_time& run) {
    return dram_ ? dram_->finish(run) : bandwidth_->counters(run);
  }

 private:
  std::unique_ptr<BandwidthMemory> bandwidth_;
  std::unique_ptr<DramMemory> dram_;
};

// One unit with a memory system of its own, and everything it records.
class UnitSystem {
 public:
  // `observer` sees the memory's bursts; empty for most units.
  UnitSystem(const SimulationRequest& request, const UnitRequest& unit, const Clock& clock,
             const DramObserver& observer, std::function<void()> job_finished)
      : hardware_(*request.hardware),
        jobs_(request.jobs),
        name_(to_string(unit.kind)),
        job_finished_(std::move(job_finished)),
        meter_(*request.energy_pack,
               {config::name_of(hardware_.memory.kind),
                static_cast<unsigned>(hardware_.memory.devices), kEnergyWindowNs}),
        probe_(clock, request.record_spans),
        port_((name_ + "_port").c_str(), hardware_, clock),
        memory_(name_ + "_memory", hardware_, meter_, observer),
        clock_(clock) {
    report_.kind = unit.kind;
    report_.options = unit.options;
    report_.outputs.resize(jobs_.size());
    report_.rows.resize(jobs_.size());
    report_.log_sum_exp.resize(jobs_.size());
    memory_.bind(port_);
    const UnitContext context{hardware_, clock_, meter_, probe_, port_, report_};
    const auto finished = [this] { finish_job(); };
    switch (unit.kind) {
      case UnitKind::kSampled:
        unit_ =
            std::make_unique<AttentionUnit>(name_.c_str(), context, unit.options, jobs_, finished);
        break;
      case UnitKind::kDenseInt8:
        unit_ =
            std::make_unique<DenseUnit>(name_.c_str(), context, MacFormat::kInt8, jobs_, finished);
        break;
      case UnitKind::kDenseFp16:
        unit_ =
            std::make_unique<DenseUnit>(name_.c_str(), context, MacFormat::kFp16, jobs_, finished);
        break;
      case UnitKind::kTopK:
        unit_ = std::make_unique<TopKUnit>(name_.c_str(), context, unit.options.samples, jobs_,
                                           finished);
        break;
    }
  }

  // Everything recorded, once the simulation has ended.
  UnitReport take_report() {
    if (finished_ != jobs_.size()) {
      throw std::logic_error("unit '" + name_ + "' stopped after " + std::to_string(finished_) +
                             " of " + std::to_string(jobs_.size()) + " requests");
    }
    report_.latency_cycles = clock_.to_cycles(end_);
    report_.latency_ns = to_ns(end_);
    report_.traffic = port_.traffic();
    report_.memory = memory_.finish(end_);
    report_.blocks = probe_.counters();
    report_.energy = meter_.finish(report_.latency_ns);
    report_.spans = probe_.take_spans();
    if (report_.kind == UnitKind::kDenseInt8) decode_dense();
    return std::move(report_);
  }

 private:
  void finish_job() {
    ++finished_;
    end_ = sc_core::sc_time_stamp();
    job_finished_();
  }

  // The dense unit's values are the golden model's; its blocks above gave time and energy.
  void decode_dense() {
    attention::DecodeWorkspace workspace;
    attention::DecodeOptions options;
    options.values = attention::ValueScheme::kDense;
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      attention::DecodeRequest request;
      request.query = jobs_[j].exact_query;
      attention::DecodeResult result =
          attention::decode(*jobs_[j].cache, jobs_[j].cache->context, request, options, workspace);
      report_.outputs[j] = std::move(result.output);
      report_.log_sum_exp[j] = std::move(result.log_sum_exp);
    }
  }

  const config::HardwareConfig& hardware_;
  const std::vector<Job>& jobs_;
  std::string name_;
  std::function<void()> job_finished_;
  energy::EnergyMeter meter_;
  UnitProbe probe_;
  MemoryPort port_;
  Memory memory_;
  const Clock& clock_;
  UnitReport report_;
  std::unique_ptr<sc_core::sc_module> unit_;
  std::size_t finished_ = 0;
  sc_core::sc_time end_;
};

}  // namespace

std::string to_string(UnitKind kind) {
  switch (kind) {
    case UnitKind::kSampled:
      return "sampled";
    case UnitKind::kDenseInt8:
      return "dense";
    case UnitKind::kDenseFp16:
      return "dense_fp16";
    case UnitKind::kTopK:
      return "topk";
  }
  return "";
}

std::vector<UnitReport> simulate(const SimulationRequest& request) {
  check_request(request);
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  const Clock clock(request.hardware->clock_mhz);
  const std::size_t total = request.jobs.size() * request.units.size();
  std::size_t finished = 0;
  const auto job_finished = [&] {
    ++finished;
    if (request.progress) {
      request.progress(static_cast<double>(finished) / static_cast<double>(total));
    }
  };
  std::vector<std::unique_ptr<UnitSystem>> systems;
  for (const UnitRequest& unit : request.units) {
    const DramObserver observer = systems.empty() ? request.dram_observer : nullptr;
    systems.push_back(std::make_unique<UnitSystem>(request, unit, clock, observer, job_finished));
  }
  sc_core::sc_start();
  std::vector<UnitReport> reports;
  reports.reserve(systems.size());
  for (const auto& system : systems) reports.push_back(system->take_report());
  return reports;
}

}  // namespace santa::sim
