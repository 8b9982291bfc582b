#include "santa/attention/query.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "santa/error.hpp"

namespace santa::attention {
namespace {

using arithmetic::GroupRatio;
using arithmetic::kMaxBernoulliDraws;
using arithmetic::kMaxScaleExponent;
using arithmetic::kMaxScaleShift;
using arithmetic::kMinScaleExponent;
using arithmetic::kOperandOne;
using arithmetic::kRatioFractionBits;
using arithmetic::kRatioZeroExponent;
using arithmetic::ScaleFactor;

constexpr double kLog2E = 1.4426950408889634074;
static_assert(kMinScaleExponent == -8, "kAllowedUnit says so");
constexpr const char* kAllowedUnit =
    "at most 2^8 in the log2 domain: a query feature times its largest key times the softmax scale "
    "is too large";
constexpr double kScoreLimit = 4194304.0;  // 2^22: x keeps 8 fraction bits within int32

// Every allowed 1 + sign_a 2^-shift_a + sign_b 2^-shift_b, doubled through the exponent until its
// value lies in [1, 2), ascending. The sums below 1 close the grid's gaps below the next power of
// two: between neighbours lie at most 4.8 %, without them 14.3 %.
std::vector<ScaleFactor> make_mantissas() {
  std::vector<ScaleFactor> all;
  for (int sign_a = -1; sign_a <= 1; ++sign_a) {
    for (int sign_b = -1; sign_b <= 1; ++sign_b) {
      for (unsigned a = 1; a <= kMaxScaleShift; ++a) {
        for (unsigned b = a; b <= kMaxScaleShift; ++b) {
          ScaleFactor factor{0, static_cast<std::int8_t>(sign_a), static_cast<std::uint8_t>(a),
                             static_cast<std::int8_t>(sign_b), static_cast<std::uint8_t>(b)};
          if (scale_value(factor) == 0.0) continue;  // 1 - 1/2 - 1/2
          while (scale_value(factor) < 1.0) --factor.exponent;
          if (scale_value(factor) < 2.0) all.push_back(factor);
        }
      }
    }
  }
  // Fewest additions first among equal values, then the largest exponent, so that the pick is
  // unique.
  const auto order = [](const ScaleFactor& f) {
    const int additions = (f.sign_a != 0 ? 1 : 0) + (f.sign_b != 0 ? 1 : 0);
    return std::make_tuple(scale_value(f), additions, -f.exponent);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const ScaleFactor& x, const ScaleFactor& y) { return order(x) < order(y); });
  return all;
}

GroupRatio make_ratio(double ratio) {
  const double smallest = std::ldexp(1.0, -static_cast<int>(kRatioFractionBits));
  int exponent = kRatioZeroExponent;
  double fraction = ratio / smallest;
  if (ratio >= smallest) {
    exponent = std::ilogb(ratio);
    fraction = std::ldexp(ratio, -exponent) - 1.0;
  }
  long probability = std::lround(fraction * kOperandOne);
  if (probability >= static_cast<long>(kOperandOne)) {  // rounds up to the upper neighbour itself
    ++exponent;
    probability = 0;
  }
  return {static_cast<std::int8_t>(exponent), static_cast<std::uint16_t>(probability)};
}

// Magnitudes of one row in units of step, Q8.16. For independent draws a multiple of B, so that the
// probability a / B has 16 bits and the draws are unbiased.
void fill_magnitudes(const std::vector<double>& folded, double step, ScoreScheme scheme,
                     unsigned draws_log2, std::uint32_t* out) {
  const unsigned coarse = scheme == ScoreScheme::kBernoulliIid ? draws_log2 : 0;
  for (std::size_t i = 0; i < folded.size(); ++i) {
    const double units = std::ldexp(folded[i] / step * kOperandOne, -static_cast<int>(coarse));
    out[i] = static_cast<std::uint32_t>(std::llround(units)) << coarse;
  }
}

// Largest coefficient that the encoder could make of magnitude `a`: independent draws may all
// succeed, every other scheme rounds to a neighbour.
double largest_count(std::uint32_t a, ScoreScheme scheme, unsigned draws_log2) {
  if (scheme == ScoreScheme::kBernoulliIid) return a == 0 ? 0.0 : 1U << draws_log2;
  return std::ceil(static_cast<double>(a) / kOperandOne);
}

void check_score_range(double largest_accumulator, ScaleFactor scale) {
  const double largest_score = largest_accumulator * scale_value(scale);
  if (largest_score >= kScoreLimit) {
    throw input_error("query", "score range", "scores could reach " + std::to_string(largest_score),
                      "below 2^22 in the log2 domain; scale the query or the keys down");
  }
}

}  // namespace

