// Interpolation in the tables of a pack.
#pragma once

#include <vector>

#include "santa/energy/pack.hpp"

namespace santa::energy {

enum class Region { kAtPoint, kBetween, kBeyond };

struct Interpolated {
  Range value;
  Region region = Region::kAtPoint;
};

// Piecewise linear in x; proportional to x beyond the ends. The points are exact.
Interpolated interpolate_linear(const std::vector<Point>& points, double x);

// Straight lines in log-log; beyond the ends the mid value's slope in the last segment continues,
// for low and high too. The points are exact. Values must be above 0.
Interpolated interpolate_log(const std::vector<Point>& points, double x);

// Straight lines in log-log between the points and constant beyond them.
Interpolated interpolate_log_clamped(const std::vector<Point>& points, double x);

}  // namespace santa::energy
