// The query side: operands, scale factors, coefficients of every score scheme.
#include "santa/attention/query.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "santa/error.hpp"

namespace santa::attention {
namespace {

using arithmetic::kOperandOne;
using arithmetic::ScaleFactor;

constexpr double kLog2E = 1.4426950408889634;

struct Input {
  std::uint32_t group = 1;
  std::uint32_t head_dimension = 1;
  std::vector<float> queries;
  std::vector<double> key_scale;
  double softmax_scale = 0.125;

  QueryOperands prepare(ScoreScheme scheme, std::uint32_t draws = 8) const {
    return prepare_query(queries.data(), group, head_dimension, key_scale.data(), softmax_scale,
                         scheme, draws);
  }
  double folded(std::uint32_t g, std::uint32_t i) const {
    return std::abs(static_cast<double>(queries[g * head_dimension + i])) * key_scale[i];
  }
};

Input gaussian(std::uint32_t group, std::uint32_t head_dimension, std::uint32_t seed,
               float size = 1.0F) {
  boost::random::mt19937 engine(seed);
  boost::random::normal_distribution<float> normal(0.0F, size);
  Input input{group, head_dimension, {}, {}, 1.0 / std::sqrt(head_dimension)};
  for (std::uint32_t i = 0; i < group * head_dimension; ++i)
    input.queries.push_back(normal(engine));
  for (std::uint32_t i = 0; i < head_dimension; ++i) {
    input.key_scale.push_back(0.01 + std::abs(static_cast<double>(normal(engine))) / 50.0);
  }
  return input;
}

template <typename Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// Every value 2^-e (1 +- 2^-a +- 2^-b) from the finest unit on, by brute force.
std::vector<double> every_scale_value() {
  std::vector<double> all;
  for (int e = arithmetic::kMinScaleExponent; e <= arithmetic::kMaxScaleExponent; ++e) {
    for (int sign_a = -1; sign_a <= 1; ++sign_a) {
      for (int sign_b = -1; sign_b <= 1; ++sign_b) {
        for (int a = 1; a <= 6; ++a) {
          for (int b = 1; b <= 6; ++b) {
            const double mantissa = 1.0 + sign_a * std::exp2(-a) + sign_b * std::exp2(-b);
            const double value = mantissa * std::exp2(-e);
            if (mantissa < 2.0 && value >= std::exp2(-30)) all.push_back(value);
          }
        }
      }
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

TEST(ChooseScale, IsTheSmallestAllowedValueNotBelow) {
  const std::vector<double> all = every_scale_value();
  boost::random::mt19937 engine(1);
  std::vector<double> wanted = {1e-300, 1e-12, 1.0, 0.75, 255.0, 0.1};
  for (const double value : all) {
    wanted.insert(wanted.end(), {value, std::nextafter(value, 0.0), std::nextafter(value, 1e9)});
  }
  for (int n = 0; n < 20000; ++n)
    wanted.push_back(std::exp2(-34.0 + engine() * (42.0 / 4294967296.0)));
  for (const double kappa : wanted) {
    const auto expected = std::lower_bound(all.begin(), all.end(), kappa);
    if (expected == all.end()) {
      EXPECT_THROW(choose_scale(kappa), InputError) << kappa;
      continue;
    }
    const ScaleFactor scale = choose_scale(kappa);
    ASSERT_EQ(scale_value(scale), *expected) << kappa;
    ASSERT_GE(scale.exponent, arithmetic::kMinScaleExponent);
    ASSERT_LE(scale.exponent, arithmetic::kMaxScaleExponent);
    ASSERT_TRUE(scale.shift_a >= 1 && scale.shift_a <= arithmetic::kMaxScaleShift);
    ASSERT_TRUE(scale.shift_b >= 1 && scale.shift_b <= arithmetic::kMaxScaleShift);
  }
}

// The unit of a query is at most 1/21 coarser than wanted, anywhere on the grid but its last
// octave.
TEST(ChooseScale, LargestGapIsOnePartIn21) {
  const std::vector<double> all = every_scale_value();
  double largest = 1.0;
  for (std::size_t n = 1; n < all.size() && all[n] <= 256.0; ++n) {
    largest = std::max(largest, all[n] / all[n - 1]);
  }
  EXPECT_DOUBLE_EQ(largest, 22.0 / 21.0);
  EXPECT_EQ(scale_value(choose_scale(1.9)), 1.90625) << "2 (1 - 2^-4 + 2^-6)";
}

TEST(ChooseScale, ZeroGivesTheFinestUnit) {
  EXPECT_EQ(scale_value(choose_scale(0.0)), std::exp2(-30.0));
}

TEST(ChooseScale, PowersOfTwoNeedNoAddition) {
  for (int e = -8; e <= 30; ++e) {
    const ScaleFactor scale = choose_scale(std::exp2(-e));
    EXPECT_EQ(scale.exponent, e);
    EXPECT_EQ(scale.sign_a, 0);
    EXPECT_EQ(scale.sign_b, 0);
  }
}

TEST(ChooseScale, RefusesWhatIsTooLarge) {
  EXPECT_EQ(scale_value(choose_scale(448.0)), 448.0);  // 2^8 (1 + 1/2 + 1/4)
  EXPECT_EQ(message_of([] { choose_scale(449.0); }),
            "query: scale: one coefficient unit is 2^9; allowed: at most 2^8 in the log2 domain: a "
            "query feature times its largest key times the softmax scale is too large");
  EXPECT_EQ(message_of([] { choose_scale(1024.0); }),
            "query: scale: one coefficient unit is 2^10; allowed: at most 2^8 in the log2 domain: "
            "a query feature times its largest key times the softmax scale is too large");
  EXPECT_THROW(choose_scale(std::numeric_limits<double>::max()), InputError);
  for (const double kappa : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    EXPECT_EQ(message_of([&] { choose_scale(kappa); }),
              "query: scale: one coefficient unit is not finite; allowed: at most 2^8 in the log2 "
              "domain: a query feature times its largest key times the softmax scale is too large");
  }
}

// Recovers the step from the magnitudes: magnitude = folded * 2^16 / step, to nearest.
void expect_step(const Input& input, const QueryOperands& operands, std::uint32_t g, double unit) {
  const double step = scale_value(operands.scale[g]) * unit / (input.softmax_scale * kLog2E);
  for (std::uint32_t i = 0; i < input.head_dimension; ++i) {
    const double exact = input.folded(g, i) / step * kOperandOne;
    const std::uint32_t magnitude = operands.magnitude[g * input.head_dimension + i];
    ASSERT_NEAR(magnitude, exact, 0.5 + 1e-6) << g << ' ' << i;
  }
}

TEST(ExactQuery, CoefficientsFillEightBitsAndRecoverTheQuery) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    const std::uint32_t group = 1 + seed % 16;
    const Input input =
        gaussian(group, 1 + seed % 130, seed, static_cast<float>(std::exp2(seed % 9)));
    const QueryOperands operands = input.prepare(ScoreScheme::kExact);
    ASSERT_EQ(operands.scale.size(), group);
    const EncodedQuery query = encode_query(operands, 1);
    EXPECT_EQ(query.lfsr_words, 0U);
    for (std::uint32_t g = 0; g < group; ++g) {
      expect_step(input, operands, g, 1.0);
      std::int32_t largest = 0;
      for (std::uint32_t i = 0; i < input.head_dimension; ++i) {
        const std::size_t index = g * input.head_dimension + i;
        const std::int32_t c = query.coefficients[index];
        largest = std::max(largest, std::abs(c));
        const double units = operands.magnitude[index] / 65536.0;
        ASSERT_LE(std::abs(std::abs(c) - units), 0.5);
        ASSERT_TRUE(c == 0 || (c < 0) == (input.queries[index] < 0.0F));
      }
      ASSERT_LE(largest, 127);
      ASSERT_GE(largest, 121) << "127 * 21 / 22, to nearest";
      EXPECT_EQ(scale_value(query.scale[g]), scale_value(operands.scale[g]));
    }
  }
}

// What the unit computes is q . k * softmax scale * log2(e) up to the rounding of each coefficient.
TEST(ExactQuery, ScoreOfAKeyIsTheRealOne) {
  const Input input = gaussian(4, 64, 7);
  const EncodedQuery query = encode_query(input.prepare(ScoreScheme::kExact), 1);
  boost::random::mt19937 engine(8);
  for (std::uint32_t g = 0; g < 4; ++g) {
    double real = 0.0;
    double unit = 0.0;
    double allowed = 0.0;
    for (std::uint32_t i = 0; i < 64; ++i) {
      const double key = static_cast<double>(engine() % 255) - 127.0;
      const double q = static_cast<double>(input.queries[g * 64 + i]);
      real += q * input.key_scale[i] * key * input.softmax_scale * kLog2E;
      unit += query.coefficients[g * 64 + i] * key * scale_value(query.scale[g]);
      allowed += std::abs(key) * 0.5001 * scale_value(query.scale[g]);
    }
    EXPECT_NEAR(unit, real, allowed);
  }
}

TEST(ExactQuery, ZeroQueryNeedsNoFeature) {
  for (const ScoreScheme scheme : {ScoreScheme::kExact, ScoreScheme::kBernoulli,
                                   ScoreScheme::kBernoulliIid, ScoreScheme::kBernoulliGroup}) {
    Input input = gaussian(3, 5, 1);
    std::fill(input.queries.begin(), input.queries.end(), 0.0F);
    input.queries[2] = -0.0F;
    const EncodedQuery query = encode_query(input.prepare(scheme), 99);
    EXPECT_TRUE(query.needed_features.empty());
    EXPECT_EQ(query.scale.size(), 3U);
    for (const std::int16_t c : query.coefficients) EXPECT_EQ(c, 0);
  }
}

TEST(ExactQuery, NeededFeaturesAreThoseOfAnyHead) {
  Input input{2, 4, {0.0F, 1.0F, 0.0F, 0.0F, 0.0F, 0.0F, -1.0F, 1e-6F}, {1.0, 1.0, 1.0, 1.0}, 1.0};
  const EncodedQuery query = encode_query(input.prepare(ScoreScheme::kExact), 1);
  EXPECT_EQ(query.needed_features, (std::vector<std::uint32_t>{1, 2}));
}

TEST(PrepareQuery, RefusesEveryOtherNumberOfDraws) {
  const Input input = gaussian(1, 4, 1);
  for (const ScoreScheme scheme :
       {ScoreScheme::kBernoulli, ScoreScheme::kBernoulliIid, ScoreScheme::kBernoulliGroup}) {
    for (std::uint32_t draws = 0; draws <= 130; ++draws) {
      const bool allowed = draws == 1 || draws == 2 || draws == 4 || draws == 8 || draws == 16 ||
                           draws == 32 || draws == 64;
      EXPECT_EQ(message_of([&] { input.prepare(scheme, draws); }),
                allowed ? "no error"
                        : "--bernoulli: got " + std::to_string(draws) +
                              "; allowed: a power of two from 1 to 64");
    }
  }
  EXPECT_NO_THROW(input.prepare(ScoreScheme::kExact, 3)) << "exact scores ignore it";
}

TEST(PrepareQuery, RefusesScoresBeyondTheRange) {
  // 128 features of coefficient 127 against key -128: 127 * 128 * 128 = 2080768 units.
  const std::vector<float> queries(128, 127.0F);
  const std::vector<double> ones(128, 1.0);
  const auto prepare = [&](double kappa) {
    return prepare_query(queries.data(), 1, 128, ones.data(), kappa / kLog2E, ScoreScheme::kExact,
                         1);
  };
  EXPECT_NO_THROW(prepare(1.999));  // 2 * 127 * 128 * 128 = 4161536
  EXPECT_EQ(
      message_of([&] { prepare(3.999); }),
      "query: score range: scores could reach 8323072.000000; allowed: below 2^22 in the log2 "
      "domain; scale the query or the keys down");
}

// Independent draws may all succeed, however small the probability: the bound must count them all.
TEST(PrepareQuery, RangeOfIndependentDrawsCountsEveryDraw) {
  std::vector<float> queries(1024, 0.001F);
  queries[0] = 1.0F;
  const std::vector<double> ones(1024, 1.0);
  // 64 draws a feature: up to 64 * 1024 * 128 * kappa = 2^23 * kappa, kappa = softmax scale / 64.
  const auto prepare = [&](double kappa) {
    return prepare_query(queries.data(), 1, 1024, ones.data(), 64.0 * kappa / kLog2E,
                         ScoreScheme::kBernoulliIid, 64);
  };
  EXPECT_NO_THROW(prepare(0.24));
  EXPECT_THROW(prepare(0.9), InputError);
}

}  // namespace
}  // namespace santa::attention
