// Unbiasedness and variance of the sampled estimators over many seeds. Bounds are confidence
// bounds: each family of comparisons fails by chance once in about 1e5 runs, and seeds are fixed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <string>

#include "decode_fixture.hpp"
#include "santa/reference/attention.hpp"

namespace santa::attention {
namespace {

constexpr unsigned kSeeds = 10000;

// Two-sided z for a family of `comparisons` at a joint level of 1e-5.
double z_bound(std::size_t comparisons) {
  return boost::math::quantile(
      boost::math::complement(boost::math::normal(), 1e-5 / 2 / static_cast<double>(comparisons)));
}

// Probabilities as the integer weights state them: u at the tile's scale, exactly.
std::vector<double> integer_probabilities(const Head& head, std::uint32_t g) {
  DecodeOptions options;
  options.values = ValueScheme::kSystematic;
  DecodeWorkspace workspace;
  const DecodeResult result =
      decode(head.cache, head.cache.context, head.request(options, 1), options, workspace);
  const std::size_t padded = static_cast<std::size_t>(head.cache.tiles()) * head.cache.tile_keys;
  std::vector<double> p(head.cache.context);
  double total = 0.0;
  for (std::uint32_t n = 0; n < head.cache.context; ++n) {
    const std::size_t tile = n / head.cache.tile_keys;
    p[n] = std::ldexp(static_cast<double>(workspace.weights[g * padded + n]),
                      result.tiles[tile * head.tensors.shape.query_heads + g].exponent);
    total += p[n];
  }
  for (double& x : p) x /= total;
  return p;
}

struct Moments {
  std::vector<double> sum;
  std::vector<double> squares;
  explicit Moments(std::size_t size) : sum(size, 0.0), squares(size, 0.0) {}
};

class Unbiased : public ::testing::TestWithParam<ValueScheme> {};

TEST_P(Unbiased, MeanOutputIsTheWeightedMean) {
  const Head head(make_gaussian(one_head(2, 16, 700), 21, 0), 64);
  DecodeOptions options;
  options.values = GetParam();
  options.samples = 32;
  DecodeWorkspace workspace;
  Moments moments(2 * 16);
  DecodeRequest request = head.request(options, 1);
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    request.value_streams = head.request(options, seed).value_streams;
    const DecodeResult result = decode(head.cache, 700, request, options, workspace);
    for (std::size_t e = 0; e < result.output.size(); ++e) {
      const double x = result.output[e] / 256.0;
      moments.sum[e] += x;
      moments.squares[e] += x * x;
    }
  }
  // S = 32 leaves 8 fraction bits: the output itself is not rounded. Tile masses are floored at
  // 2^-24 of the largest weight, far below the statistical resolution.
  const double z = z_bound(moments.sum.size());
  for (std::uint32_t g = 0; g < 2; ++g) {
    const std::vector<double> p = integer_probabilities(head, g);
    for (std::uint32_t i = 0; i < 16; ++i) {
      double expected = 0.0;
      for (std::uint32_t n = 0; n < 700; ++n) expected += p[n] * head.cache.value_row(n)[i];
      const double mean = moments.sum[g * 16 + i] / kSeeds;
      const double variance = moments.squares[g * 16 + i] / kSeeds - mean * mean;
      EXPECT_GT(variance, 0.0);
      EXPECT_NEAR(mean, expected, z * std::sqrt(variance / kSeeds)) << "head " << g << " " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schemes, Unbiased,
                         ::testing::Values(ValueScheme::kSanta, ValueScheme::kStratified,
                                           ValueScheme::kSystematic),
                         [](const auto& scheme) { return std::string(to_string(scheme.param)); });

class UnbiasedScores : public ::testing::TestWithParam<ScoreScheme> {};

// Mean score over seeds against the dot product of the real query with the cache's real keys.
TEST_P(UnbiasedScores, MeanScoreIsTheDotProduct) {
  const std::uint32_t keys = 64;
  const Head head(make_gaussian(one_head(4, 64, keys), 5, 0), 64);
  const std::vector<float> real_keys = head.dequantized_keys();
  for (const std::uint32_t draws : {1U, 4U, 16U}) {
    const QueryOperands operands = head.operands(GetParam(), draws);
    Moments moments(4 * keys);
    std::vector<std::int32_t> scores(4 * keys);
    for (unsigned seed = 1; seed <= kSeeds; ++seed) {
      const EncodedQuery query = encode_query(
          operands,
          arithmetic::derive_stream(seed, {0, 0, 0, 0, arithmetic::StreamPurpose::kScores}));
      score_tile(query, head.cache.tile(0), keys, scores.data());
      for (std::size_t e = 0; e < scores.size(); ++e) {
        const double x = scores[e] * scale_value(query.scale[e / keys]);
        moments.sum[e] += x;
        moments.squares[e] += x * x;
      }
    }
    const double z = z_bound(scores.size());
    for (std::uint32_t g = 0; g < 4; ++g) {
      for (std::uint32_t n = 0; n < keys; ++n) {
        double dot = 0.0;
        for (std::uint32_t i = 0; i < 64; ++i) {
          dot += static_cast<double>(head.tensors.query[g * 64 + i]) *
                 static_cast<double>(real_keys[n * 64 + i]);
        }
        const double expected = dot * head.tensors.softmax_scale * std::log2(std::exp(1.0));
        const double mean = moments.sum[g * keys + n] / kSeeds;
        const double variance = moments.squares[g * keys + n] / kSeeds - mean * mean;
        // Operands have 16 fraction bits: at most half of 2^-16 units a feature against |k| <= 127.
        const double rounding =
            64 * 127 * std::ldexp(0.5 * draws, -16) * scale_value(operands.scale.front()) * 8;
        EXPECT_NEAR(mean, expected, z * std::sqrt(variance / kSeeds) + rounding)
            << "B " << draws << " head " << g << " key " << n;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schemes, UnbiasedScores,
                         ::testing::Values(ScoreScheme::kBernoulli, ScoreScheme::kBernoulliIid,
                                           ScoreScheme::kBernoulliGroup),
                         [](const auto& scheme) {
                           std::string name(to_string(scheme.param));
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

// Mean squared distance of the output from the weighted mean, over seeds, and its standard error.
struct Measured {
  double mean = 0.0;
  double error = 0.0;
};
Measured empirical_variance(const Head& head, ValueScheme scheme, std::uint32_t samples,
                            unsigned seeds, const std::vector<double>& p) {
  const std::uint32_t d = head.cache.head_dimension;
  const std::vector<float> values = head.dequantized_values();
  std::vector<double> mean(d, 0.0);
  for (std::uint32_t n = 0; n < head.cache.context; ++n) {
    for (std::uint32_t i = 0; i < d; ++i) {
      mean[i] += p[n] * static_cast<double>(values[static_cast<std::size_t>(n) * d + i]);
    }
  }
  DecodeOptions options;
  options.values = scheme;
  options.samples = samples;
  DecodeWorkspace workspace;
  double sum = 0.0;
  double squares = 0.0;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    const DecodeResult result =
        decode(head.cache, head.cache.context, head.request(options, seed), options, workspace);
    const std::vector<float> output = dequantize_output(result, head.cache);
    double distance = 0.0;
    for (std::uint32_t i = 0; i < d; ++i) {
      const double error = static_cast<double>(output[i]) - mean[i];
      distance += error * error;
    }
    sum += distance;
    squares += distance * distance;
  }
  const double average = sum / seeds;
  return {average, std::sqrt((squares / seeds - average * average) / (seeds - 1))};
}

// The closed forms of the paper's appendix M hold for the golden model: i.i.d. and stratified.
// Systematic sampling has none; it beats i.i.d. draws clearly and is within a tenth of stratified
// ones, where the confidence interval decides.
TEST(Variance, EqualsTheClosedFormsAndSystematicIsNoWorse) {
  const unsigned seeds = 2000;
  const double z = z_bound(2 * 3 * 4);
  unsigned checks = 0;
  for (const bool needle : {false, true}) {
    const LayerShape shape = one_head(1, 32, 1500);
    const Head head(needle ? make_needle(shape, 3, 0) : make_gaussian(shape, 3, 0), 64);
    const std::vector<double> p = integer_probabilities(head, 0);
    const std::vector<float> values = head.dequantized_values();
    for (const std::uint32_t samples : {16U, 64U, 256U}) {
      const double iid = reference::variance_iid(p, values.data(), 32, samples);
      const double strat = reference::variance_stratified(p, values.data(), 32, samples);
      const Measured of_iid = empirical_variance(head, ValueScheme::kSanta, samples, seeds, p);
      const Measured of_strat =
          empirical_variance(head, ValueScheme::kStratified, samples, seeds, p);
      const Measured of_sys = empirical_variance(head, ValueScheme::kSystematic, samples, seeds, p);
      fmt::print(
          "Variance over i.i.d.'s closed form, {}, S {:3}, seeds 1..{}: i.i.d. {:.3f} +- {:.3f}, "
          "stratified {:.3f} +- {:.3f} (closed form {:.3f}), systematic {:.3f} +- {:.3f}\n",
          needle ? "needle" : "gaussian", samples, seeds, of_iid.mean / iid,
          1.96 * of_iid.error / iid, of_strat.mean / iid, 1.96 * of_strat.error / iid, strat / iid,
          of_sys.mean / iid, 1.96 * of_sys.error / iid);
      const std::string where = "S " + std::to_string(samples) + (needle ? " needle" : " gaussian");
      EXPECT_LT(strat, iid) << where;
      EXPECT_NEAR(of_iid.mean, iid, z * of_iid.error) << where;
      EXPECT_NEAR(of_strat.mean, strat, z * of_strat.error) << where;
      EXPECT_LT(of_sys.mean - z * of_sys.error, iid) << where;
      EXPECT_LT(of_sys.mean - z * of_sys.error, 1.1 * strat) << where;
      checks += 4;
    }
  }
  EXPECT_EQ(checks, 2U * 3 * 4);
}

}  // namespace
}  // namespace santa::attention
