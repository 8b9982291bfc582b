#include "unit_instance.hpp"

#include <utility>

#include "attention_unit.hpp"
#include "dense_unit.hpp"
#include "topk_unit.hpp"

namespace santa::sim {

UnitInstance::UnitInstance(const std::string& name, const config::HardwareConfig& hardware,
                           const UnitRequest& unit, std::vector<Job> jobs, std::uint64_t base,
                           const Clock& clock, energy::EnergyMeter& meter, bool record_spans,
                           std::function<void()> job_finished)
    : hardware_(hardware),
      jobs_(std::move(jobs)),
      name_(name),
      job_finished_(std::move(job_finished)),
      probe_(clock, record_spans),
      port_((name_ + "_port").c_str(), hardware_, clock, base),
      turn_(hardware_.system.prefetch_next_head) {
  report_.kind = unit.kind;
  report_.options = unit.options;
  report_.outputs.resize(jobs_.size());
  report_.rows.resize(jobs_.size());
  report_.log_sum_exp.resize(jobs_.size());
  make_unit(unit, {hardware_, clock, meter, probe_, port_, report_, turn_});
}

void UnitInstance::make_unit(const UnitRequest& unit, const UnitContext& context) {
  const auto finished = [this] { finish_job(); };
  const char* name = name_.c_str();
  switch (unit.kind) {
    case UnitKind::kSampled:
      unit_ = std::make_unique<AttentionUnit>(name, context, unit.options, jobs_, finished);
      break;
    case UnitKind::kDenseInt8:
      unit_ = std::make_unique<DenseUnit>(name, context, MacFormat::kInt8, jobs_, finished);
      break;
    case UnitKind::kDenseFp16:
      unit_ = std::make_unique<DenseUnit>(name, context, MacFormat::kFp16, jobs_, finished);
      break;
    case UnitKind::kTopK:
      unit_ = std::make_unique<TopKUnit>(name, context, unit.options.samples, jobs_, finished);
      break;
  }
}

void UnitInstance::finish_job() {
  turn_.finish();
  end_ = time_now();
  job_finished_();
}

UnitReport UnitInstance::take_report() {
  if (turn_.finished() != jobs_.size()) {
    throw std::logic_error("unit '" + name_ + "' stopped after " +
                           std::to_string(turn_.finished()) + " of " +
                           std::to_string(jobs_.size()) + " requests");
  }
  report_.traffic = port_.traffic();
  report_.blocks = probe_.counters();
  report_.spans = probe_.take_spans();
  return std::move(report_);
}

std::uint64_t bytes_of(const std::vector<Job>& jobs, UnitKind kind,
                       const config::UnitConfig& unit) {
  if (jobs.empty()) return 0;
  const std::vector<JobAddresses> map = kind == UnitKind::kSampled
                                            ? make_unit_address_map(jobs, unit)
                                            : make_address_map(jobs, kind == UnitKind::kDenseFp16);
  const Job& last = jobs.back();
  return map.back().output +
         2 * last.request.query.group * row_stride_bytes(last.cache->head_dimension, unit);
}

}  // namespace santa::sim
