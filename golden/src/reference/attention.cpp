#include "santa/reference/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace santa::reference {

Attention attend(const float* query, const float* keys, const float* values, std::size_t context,
                 std::size_t head_dimension, double softmax_scale) {
  Attention result;
  result.output.assign(head_dimension, 0.0);
  if (context == 0) {
    result.log_sum_exp = -std::numeric_limits<double>::infinity();
    return result;
  }
  result.probabilities.resize(context);
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t n = 0; n < context; ++n) {
    double dot = 0.0;
    for (std::size_t i = 0; i < head_dimension; ++i) {
      dot += static_cast<double>(query[i]) * static_cast<double>(keys[n * head_dimension + i]);
    }
    result.probabilities[n] = dot * softmax_scale;
    largest = std::max(largest, result.probabilities[n]);
  }
  double total = 0.0;
  for (double& p : result.probabilities) total += (p = std::exp(p - largest));
  result.log_sum_exp = largest + std::log(total);
  for (std::size_t n = 0; n < context; ++n) {
    result.probabilities[n] /= total;
    for (std::size_t i = 0; i < head_dimension; ++i) {
      result.output[i] +=
          result.probabilities[n] * static_cast<double>(values[n * head_dimension + i]);
    }
  }
  return result;
}

namespace {

// Trace of the covariance of a row drawn with weights `mass` over keys first..last.
struct Moments {
  std::vector<double> mean;
  double square = 0.0;
  double mass = 0.0;

  explicit Moments(std::size_t head_dimension) : mean(head_dimension, 0.0) {}
  void add(double weight, const float* row) {
    for (std::size_t i = 0; i < mean.size(); ++i) {
      const double v = static_cast<double>(row[i]);
      mean[i] += weight * v;
      square += weight * v * v;
    }
    mass += weight;
  }
  double trace() const {
    double norm = 0.0;
    for (const double m : mean) norm += (m / mass) * (m / mass);
    return square / mass - norm;
  }
};

}  // namespace

double variance_iid(const std::vector<double>& probabilities, const float* values,
                    std::size_t head_dimension, std::uint64_t samples) {
  Moments moments(head_dimension);
  for (std::size_t n = 0; n < probabilities.size(); ++n) {
    moments.add(probabilities[n], values + n * head_dimension);
  }
  return moments.trace() / static_cast<double>(samples);
}

double variance_stratified(const std::vector<double>& probabilities, const float* values,
                           std::size_t head_dimension, std::uint64_t samples) {
  const double width = 1.0 / static_cast<double>(samples);
  double sum = 0.0;
  std::size_t key = 0;
  double left = probabilities.empty() ? 0.0 : probabilities[0];
  for (std::uint64_t stratum = 0; stratum < samples; ++stratum) {
    Moments moments(head_dimension);
    double room = width;
    while (room > 0.0 && key < probabilities.size()) {
      const double taken = std::min(room, left);
      if (taken > 0.0) moments.add(taken, values + key * head_dimension);
      room -= taken;
      left -= taken;
      if (left <= 0.0 && ++key < probabilities.size()) left = probabilities[key];
    }
    if (moments.mass > 0.0) sum += std::max(0.0, moments.trace());
  }
  return sum * width * width;
}

void RelativeError::add(double exact, double approximation) {
  error_ += (approximation - exact) * (approximation - exact);
  norm_ += exact * exact;
}

double RelativeError::value() const {
  if (error_ == 0.0) return 0.0;
  return std::sqrt(error_ / norm_);
}

}  // namespace santa::reference
