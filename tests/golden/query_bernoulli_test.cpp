// Bernoulli coefficients over many streams: unbiased, and as spread as the scheme says.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "santa/attention/query.hpp"

namespace santa::attention {
namespace {

constexpr std::uint32_t kGroup = 4;
constexpr std::uint32_t kDimension = 24;
constexpr std::uint32_t kStreams = 10000;

QueryOperands operands_of(ScoreScheme scheme, std::uint32_t draws) {
  boost::random::mt19937 engine(5);
  boost::random::normal_distribution<float> normal;
  std::vector<float> queries(kGroup * kDimension);
  for (float& q : queries) q = normal(engine);
  queries[3] = 0.0F;
  queries[kDimension + 4] = -1e-7F;
  const std::vector<double> key_scale(kDimension, 0.02);
  return prepare_query(queries.data(), kGroup, kDimension, key_scale.data(), 0.2, scheme, draws);
}

// Value that the coefficient should have on average, in its own unit.
double expected_mean(const QueryOperands& operands, std::size_t index) {
  double mean =
      operands
          .magnitude[operands.scheme == ScoreScheme::kBernoulliGroup ? index % kDimension : index] /
      65536.0;
  if (operands.scheme == ScoreScheme::kBernoulliGroup) {
    const arithmetic::GroupRatio ratio = operands.ratio[index];
    const double fraction = ratio.upper_probability / 65536.0;
    // In units of 1 / 8: between 0 and 1, or between 2^e and 2^(e + 1).
    mean *= ratio.exponent == arithmetic::kRatioZeroExponent
                ? fraction
                : std::ldexp(1.0 + fraction, ratio.exponent + 3);
  }
  return operands.negative[index] != 0 ? -mean : mean;
}

struct Moments {
  std::vector<double> sum = std::vector<double>(kGroup * kDimension, 0.0);
  std::vector<double> squares = std::vector<double>(kGroup * kDimension, 0.0);
};

Moments moments_of(const QueryOperands& operands, std::uint64_t seed) {
  Moments moments;
  for (std::uint64_t step = 0; step < kStreams; ++step) {
    const EncodedQuery query = encode_query(
        operands,
        arithmetic::derive_stream(seed, {0, 0, 0, step, arithmetic::StreamPurpose::kScores}));
    for (std::size_t i = 0; i < query.coefficients.size(); ++i) {
      const double c = query.coefficients[i];
      moments.sum[i] += c;
      moments.squares[i] += c * c;
    }
  }
  return moments;
}

// 5.2 standard deviations: one chance in 100 of a false alarm over about 50,000 comparisons.
constexpr double kDeviations = 5.2;

class EveryScheme : public ::testing::TestWithParam<ScoreScheme> {};

TEST_P(EveryScheme, MeanCoefficientIsTheOperand) {
  for (std::uint32_t draws = 1; draws <= 64; draws *= 2) {
    const QueryOperands operands = operands_of(GetParam(), draws);
    const Moments moments = moments_of(operands, 100 + draws);
    for (std::size_t i = 0; i < moments.sum.size(); ++i) {
      const double mean = moments.sum[i] / kStreams;
      const double variance = std::max(moments.squares[i] / kStreams - mean * mean, 0.0);
      // A rare coefficient may not have come up at all: the largest value bounds the deviation.
      const double expected = expected_mean(operands, i);
      const double floor = std::max(variance, std::abs(expected) / kStreams);
      ASSERT_NEAR(mean, expected, kDeviations * std::sqrt(floor / kStreams) + 1e-3 / kStreams)
          << "B " << draws << " index " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Bernoulli, EveryScheme,
                         ::testing::Values(ScoreScheme::kBernoulli, ScoreScheme::kBernoulliIid,
                                           ScoreScheme::kBernoulliGroup));

// Variances are known: f (1 - f) for stratified draws, B p (1 - p) for independent ones.
TEST(BernoulliQuery, VarianceIsTheSchemes) {
  for (const ScoreScheme scheme : {ScoreScheme::kBernoulli, ScoreScheme::kBernoulliIid}) {
    for (const std::uint32_t draws : {1U, 8U, 64U}) {
      const QueryOperands operands = operands_of(scheme, draws);
      const Moments moments = moments_of(operands, 200 + draws);
      for (std::size_t i = 0; i < moments.sum.size(); ++i) {
        const double a = operands.magnitude[i] / 65536.0;
        const double fraction = a - std::floor(a);
        const double variance =
            scheme == ScoreScheme::kBernoulli ? fraction * (1.0 - fraction) : a * (1.0 - a / draws);
        const double mean = moments.sum[i] / kStreams;
        const double observed = moments.squares[i] / kStreams - mean * mean;
        // Variance of the squared deviation: at most 3 variance^2 + variance for these counts.
        const double spread = std::sqrt((3.0 * variance * variance + variance) / kStreams);
        ASSERT_NEAR(observed, variance, kDeviations * spread + 2.0 / kStreams)
            << "B " << draws << " index " << i << " a " << a;
      }
    }
  }
}

// Coefficients of different features are drawn independently.
TEST(BernoulliQuery, FeaturesAreUncorrelated) {
  const QueryOperands operands = operands_of(ScoreScheme::kBernoulli, 4);
  std::vector<std::vector<double>> all(kGroup * kDimension);
  for (std::uint64_t step = 0; step < kStreams; ++step) {
    const EncodedQuery query = encode_query(
        operands,
        arithmetic::derive_stream(7, {0, 0, 0, step, arithmetic::StreamPurpose::kScores}));
    for (std::size_t i = 0; i < all.size(); ++i) all[i].push_back(query.coefficients[i]);
  }
  for (std::vector<double>& series : all) {
    double mean = 0.0;
    for (const double value : series) mean += value / kStreams;
    double norm = 0.0;
    for (double& value : series) {
      value -= mean;
      norm += value * value;
    }
    for (double& value : series) value /= norm > kStreams * 0.01 ? std::sqrt(norm) : 1e300;
  }
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = a + 1; b < all.size(); ++b) {
      double correlation = 0.0;
      for (std::size_t n = 0; n < kStreams; ++n) correlation += all[a][n] * all[b][n];
      ASSERT_LT(std::abs(correlation), kDeviations / std::sqrt(kStreams)) << a << ' ' << b;
    }
  }
}

TEST(BernoulliQuery, StratifiedTakesTheTwoNeighboursOnly) {
  const QueryOperands operands = operands_of(ScoreScheme::kBernoulli, 16);
  for (std::uint64_t stream = 1; stream <= 500; ++stream) {
    const EncodedQuery query = encode_query(operands, arithmetic::mix64(stream));
    for (std::size_t i = 0; i < query.coefficients.size(); ++i) {
      const std::uint32_t c = static_cast<std::uint32_t>(std::abs(query.coefficients[i]));
      const std::uint32_t floor = operands.magnitude[i] >> 16;
      ASSERT_TRUE(c == floor || (c == floor + 1 && operands.magnitude[i] % 65536 != 0));
      ASSERT_LE(c, 16U);
    }
  }
}

// A probability a / B has 16 bits, as the lanes have: over all lanes exactly that share lies below.
TEST(BernoulliQuery, IndependentOperandsAreMultiplesOfTheDraws) {
  for (std::uint32_t draws = 1; draws <= 64; draws *= 2) {
    for (const std::uint32_t magnitude : operands_of(ScoreScheme::kBernoulliIid, draws).magnitude) {
      ASSERT_EQ(magnitude % draws, 0U) << "B " << draws;
      ASSERT_LE(magnitude / draws, 65536U) << "B " << draws;
    }
  }
}

// One count for the whole group: a feature is zero for all heads at once unless a ratio below 1/8
// made one head's coefficient zero alone.
TEST(BernoulliQuery, GroupSharesItsZeros) {
  const QueryOperands operands = operands_of(ScoreScheme::kBernoulliGroup, 1);
  std::uint64_t zeros = 0;
  std::uint64_t ones = 0;
  for (std::uint64_t stream = 1; stream <= 2000; ++stream) {
    const EncodedQuery query = encode_query(operands, arithmetic::mix64(stream));
    for (std::uint32_t i = 0; i < kDimension; ++i) {
      bool any = false;
      for (std::uint32_t g = 0; g < kGroup; ++g) any |= query.coefficients[g * kDimension + i] != 0;
      const bool needed =
          std::binary_search(query.needed_features.begin(), query.needed_features.end(), i);
      ASSERT_EQ(any, needed);
      for (std::uint32_t g = 0; g < kGroup; ++g) {
        const std::size_t index = g * kDimension + i;
        if (operands.ratio[index].exponent == arithmetic::kRatioZeroExponent) continue;
        ASSERT_EQ(query.coefficients[index] != 0, any) << "head " << g << " feature " << i;
      }
      zeros += any ? 0U : 1U;
      ones += any ? 1U : 0U;
    }
  }
  EXPECT_GT(zeros, 1000U);
  EXPECT_GT(ones, 1000U);
}

TEST(BernoulliQuery, GroupRatiosAreTheOperands) {
  for (const std::uint32_t group : {1U, 3U, 11U, 16U}) {
    boost::random::mt19937 engine(group);
    boost::random::normal_distribution<float> normal;
    std::vector<float> queries(group * kDimension);
    for (float& q : queries) q = normal(engine);
    for (std::uint32_t g = 1; g < group; ++g) queries[g * kDimension] = 0.0F;  // ratio = group
    const std::vector<double> ones(kDimension, 1.0);
    const QueryOperands operands = prepare_query(queries.data(), group, kDimension, ones.data(),
                                                 0.1, ScoreScheme::kBernoulliGroup, 64);
    ASSERT_EQ(operands.scale.size(), 1U);
    for (std::uint32_t i = 0; i < kDimension; ++i) {
      double mean = 0.0;
      for (std::uint32_t g = 0; g < group; ++g) {
        mean += std::abs(static_cast<double>(queries[g * kDimension + i])) / group;
      }
      for (std::uint32_t g = 0; g < group; ++g) {
        const arithmetic::GroupRatio ratio = operands.ratio[g * kDimension + i];
        const double fraction = ratio.upper_probability / 65536.0;
        const bool small = ratio.exponent == arithmetic::kRatioZeroExponent;
        const double value = small ? fraction / 8.0 : std::ldexp(1.0 + fraction, ratio.exponent);
        const double exact = std::abs(static_cast<double>(queries[g * kDimension + i])) / mean;
        ASSERT_NEAR(value, exact, std::max(exact, 0.125) * 0.6 / 65536.0);
      }
    }
    const EncodedQuery query = encode_query(operands, 1);
    for (const std::int16_t c : query.coefficients) ASSERT_LE(std::abs(c), 8192);
  }
}

TEST(BernoulliQuery, StreamDecidesEverything) {
  for (const ScoreScheme scheme :
       {ScoreScheme::kBernoulli, ScoreScheme::kBernoulliIid, ScoreScheme::kBernoulliGroup}) {
    const QueryOperands operands = operands_of(scheme, 4);
    const EncodedQuery first = encode_query(operands, 12345);
    EXPECT_EQ(first.coefficients, encode_query(operands, 12345).coefficients);
    EXPECT_NE(first.coefficients, encode_query(operands, 12346).coefficients);
    const std::uint64_t lanes = scheme == ScoreScheme::kBernoulliIid     ? kGroup * kDimension * 4
                                : scheme == ScoreScheme::kBernoulliGroup ? (kGroup + 1) * kDimension
                                                                         : kGroup * kDimension;
    EXPECT_EQ(first.lfsr_words, (lanes + 3) / 4);
  }
}

}  // namespace
}  // namespace santa::attention
