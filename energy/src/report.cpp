#include "santa/energy/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace santa::energy {
namespace {

constexpr double kTolerance = 1e-9;

void require_equal(double sum, double total, const char* what, const char* end) {
  const double allowed = kTolerance * std::max(std::abs(sum), std::abs(total));
  // Written so that a NaN fails.
  if (std::abs(sum - total) <= allowed) return;
  throw VerificationError(
      fmt::format("energy check failed: {} is {} pJ and the total is {} pJ ({} value); allowed: a "
                  "relative difference of {}",
                  what, sum, total, end, kTolerance));
}

void require_equal(const Range& sum, const Range& total, const char* what) {
  require_equal(sum.low, total.low, what, "low");
  require_equal(sum.mid, total.mid, what, "mid");
  require_equal(sum.high, total.high, what, "high");
}

template <typename Values>
Range sum_of(const Values& values) {
  Range sum;
  for (const Range& value : values) sum += value;
  return sum;
}

}  // namespace

void check_report(const EnergyReport& report) {
  require_equal(sum_of(report.parts_pj), report.total_pj, "the sum of the parts");
  require_equal(sum_of(report.blocks_pj), report.total_pj, "the sum of the blocks");
  Range lines;
  for (const OperationLine& line : report.operations) lines += line.total_pj;
  for (const StaticLine& line : report.statics) lines += line.total_pj;
  require_equal(lines, report.total_pj, "the sum of the lines");
  double over_time = 0.0;
  for (const Window& window : report.windows) over_time += window.power_mw * window.duration_ns;
  require_equal(over_time, report.total_pj.mid, "the sum of power x duration over the windows",
                "mid");
}

}  // namespace santa::energy
