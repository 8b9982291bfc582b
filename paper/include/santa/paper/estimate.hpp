// Values with 95 % confidence intervals.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace santa::paper {

// A value and half of its 95 % interval; 0 for one that is exact.
struct Estimate {
  double value = 0.0;
  double half = 0.0;
};

// Mean of independent numbers.
class Sample {
 public:
  void add(double x);
  std::size_t count() const { return count_; }
  double mean() const;
  double deviation() const;   // standard deviation of one number; 0 of fewer than two
  Estimate estimate() const;  // of the mean, by Student's t

 private:
  double mean_ = 0.0;
  double squares_ = 0.0;  // of the distances from the mean
  std::size_t count_ = 0;
};

// Factor of a standard error for a 95 % interval, by Student's t. `degrees` >= 1.
double t_factor(std::size_t degrees);

// A statistic of groups of numbers that depend on each other within a group, its interval by
// leaving out one group at a time (delete-one jackknife).
//   groups     at least two
//   statistic  of all groups, or of all but one
Estimate jackknife(std::size_t groups,
                   const std::function<double(std::optional<std::size_t> left_out)>& statistic);

// Least-squares slope of log(y) on log(x); all positive, of equal length, at least two.
double log_slope(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace santa::paper
