// Cycles and simulated time, in femtoseconds: a period that is no whole number of them is rounded,
// which is exact at 1 GHz and at most 5e-6 of a cycle at 10 GHz.
#pragma once

#include <cmath>
#include <cstdint>
#include <systemc>

namespace santa::sim {

// sc_time_stamp() without a call into the library.
inline const sc_core::sc_time& time_now() {
  static const sc_core::sc_simcontext* const context = sc_core::sc_get_curr_simcontext();
  return context->time_stamp();
}

class Clock {
 public:
  explicit Clock(double clock_mhz) : period_fs_(std::llround(1e9 / clock_mhz)) {}

  sc_core::sc_time cycles(std::uint64_t count) const {
    return sc_core::sc_time::from_value(static_cast<std::uint64_t>(period_fs_) * count);
  }
  // Whole cycles that cover a time, rounded up.
  std::uint64_t to_cycles(const sc_core::sc_time& time) const {
    const auto period = static_cast<std::uint64_t>(period_fs_);
    return (time.value() + period - 1) / period;
  }

 private:
  std::int64_t period_fs_;
};

inline double to_ns(const sc_core::sc_time& time) {
  return static_cast<double>(time.value()) * 1e-6;
}
inline double now_ns() {
  return to_ns(time_now());
}

inline std::uint64_t divide_up(std::uint64_t value, std::uint64_t divisor) {
  return (value + divisor - 1) / divisor;
}

}  // namespace santa::sim