double scale_value(ScaleFactor scale) {
  const double mantissa = 1.0 + std::ldexp(static_cast<double>(scale.sign_a), -scale.shift_a) +
                          std::ldexp(static_cast<double>(scale.sign_b), -scale.shift_b);
  return std::ldexp(mantissa, -scale.exponent);
}

ScaleFactor choose_scale(double kappa) {
  static const std::vector<ScaleFactor> mantissas = make_mantissas();
  if (!std::isfinite(kappa)) {
    throw input_error("query", "scale", "one coefficient unit is not finite", kAllowedUnit);
  }
  const double smallest = std::ldexp(1.0, -kMaxScaleExponent);
  if (kappa <= smallest) {
    ScaleFactor factor = mantissas.front();
    factor.exponent = static_cast<std::int8_t>(kMaxScaleExponent);
    return factor;
  }
  int exponent = -std::ilogb(kappa);
  const double mantissa = std::ldexp(kappa, exponent);  // [1, 2)
  ScaleFactor factor = mantissas.front();
  if (exponent >= kMinScaleExponent) {
    const auto at_least =
        std::find_if(mantissas.begin(), mantissas.end(), [&](const ScaleFactor& f) {
          return scale_value(f) >= mantissa && exponent + f.exponent >= kMinScaleExponent;
        });
    if (at_least != mantissas.end()) {
      factor = *at_least;
      exponent += factor.exponent;
    } else {
      --exponent;  // the next power of two
    }
  }
  if (exponent < kMinScaleExponent) {
    throw input_error("query", "scale", "one coefficient unit is 2^" + std::to_string(-exponent),
                      kAllowedUnit);
  }
  factor.exponent = static_cast<std::int8_t>(exponent);
  return factor;
}

