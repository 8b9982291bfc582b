#include "santa/energy/window_series.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace santa::energy {
namespace {

void add(const WindowSeries::Parts& from, WindowSeries::Parts& to) {
  for (std::size_t part = 0; part < kPartCount; ++part) to[part] += from[part];
}

}  // namespace

WindowSeries::WindowSeries(double width_ns, std::size_t max_windows)
    : width_ns_(width_ns), max_windows_(max_windows) {
  if (!(width_ns > 0.0) || !std::isfinite(width_ns)) {
    throw std::logic_error("energy windows: the width must be above 0");
  }
  if (max_windows < 2) throw std::logic_error("energy windows: there must be 2 or more");
}

WindowSeries::Parts& WindowSeries::at(double time_ns) {
  while (time_ns / width_ns_ >= static_cast<double>(max_windows_)) merge_pairs();
  const auto index = static_cast<std::size_t>(time_ns / width_ns_);
  if (index >= windows_.size()) windows_.resize(index + 1, Parts{});
  return windows_[index];
}

WindowSeries WindowSeries::covering(double end_ns) const {
  WindowSeries series = *this;
  while (end_ns / series.width_ns_ > static_cast<double>(max_windows_)) series.merge_pairs();
  const auto needed = static_cast<std::size_t>(std::ceil(end_ns / series.width_ns_));
  while (series.windows_.size() > needed) {
    const Parts last = series.windows_.back();
    series.windows_.pop_back();
    add(last, series.windows_.back());
  }
  series.windows_.resize(needed, Parts{});
  return series;
}

void WindowSeries::merge_pairs() {
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    if (i % 2 == 0) {
      windows_[i / 2] = windows_[i];
    } else {
      add(windows_[i], windows_[i / 2]);
    }
  }
  windows_.resize((windows_.size() + 1) / 2);
  width_ns_ *= 2.0;
}

}  // namespace santa::energy
