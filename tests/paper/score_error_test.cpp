// Figure 6 of the paper from the golden model: relative L2 error of Bernoulli scores against the
// number of draws B, and the same estimator in float64 beside it.
#include "santa/paper/score_error.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

namespace santa::paper {
namespace {

using attention::ScoreScheme;

// 4.8 deviations: 16 comparisons at a joint level of 1e-5. Estimates state 1.98 of them.
constexpr double kJoint = 4.8 / 1.98;

double joint(const Estimate& a, const Estimate& b) {
  return kJoint * std::hypot(a.half, b.half);
}

void compare(ScoreScheme scheme, double at_four, double expected_slope) {
  const ScoreErrors errors = measure_score_errors(scheme, 5, {});
  for (std::size_t b = 0; b < kScoreDraws.size(); ++b) {
    const Estimate golden = errors.golden.errors[b].estimate();
    const Estimate paper = errors.paper.errors[b].estimate();
    const Estimate same = errors.same_units.errors[b].estimate();
    fmt::print(
        "Figure 6, {}, B {:2}: golden {:.4f} +- {:.4f}, float64 {:.4f} +- {:.4f}, float64 with the "
        "unit's steps and int8 keys {:.4f} +- {:.4f}\n",
        attention::to_string(scheme), kScoreDraws[b], golden.value, golden.half, paper.value,
        paper.half, same.value, same.half);
    // With the same steps and keys only chance is left.
    EXPECT_NEAR(golden.value, same.value, joint(golden, same));
  }
  // The figure is read to about 5 points.
  const Estimate four = errors.golden.errors[2].estimate();
  EXPECT_NEAR(four.value, at_four, 0.05 + four.half);
  const Estimate golden = errors.golden.slopes.estimate();
  const Estimate paper = errors.paper.slopes.estimate();
  const Estimate same = errors.same_units.slopes.estimate();
  fmt::print(
      "Figure 6, {}: slope golden {:.4f} +- {:.4f}, float64 {:.4f} +- {:.4f}, float64 with the "
      "unit's steps and int8 keys {:.4f} +- {:.4f}\n",
      attention::to_string(scheme), golden.value, golden.half, paper.value, paper.half, same.value,
      same.half);
  EXPECT_NEAR(paper.value, expected_slope, kJoint * paper.half);
  EXPECT_NEAR(golden.value, same.value, joint(golden, same));
  // int8 keys add a floor to the error, which flattens the golden curve at large B.
  EXPECT_NEAR(golden.value, expected_slope, 0.03 + golden.half);
  EXPECT_EQ(errors.golden.slopes.count(), 100U);
}

TEST(PaperFigure6, StratifiedErrorFallsAsOneOverB) {
  compare(ScoreScheme::kBernoulli, 0.30, -1.0);
}

TEST(PaperFigure6, IndependentErrorFallsAsOneOverRootB) {
  compare(ScoreScheme::kBernoulliIid, 0.60, -0.5);
}

}  // namespace
}  // namespace santa::paper