QueryOperands prepare_query(const float* queries, std::uint32_t group, std::uint32_t head_dimension,
                            const double* key_scale, double softmax_scale, ScoreScheme scheme,
                            std::uint32_t draws) {
  if (is_bernoulli(scheme) &&
      (draws == 0 || draws > kMaxBernoulliDraws || (draws & (draws - 1)) != 0)) {
    throw input_error("--bernoulli", "", "got " + std::to_string(draws),
                      "a power of two from 1 to " + std::to_string(kMaxBernoulliDraws));
  }
  QueryOperands operands;
  operands.group = group;
  operands.head_dimension = head_dimension;
  operands.scheme = scheme;
  if (is_bernoulli(scheme)) operands.draws_log2 = static_cast<unsigned>(std::ilogb(draws));
  const double largest_units =
      is_bernoulli(scheme) ? draws : static_cast<double>(arithmetic::kMaxExactCoefficient);

  // Key scales folded into the query: the unit sees integers only.
  std::vector<std::vector<double>> folded(group, std::vector<double>(head_dimension));
  operands.negative.resize(static_cast<std::size_t>(group) * head_dimension);
  for (std::uint32_t g = 0; g < group; ++g) {
    for (std::uint32_t i = 0; i < head_dimension; ++i) {
      const std::size_t index = static_cast<std::size_t>(g) * head_dimension + i;
      const double q = static_cast<double>(queries[index]);
      folded[g][i] = std::abs(q) * key_scale[i];
      operands.negative[index] = q < 0.0 ? 1 : 0;
    }
  }

  if (scheme != ScoreScheme::kBernoulliGroup) {
    operands.magnitude.resize(operands.negative.size());
    for (std::uint32_t g = 0; g < group; ++g) {
      const double largest = *std::max_element(folded[g].begin(), folded[g].end());
      const ScaleFactor scale = choose_scale(largest / largest_units * softmax_scale * kLog2E);
      const double step = scale_value(scale) / (softmax_scale * kLog2E);
      std::uint32_t* out = operands.magnitude.data() + static_cast<std::size_t>(g) * head_dimension;
      fill_magnitudes(folded[g], step, scheme, operands.draws_log2, out);
      double largest_accumulator = 0.0;
      for (std::uint32_t i = 0; i < head_dimension; ++i) {
        largest_accumulator +=
            largest_count(out[i], scheme, operands.draws_log2) * arithmetic::kMaxKeyMagnitude;
      }
      check_score_range(largest_accumulator, scale);
      operands.scale.push_back(scale);
    }
    return operands;
  }

  // Mean group query: coefficients count units of step * 2^-kRatioFractionBits.
  const double ratio_unit = std::ldexp(1.0, static_cast<int>(kRatioFractionBits));
  std::vector<double> mean(head_dimension, 0.0);
  for (std::uint32_t i = 0; i < head_dimension; ++i) {
    for (std::uint32_t g = 0; g < group; ++g) mean[i] += folded[g][i];
    mean[i] /= group;
  }
  const double largest = *std::max_element(mean.begin(), mean.end());
  const ScaleFactor scale =
      choose_scale(largest / largest_units * softmax_scale * kLog2E / ratio_unit);
  const double step = scale_value(scale) * ratio_unit / (softmax_scale * kLog2E);
  operands.magnitude.resize(head_dimension);
  fill_magnitudes(mean, step, scheme, operands.draws_log2, operands.magnitude.data());
  operands.ratio.resize(operands.negative.size());
  for (std::uint32_t g = 0; g < group; ++g) {
    double largest_accumulator = 0.0;
    for (std::uint32_t i = 0; i < head_dimension; ++i) {
      const GroupRatio ratio = make_ratio(mean[i] > 0.0 ? folded[g][i] / mean[i] : 0.0);
      operands.ratio[static_cast<std::size_t>(g) * head_dimension + i] = ratio;
      largest_accumulator += largest_count(operands.magnitude[i], scheme, operands.draws_log2) *
                             std::ldexp(ratio_unit, ratio.exponent + 1) *
                             arithmetic::kMaxKeyMagnitude;
    }
    check_score_range(largest_accumulator, scale);
  }
  operands.scale.push_back(scale);
  return operands;
}

EncodedQuery encode_query(const QueryOperands& operands, std::uint64_t stream) {
  const std::uint32_t group = operands.group;
  const std::uint32_t head_dimension = operands.head_dimension;
  EncodedQuery query;
  query.group = group;
  query.head_dimension = head_dimension;
  query.coefficients.resize(static_cast<std::size_t>(group) * head_dimension);
  query.scale = operands.scale;
  query.scale.resize(group, operands.scale.front());

  arithmetic::LaneStream lanes(stream);
  for (std::uint32_t i = 0; i < head_dimension; ++i) {
    std::int32_t shared = 0;
    if (operands.scheme == ScoreScheme::kBernoulliGroup) {
      shared = arithmetic::stratified_count(operands.magnitude[i], lanes.next16());
    }
    bool needed = false;
    for (std::uint32_t g = 0; g < group; ++g) {
      const std::size_t index = static_cast<std::size_t>(g) * head_dimension + i;
      std::int32_t count = 0;
      switch (operands.scheme) {
        case ScoreScheme::kExact:
          count = arithmetic::exact_count(operands.magnitude[index]);
          break;
        case ScoreScheme::kBernoulli:
          count = arithmetic::stratified_count(operands.magnitude[index], lanes.next16());
          break;
        case ScoreScheme::kBernoulliIid:
          count =
              arithmetic::independent_count(operands.magnitude[index], operands.draws_log2, lanes);
          break;
        case ScoreScheme::kBernoulliGroup:
          count = arithmetic::group_coefficient(shared, operands.ratio[index], lanes.next16());
          break;
      }
      query.coefficients[index] =
          static_cast<std::int16_t>(operands.negative[index] != 0 ? -count : count);
      needed = needed || count != 0;
    }
    if (needed) query.needed_features.push_back(i);
  }
  query.lfsr_words = lanes.words_drawn();
  return query;
}

}  // namespace santa::attention
