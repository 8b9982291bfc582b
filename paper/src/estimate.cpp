#include "santa/paper/estimate.hpp"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace santa::paper {

void Sample::add(double x) {
  ++count_;
  const double before = x - mean_;
  mean_ += before / static_cast<double>(count_);
  squares_ += before * (x - mean_);
}

double Sample::mean() const {
  return mean_;
}

double Sample::deviation() const {
  return count_ < 2 ? 0.0 : std::sqrt(squares_ / static_cast<double>(count_ - 1));
}

Estimate Sample::estimate() const {
  if (count_ < 2) return {mean_, 0.0};
  return {mean_, t_factor(count_ - 1) * deviation() / std::sqrt(static_cast<double>(count_))};
}

double t_factor(std::size_t degrees) {
  constexpr double kTail = 0.025;
  const boost::math::students_t distribution(static_cast<double>(degrees));
  return boost::math::quantile(boost::math::complement(distribution, kTail));
}

Estimate jackknife(std::size_t groups,
                   const std::function<double(std::optional<std::size_t>)>& statistic) {
  Sample replicates;
  for (std::size_t g = 0; g < groups; ++g) replicates.add(statistic(g));
  const double n = static_cast<double>(groups);
  // Variance (n - 1) / n times the sum of squares, which is (n - 1) times the sample's variance.
  const double error = (n - 1.0) / std::sqrt(n) * replicates.deviation();
  return {statistic(std::nullopt), t_factor(groups - 1) * error};
}

double log_slope(const std::vector<double>& x, const std::vector<double>& y) {
  double mean_x = 0.0;
  double mean_y = 0.0;
  const double n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += std::log(x[i]) / n;
    mean_y += std::log(y[i]) / n;
  }
  double covariance = 0.0;
  double variance = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double distance = std::log(x[i]) - mean_x;
    covariance += distance * (std::log(y[i]) - mean_y);
    variance += distance * distance;
  }
  return covariance / variance;
}

}  // namespace santa::paper
