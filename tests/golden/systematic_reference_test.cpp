// The float64 reference of systematic sampling against a sweep over offsets, and the chances of
// being drawn against counting.
#include <gtest/gtest.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <numeric>

#include "santa/reference/attention.hpp"
#include "santa/reference/systematic.hpp"

namespace santa::reference {
namespace {

struct Problem {
  std::vector<double> probabilities;
  std::vector<float> values;
  std::size_t dimension = 3;

  Problem(std::size_t keys, double peak, std::uint64_t seed) {
    boost::random::mt19937_64 engine(seed);
    boost::random::uniform_01<double> uniform;
    for (std::size_t n = 0; n < keys; ++n) {
      probabilities.push_back(n % 7 == 3 ? 0.0 : std::exp(peak * uniform(engine)));
      for (std::size_t i = 0; i < dimension; ++i) {
        values.push_back(static_cast<float>(uniform(engine) - 0.5));
      }
    }
    const double total = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
    for (double& p : probabilities) p /= total;
  }
};

// Keys that the thresholds (m + offset) / samples fall on, with their number.
std::vector<unsigned> systematic_counts(const std::vector<double>& p, std::uint64_t samples,
                                        double offset) {
  std::vector<unsigned> counts(p.size(), 0);
  std::size_t key = 0;
  double cumulative = p[0];
  for (std::uint64_t m = 0; m < samples; ++m) {
    const double threshold = (static_cast<double>(m) + offset) / static_cast<double>(samples);
    while (threshold >= cumulative && key + 1 < p.size()) cumulative += p[++key];
    ++counts[key];
  }
  return counts;
}

TEST(SystematicReference, VarianceAndChancesEqualASweepOverOffsets) {
  constexpr unsigned kOffsets = 40000;
  for (const std::uint64_t samples : {1U, 4U, 32U, 256U}) {
    for (const double peak : {0.5, 8.0}) {
      const Problem problem(60, peak, samples);
      std::vector<double> mean(problem.dimension, 0.0);
      for (std::size_t e = 0; e < problem.values.size(); ++e) {
        mean[e % problem.dimension] +=
            problem.probabilities[e / problem.dimension] * static_cast<double>(problem.values[e]);
      }
      double variance = 0.0;
      std::vector<double> drawn(problem.probabilities.size(), 0.0);
      for (unsigned o = 0; o < kOffsets; ++o) {
        const auto counts = systematic_counts(problem.probabilities, samples, (o + 0.5) / kOffsets);
        std::vector<double> estimate(problem.dimension, 0.0);
        for (std::size_t n = 0; n < counts.size(); ++n) {
          drawn[n] += counts[n] > 0 ? 1.0 / kOffsets : 0.0;
          for (std::size_t i = 0; i < problem.dimension; ++i) {
            estimate[i] += counts[n] *
                           static_cast<double>(problem.values[n * problem.dimension + i]) /
                           static_cast<double>(samples);
          }
        }
        for (std::size_t i = 0; i < mean.size(); ++i) {
          variance += std::pow(estimate[i] - mean[i], 2) / kOffsets;
        }
      }
      const double exact = variance_systematic(problem.probabilities, problem.values.data(),
                                               problem.dimension, samples);
      // A sweep in the middle of equal steps is off by less than a step at each passage.
      EXPECT_NEAR(exact, variance, 0.01 * variance + 1e-12) << samples << ' ' << peak;
      const std::vector<double> chances = drawn_systematic(problem.probabilities, samples);
      for (std::size_t n = 0; n < drawn.size(); ++n) {
        EXPECT_NEAR(chances[n], drawn[n], 2.0 / kOffsets);
      }
    }
  }
}

TEST(SystematicReference, OneSampleIsOneIndependentDraw) {
  const Problem problem(40, 3.0, 5);
  EXPECT_NEAR(variance_systematic(problem.probabilities, problem.values.data(), 3, 1),
              variance_iid(problem.probabilities, problem.values.data(), 3, 1), 1e-12);
  EXPECT_EQ(variance_systematic({1.0}, problem.values.data(), 3, 8), 0.0);
  // Keys of no weight in front change nothing.
  std::vector<double> probabilities(3, 0.0);
  std::vector<float> values(9, 100.0F);
  probabilities.insert(probabilities.end(), problem.probabilities.begin(),
                       problem.probabilities.end());
  values.insert(values.end(), problem.values.begin(), problem.values.end());
  EXPECT_DOUBLE_EQ(variance_systematic(probabilities, values.data(), 3, 8),
                   variance_systematic(problem.probabilities, problem.values.data(), 3, 8));
  EXPECT_EQ(variance_systematic({}, nullptr, 3, 8), 0.0);
}

TEST(SystematicReference, ChancesOfIndependentAndStratifiedDraws) {
  const std::vector<double> p = {0.5, 0.25, 0.125, 0.125};
  // Two strata: key 0 fills the first, the others share the second.
  EXPECT_EQ(drawn_stratified(p, 2), (std::vector<double>{1.0, 0.5, 0.25, 0.25}));
  // Keys that lie in two strata: 1 - (1 - 2/3)(1 - 1/3).
  const std::vector<double> across = drawn_stratified({1.0 / 3, 1.0 / 3, 1.0 / 3}, 2);
  EXPECT_NEAR(across[0], 2.0 / 3, 1e-12);
  EXPECT_NEAR(across[1], 1.0 - (2.0 / 3) * (2.0 / 3), 1e-12);
  const std::vector<double> iid = drawn_iid(p, 3);
  EXPECT_NEAR(iid[0], 0.875, 1e-12);
  EXPECT_NEAR(iid[1], 1.0 - std::pow(0.75, 3), 1e-12);
  EXPECT_EQ(drawn_iid({1.0, 0.0}, 4), (std::vector<double>{1.0, 0.0}));
}

}  // namespace
}  // namespace santa::reference
