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

// Least-squares slope of log(error) on log(B).
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

void compare(ScoreScheme scheme, double at_four, double expected_slope) {
  const bool stratified = scheme == ScoreScheme::kBernoulli;
  constexpr std::size_t kPoints = std::size(kDraws);
  std::vector<Mean> golden(kPoints);
  std::vector<Mean> paper(kPoints);
  std::vector<Mean> same_units(kPoints);
  boost::random::mt19937_64 engine(99);
  for (unsigned instance = 0; instance < kInstances; ++instance) {
    LayerTensors layer = make_gaussian(one_head(1, kDimension, kKeys), 500 + instance, 0);
    for (float& k : layer.key) k /= std::sqrt(static_cast<float>(kDimension));
    const Head head(std::move(layer), 128);
    const std::vector<double> exact = exact_scores(head);
    for (std::size_t b = 0; b < kPoints; ++b) {
      golden[b].add(golden_error(head, exact, scheme, kDraws[b], instance + 1));
      paper[b].add(float_error(head, exact, head.tensors.key, paper_norms(head), stratified,
                               kDraws[b], engine));
      same_units[b].add(float_error(head, exact, head.dequantized_keys(),
                                    golden_norms(head, scheme, kDraws[b]), stratified, kDraws[b],
                                    engine));
    }
  }
  std::vector<double> errors;
  for (std::size_t b = 0; b < kPoints; ++b) {
    fmt::print(
        "Figure 6, {}, B {:2}: golden {:.4f} +- {:.4f}, float64 {:.4f} +- {:.4f}, "
        "float64 with the unit's steps and int8 keys {:.4f} +- {:.4f}\n",
        to_string(scheme), kDraws[b], golden[b].value(), golden[b].interval(), paper[b].value(),
        paper[b].interval(), same_units[b].value(), same_units[b].interval());
    errors.push_back(golden[b].value());
    // With the same steps and keys only chance is left: 4.8 deviations for 14 comparisons at 1e-5.
    EXPECT_NEAR(golden[b].value(), same_units[b].value(),
                4.8 / 1.96 * std::hypot(golden[b].interval(), same_units[b].interval()));
  }
  // The figure is read to about 5 points.
  EXPECT_NEAR(errors[2], at_four, 0.05 + golden[2].interval());
  fmt::print("Figure 6, {}: slope {:.3f}\n", to_string(scheme), slope(errors));
  EXPECT_NEAR(slope(errors), expected_slope, 0.08);
}

TEST(PaperFigure6, StratifiedErrorFallsAsOneOverB) {
  compare(ScoreScheme::kBernoulli, 0.30, -1.0);
}

TEST(PaperFigure6, IndependentErrorFallsAsOneOverRootB) {
  compare(ScoreScheme::kBernoulliIid, 0.60, -0.5);
}

}  // namespace
}  // namespace santa::attention
