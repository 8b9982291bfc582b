#include "santa/sim/simulation.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "job_schedule.hpp"
#include "memory_system.hpp"
#include "santa/error.hpp"
#include "unit_instance.hpp"

namespace santa::sim {
namespace {

constexpr double kEnergyWindowNs = 1000.0;

void require(bool fits, const std::string& key, std::uint64_t needed, std::int64_t limit) {
  if (fits) return;
  throw input_error("hardware configuration", key, "the request needs " + std::to_string(needed),
                    "at most " + std::to_string(limit) + " on this hardware");
}

void check_request(const SimulationRequest& request) {
  const config::UnitConfig& unit = request.hardware->unit;
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

// Adds what one more unit of the system recorded; `indices` are its requests in the whole.
void add_unit(UnitReport& sum, UnitReport&& unit, const std::vector<std::uint32_t>& indices,
              const std::string& prefix) {
  sum.traffic += unit.traffic;
  sum.operations += unit.operations;
  sum.samples += unit.samples;
  const auto first_block = static_cast<std::uint16_t>(sum.blocks.size());
  for (BlockCounters& block : unit.blocks) {
    block.block = prefix + block.block;
    sum.blocks.push_back(std::move(block));
  }
  for (Span& span : unit.spans) {
    span.block = static_cast<std::uint16_t>(span.block + first_block);
    span.job = indices[span.job];
    sum.spans.push_back(std::move(span));
  }
  for (std::size_t j = 0; j < indices.size(); ++j) {
    sum.outputs[indices[j]] = std::move(unit.outputs[j]);
    sum.rows[indices[j]] = std::move(unit.rows[j]);
    sum.log_sum_exp[indices[j]] = std::move(unit.log_sum_exp[j]);
  }
}

// All units of one kind, their memory, and what they draw.
class MethodSystem {
 public:
  // `observer` sees the memory's bursts; empty for most systems.
  MethodSystem(const SimulationRequest& request, const UnitRequest& unit, const std::string& name,
               const Clock& clock, const DramObserver& observer,
               const std::function<void()>& job_finished)
      : request_(request),
        clock_(clock),
        unit_(unit),
        meter_(*request.energy_pack, {config::name_of(request.hardware->memory.kind),
                                      static_cast<unsigned>(request.hardware->memory.devices),
                                      kEnergyWindowNs, energy::MeterSettings{}.max_windows,
                                      static_cast<unsigned>(request.hardware->system.units)}),
        memory_(name, *request.hardware, meter_, observer),
        hands_(deal_jobs(request.jobs, static_cast<std::size_t>(request.hardware->system.units))) {
    config::HardwareConfig hardware = memory_part(*request.hardware);
    hardware.memory.max_outstanding = request.hardware->memory.max_outstanding;
    std::uint64_t base = 0;
    for (std::size_t u = 0; u < hands_.size(); ++u) {
      std::vector<Job> jobs;
      for (const std::uint32_t index : hands_[u]) jobs.push_back(request.jobs[index]);
      const std::uint64_t bytes = bytes_of(jobs, unit.kind, hardware.unit);
      check_capacity(hardware, base + bytes);
      units_.push_back(std::make_unique<UnitInstance>(
          hands_.size() == 1 ? name : name + std::to_string(u), hardware, unit, std::move(jobs),
          base, clock, meter_, request.record_spans, job_finished));
      memory_.bind(u, units_.back()->port());
      if (!has_own_part(hardware)) base += divide_up(bytes, kAlignment) * kAlignment;
    }
  }

  // Everything recorded, once the simulation has ended.
  UnitReport take_report() {
    UnitReport report;
    report.kind = unit_.kind;
    report.options = unit_.options;
    report.outputs.resize(request_.jobs.size());
    report.rows.resize(request_.jobs.size());
    report.log_sum_exp.resize(request_.jobs.size());
    sc_core::sc_time end;
    for (std::size_t u = 0; u < units_.size(); ++u) {
      end = std::max(end, units_[u]->end());
      report.unit_latency_ns.push_back(to_ns(units_[u]->end()));
      add_unit(report, units_[u]->take_report(), hands_[u],
               units_.size() == 1 ? "" : "unit" + std::to_string(u) + ".");
    }
    report.latency_cycles = clock_.to_cycles(end);
    report.latency_ns = to_ns(end);
    report.memory = memory_.finish(end);
    report.energy = meter_.finish(report.latency_ns);
    if (report.kind == UnitKind::kDenseInt8 && request_.dense_outputs) decode_dense(report);
    return report;
  }

 private:
  static constexpr std::uint64_t kAlignment = 4096;

  static void check_capacity(const config::HardwareConfig& hardware, std::uint64_t needed) {
    if (!hardware.dram) return;
    const std::uint64_t capacity = DramAddressMap(hardware).capacity_bytes();
    if (needed <= capacity) return;
    throw input_error(
        "hardware configuration", "memory.channels",
        "the request needs " + std::to_string(needed) + " bytes",
        "at most " + std::to_string(capacity) + ", which these channels of this timing hold");
  }

  // The dense unit's values are the golden model's; its blocks above gave time and energy.
  void decode_dense(UnitReport& report) const {
    attention::DecodeWorkspace workspace;
    attention::DecodeOptions options;
    options.values = attention::ValueScheme::kDense;
    for (std::size_t j = 0; j < request_.jobs.size(); ++j) {
      const Job& job = request_.jobs[j];
      attention::DecodeRequest request;
      request.query = job.exact_query;
      attention::DecodeResult result =
          attention::decode(*job.cache, job.cache->context, request, options, workspace);
      report.outputs[j] = std::move(result.output);
      report.log_sum_exp[j] = std::move(result.log_sum_exp);
    }
  }

  const SimulationRequest& request_;
  const Clock& clock_;
  UnitRequest unit_;
  energy::EnergyMeter meter_;
  MemorySystem memory_;
  std::vector<std::vector<std::uint32_t>> hands_;  // requests by unit
  std::vector<std::unique_ptr<UnitInstance>> units_;
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
  std::vector<std::unique_ptr<MethodSystem>> systems;
  for (const UnitRequest& unit : request.units) {
    const DramObserver observer = systems.empty() ? request.dram_observer : nullptr;
    // Two units of one kind may differ in their options.
    const std::string name = to_string(unit.kind) + (systems.empty() ? "" : "_") +
                             (systems.empty() ? "" : std::to_string(systems.size()));
    systems.push_back(
        std::make_unique<MethodSystem>(request, unit, name, clock, observer, job_finished));
  }
  sc_core::sc_start();
  std::vector<UnitReport> reports;
  reports.reserve(systems.size());
  for (const auto& system : systems) reports.push_back(system->take_report());
  return reports;
}

}  // namespace santa::sim
