#include <algorithm>
#include <cmath>

#include "results.hpp"
#include "santa/arithmetic/limits.hpp"
#include "santa/reference/attention.hpp"

namespace santa::cli {
namespace {

// Output of request `job` in real units, [group][head_dimension].
std::vector<double> real_output(const sim::UnitReport& report, const Workload& workload,
                                std::size_t job) {
  if (report.kind == sim::UnitKind::kDenseFp16) {
    const std::vector<float>& output = workload.references[job].fp16;
    return {output.begin(), output.end()};
  }
  const attention::KvHead& cache = *workload.jobs[job].cache;
  std::vector<double> output;
  output.reserve(report.outputs[job].size());
  for (const std::int16_t value : report.outputs[job]) {
    const int exponent = cache.value_exponent[output.size() % cache.head_dimension] -
                         static_cast<int>(arithmetic::kOutputFractionBits);
    output.push_back(std::ldexp(static_cast<double>(value), exponent));
  }
  return output;
}

// A head whose exact output is 0 has no relative error.
void note_worst_head(Accuracy& accuracy, double error, const sim::Job& job, std::size_t head) {
  if (!std::isfinite(error)) return;
  if (accuracy.worst_head_relative_l2 && *accuracy.worst_head_relative_l2 >= error) return;
  accuracy.worst_head_relative_l2 = error;
  accuracy.worst_layer = job.layer;
  accuracy.worst_query_head =
      job.kv_head * job.request.query.group + static_cast<std::uint32_t>(head);
}

}  // namespace

std::optional<std::size_t> RunResult::find(sim::UnitKind kind) const {
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (units[i].kind == kind) return i;
  }
  return std::nullopt;
}

Accuracy measure_accuracy(const sim::UnitReport& report, const Workload& workload) {
  Accuracy accuracy;
  reference::RelativeError all;
  bool outputs_finite = true;
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    const sim::Job& job = workload.jobs[j];
    const std::vector<double>& exact = workload.references[j].exact;
    const std::vector<double> output = real_output(report, workload, j);
    const std::size_t dimension = job.cache->head_dimension;
    for (std::size_t g = 0; g < job.request.query.group; ++g) {
      reference::RelativeError head;
      for (std::size_t i = g * dimension; i < (g + 1) * dimension; ++i) {
        outputs_finite = outputs_finite && std::isfinite(output.at(i));
        head.add(exact[i], output.at(i));
        all.add(exact[i], output.at(i));
      }
      note_worst_head(accuracy, head.value(), job, g);
    }
    if (report.kind == sim::UnitKind::kDenseFp16) continue;
    const std::vector<double>& log_sums = report.log_sum_exp.at(j);
    for (std::size_t g = 0; g < log_sums.size(); ++g) {
      const double error = std::abs(log_sums[g] - workload.references[j].log_sum_exp.at(g));
      if (!std::isfinite(error)) continue;  // both are -infinity where there are no keys
      accuracy.log_sum_exp_error = std::max(accuracy.log_sum_exp_error.value_or(0.0), error);
    }
  }
  if (std::isfinite(all.value())) {
    accuracy.relative_l2 = all.value();
  } else if (outputs_finite) {
    accuracy.missing_reason = "the exact output is 0 everywhere";
  } else {
    // A key or value beyond 65,504 has no half-precision number.
    accuracy = {};
    accuracy.missing_reason = "the tensors exceed the range of half precision";
  }
  return accuracy;
}

}  // namespace santa::cli
