// Figure 6 of the paper from the golden model: relative L2 error of Bernoulli scores against the
// number of draws B, d 128, n 1024, 100 instances; and the same estimator in float64 beside it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/random/bernoulli_distribution.hpp>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>

#include "decode_fixture.hpp"
#include "santa/reference/attention.hpp"

namespace santa::attention {
namespace {

constexpr std::uint32_t kDimension = 128;
constexpr std::uint32_t kKeys = 1024;
constexpr unsigned kInstances = 100;
constexpr std::uint32_t kDraws[] = {1, 2, 4, 8, 16, 32, 64};

struct Mean {
  double sum = 0.0;
  double squares = 0.0;
  unsigned count = 0;
  void add(double x) {
    sum += x;
    squares += x * x;
    ++count;
  }
  double value() const { return sum / count; }
  double interval() const {  // 95 %
    const double variance = (squares / count - value() * value()) * count / (count - 1);
    return 1.96 * std::sqrt(variance / count);
  }
};

// q.k for all keys, real tensors.
std::vector<double> exact_scores(const Head& head) {
  std::vector<double> scores(kKeys, 0.0);
  for (std::uint32_t n = 0; n < kKeys; ++n) {
    for (std::uint32_t i = 0; i < kDimension; ++i) {
      scores[n] += static_cast<double>(head.tensors.query[i]) *
                   static_cast<double>(head.tensors.key[n * kDimension + i]);
    }
  }
  return scores;
}

double golden_error(const Head& head, const std::vector<double>& exact, ScoreScheme scheme,
                    std::uint32_t draws, std::uint64_t seed) {
  const EncodedQuery query = encode_query(
      head.operands(scheme, draws),
      arithmetic::derive_stream(seed, {draws, 0, 0, 0, arithmetic::StreamPurpose::kScores}));
  const double unit =
      scale_value(query.scale[0]) / std::log2(std::exp(1.0)) / head.tensors.softmax_scale;
  std::vector<std::int32_t> scores(head.cache.tile_keys);
  reference::RelativeError error;
  for (std::uint32_t t = 0; t < head.cache.tiles(); ++t) {
    score_tile(query, head.cache.tile(t), head.cache.tile_keys, scores.data());
    for (std::uint32_t k = 0; k < head.cache.tile_keys; ++k) {
      error.add(exact[t * head.cache.tile_keys + k], scores[k] * unit);
    }
  }
  return error.value();
}

// The estimator in float64 (equations 5, 8, 9): B draws a feature with probability |q| / norm,
// against keys of one's choice. `norms` has one entry a feature; the paper has one for all.
double float_error(const Head& head, const std::vector<double>& exact,
                   const std::vector<float>& keys, const std::vector<double>& norms,
                   bool stratified, std::uint32_t draws, boost::random::mt19937_64& engine) {
  boost::random::uniform_01<double> uniform;
  std::vector<double> estimate(kDimension, 0.0);
  for (std::uint32_t i = 0; i < kDimension; ++i) {
    const double q = static_cast<double>(head.tensors.query[i]);
    for (std::uint32_t b = 0; b < draws; ++b) {
      const double r = stratified ? (b + uniform(engine)) / draws : uniform(engine);
      if (r < std::abs(q) / norms[i]) estimate[i] += std::copysign(norms[i] / draws, q);
    }
  }
  reference::RelativeError error;
  for (std::uint32_t n = 0; n < kKeys; ++n) {
    double score = 0.0;
    for (std::uint32_t i = 0; i < kDimension; ++i) {
      score += estimate[i] * static_cast<double>(keys[n * kDimension + i]);
    }
    error.add(exact[n], score);
  }
  return error.value();
}

// norm = max |q|, as the paper has it.
std::vector<double> paper_norms(const Head& head) {
  double norm = 0.0;
  for (const float q : head.tensors.query) norm = std::max(norm, std::abs(static_cast<double>(q)));
  return std::vector<double>(kDimension, norm);
}

// B units of the golden encoder, in real units of each feature: coarser than the paper's by the gap
// of the scale grid and by the key scales that are folded into the query.
std::vector<double> golden_norms(const Head& head, ScoreScheme scheme, std::uint32_t draws) {
  const double step = scale_value(head.operands(scheme, draws).scale[0]) /
                      std::log2(std::exp(1.0)) / head.tensors.softmax_scale;
  std::vector<double> norms;
  for (const double key_scale : head.cache.key_scale) norms.push_back(step * draws / key_scale);
  return norms;
}

// Least-squares slope of log(error) on log(B), one instance.
double slope(const std::vector<double>& errors) {
  double sx = 0.0;
  double sy = 0.0;
  double sxx = 0.0;
  double sxy = 0.0;
  const double n = static_cast<double>(errors.size());
  for (std::size_t b = 0; b < errors.size(); ++b) {
    const double x = std::log(kDraws[b]);
    const double y = std::log(errors[b]);
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

// One estimator over all instances: mean error at each B, mean of the instances' slopes.
struct Curve {
  std::vector<Mean> errors = std::vector<Mean>(std::size(kDraws));
  Mean slope_of_instances;

  void add(const std::vector<double>& of_instance) {
    for (std::size_t b = 0; b < errors.size(); ++b) errors[b].add(of_instance[b]);
    slope_of_instances.add(slope(of_instance));
  }
};

// 4.8 deviations: 16 comparisons at a joint level of 1e-5. Means state 1.96 of them.
constexpr double kJoint = 4.8 / 1.96;

void compare(ScoreScheme scheme, double at_four, double expected_slope) {
  const bool stratified = scheme == ScoreScheme::kBernoulli;
  Curve golden;
  Curve paper;
  Curve same_units;
  boost::random::mt19937_64 engine(99);
  for (unsigned instance = 0; instance < kInstances; ++instance) {
    LayerTensors layer = make_gaussian(one_head(1, kDimension, kKeys), 500 + instance, 0);
    for (float& k : layer.key) k /= std::sqrt(static_cast<float>(kDimension));
    const Head head(std::move(layer), 128);
    const std::vector<double> exact = exact_scores(head);
    std::vector<double> of_golden;
    std::vector<double> of_paper;
    std::vector<double> of_same_units;
    for (const std::uint32_t draws : kDraws) {
      of_golden.push_back(golden_error(head, exact, scheme, draws, instance + 1));
      of_paper.push_back(
          float_error(head, exact, head.tensors.key, paper_norms(head), stratified, draws, engine));
      of_same_units.push_back(float_error(head, exact, head.dequantized_keys(),
                                          golden_norms(head, scheme, draws), stratified, draws,
                                          engine));
    }
    golden.add(of_golden);
    paper.add(of_paper);
    same_units.add(of_same_units);
  }
  for (std::size_t b = 0; b < std::size(kDraws); ++b) {
    fmt::print(
        "Figure 6, {}, B {:2}: golden {:.4f} +- {:.4f}, float64 {:.4f} +- {:.4f}, "
        "float64 with the unit's steps and int8 keys {:.4f} +- {:.4f}\n",
        to_string(scheme), kDraws[b], golden.errors[b].value(), golden.errors[b].interval(),
        paper.errors[b].value(), paper.errors[b].interval(), same_units.errors[b].value(),
        same_units.errors[b].interval());
    // With the same steps and keys only chance is left.
    EXPECT_NEAR(golden.errors[b].value(), same_units.errors[b].value(),
                kJoint * std::hypot(golden.errors[b].interval(), same_units.errors[b].interval()));
  }
  // The figure is read to about 5 points.
  EXPECT_NEAR(golden.errors[2].value(), at_four, 0.05 + golden.errors[2].interval());
  const Mean& slope_of_golden = golden.slope_of_instances;
  const Mean& slope_of_paper = paper.slope_of_instances;
  const Mean& slope_of_same = same_units.slope_of_instances;
  fmt::print(
      "Figure 6, {}: slope golden {:.4f} +- {:.4f}, float64 {:.4f} +- {:.4f}, float64 with the "
      "unit's steps and int8 keys {:.4f} +- {:.4f}\n",
      to_string(scheme), slope_of_golden.value(), slope_of_golden.interval(),
      slope_of_paper.value(), slope_of_paper.interval(), slope_of_same.value(),
      slope_of_same.interval());
  EXPECT_NEAR(slope_of_paper.value(), expected_slope, kJoint * slope_of_paper.interval());
  EXPECT_NEAR(slope_of_golden.value(), slope_of_same.value(),
              kJoint * std::hypot(slope_of_golden.interval(), slope_of_same.interval()));
  // int8 keys add a floor to the error, which flattens the golden curve at large B.
  EXPECT_NEAR(slope_of_golden.value(), expected_slope, 0.03 + slope_of_golden.interval());
  EXPECT_EQ(golden.slope_of_instances.count, kInstances);
}

TEST(PaperFigure6, StratifiedErrorFallsAsOneOverB) {
  compare(ScoreScheme::kBernoulli, 0.30, -1.0);
}

TEST(PaperFigure6, IndependentErrorFallsAsOneOverRootB) {
  compare(ScoreScheme::kBernoulliIid, 0.60, -0.5);
}

}  // namespace
}  // namespace santa::attention
