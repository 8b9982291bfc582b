#include "interpolation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace santa::energy {
namespace {

template <typename F>
Range combine(const Range& a, const Range& b, F f) {
  return {f(a.low, b.low), f(a.mid, b.mid), f(a.high, b.high)};
}

// First point at or above x.
std::size_t upper_index(const std::vector<Point>& points, double x) {
  const auto it =
      std::lower_bound(points.begin(), points.end(), x,
                       [](const Point& point, double value) { return point.at < value; });
  return static_cast<std::size_t>(it - points.begin());
}

Range log_segment(const Point& a, const Point& b, double x) {
  const double t = std::log(x / a.at) / std::log(b.at / a.at);
  return combine(a.value, b.value, [t](double y0, double y1) { return y0 * std::pow(y1 / y0, t); });
}

}  // namespace

Interpolated interpolate_linear(const std::vector<Point>& points, double x) {
  const std::size_t upper = upper_index(points, x);
  if (upper < points.size() && points[upper].at == x)
    return {points[upper].value, Region::kAtPoint};
  if (upper == 0 || upper == points.size()) {
    const Point& end = upper == 0 ? points.front() : points.back();
    return {end.value * (x / end.at), Region::kBeyond};
  }
  const Point& a = points[upper - 1];
  const Point& b = points[upper];
  const double t = (x - a.at) / (b.at - a.at);
  return {combine(a.value, b.value, [t](double y0, double y1) { return y0 + (y1 - y0) * t; }),
          Region::kBetween};
}

Interpolated interpolate_log(const std::vector<Point>& points, double x) {
  const std::size_t upper = upper_index(points, x);
  if (upper < points.size() && points[upper].at == x)
    return {points[upper].value, Region::kAtPoint};
  if (points.size() == 1) return {points.front().value, Region::kBeyond};
  const std::size_t b = std::clamp<std::size_t>(upper, 1, points.size() - 1);
  const Range value = log_segment(points[b - 1], points[b], x);
  if (upper != 0 && upper != points.size()) return {value, Region::kBetween};
  // Each end on a slope of its own would cross the others, and low would pass high.
  const Point& end = upper == 0 ? points.front() : points.back();
  return {end.value * (value.mid / end.value.mid), Region::kBeyond};
}

Interpolated interpolate_log_clamped(const std::vector<Point>& points, double x) {
  if (x < points.front().at) return {points.front().value, Region::kBeyond};
  if (x > points.back().at) return {points.back().value, Region::kBeyond};
  return interpolate_log(points, x);
}

}  // namespace santa::energy
