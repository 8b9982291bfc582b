// Dense and top-k outputs and the log-sum-exp against float64, within the bounds that
// docs/numerics.md derives in "Error of the baselines": first from the integer scores, which leaves
// weights, masses and the quotient alone, then from the tensors.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "decode_fixture.hpp"

namespace santa::attention {
namespace {

constexpr double kLn2 = 0.69314718055994530942;
constexpr double kWeightUnits = 192.0;  // 0.75 * 2^-16, the error of a weight, in units of 2^-24
constexpr double kOutputHalfUnit = 1.0 / 512.0;  // half of 2^-8
constexpr double kScoreHalfUnit = 1.0 / 512.0;   // half of 2^-8
constexpr double kFloat64 = 1e-9;                // what float64 itself loses, generously

// Scores of one query head in the log2 domain, computed apart from the golden code.
struct Scores {
  std::vector<double> rounded;        // as the unit rounds them: halves up to 8 fraction bits
  std::vector<double> real;           // of the real query against the cache's keys
  double encoding_error = 0.0;        // largest |error| that the coefficients can cause
  std::vector<double> tile_exponent;  // floor(largest of the tile) + 1
  double exponent = 0.0;              // the largest of them

  Scores(const Head& head, const QueryOperands& operands, std::uint32_t g) {
    const KvHead& cache = head.cache;
    const EncodedQuery query = encode_query(operands, 1);
    const double unit = scale_value(operands.scale[g]);
    const double log2_scale = head.tensors.softmax_scale / kLn2;
    for (std::uint32_t n = 0; n < cache.context; ++n) {
      const std::int8_t* tile = cache.tile(n / cache.tile_keys);
      double accumulator = 0.0;
      double exact = 0.0;
      double error = 0.0;
      for (std::uint32_t i = 0; i < cache.head_dimension; ++i) {
        const std::size_t index = static_cast<std::size_t>(g) * cache.head_dimension + i;
        const double key =
            tile[static_cast<std::size_t>(i) * cache.tile_keys + n % cache.tile_keys];
        const double wanted =
            static_cast<double>(head.tensors.query[index]) * cache.key_scale[i] * log2_scale / unit;
        accumulator += query.coefficients[index] * key;
        exact += wanted * key;
        error += std::abs(query.coefficients[index] - wanted) * std::abs(key);
      }
      rounded.push_back(std::floor(accumulator * unit * 256.0 + 0.5) / 256.0);
      real.push_back(exact * unit);
      encoding_error = std::max(encoding_error, error * unit);
    }
    for (std::uint32_t t = 0; t < cache.tiles(); ++t) {
      const auto first = rounded.begin() + static_cast<std::ptrdiff_t>(t) * cache.tile_keys;
      const auto last = first + cache.tile_valid_keys(t);
      tile_exponent.push_back(std::floor(*std::max_element(first, last)) + 1.0);
    }
    exponent = *std::max_element(tile_exponent.begin(), tile_exponent.end());
  }
};

// Softmax in base 2 over some keys: sum of 2^(score - exponent), and for each feature the mean
// value and the mean distance from it.
struct Softmax {
  double sum = 0.0;
  std::vector<double> mean;
  std::vector<double> spread;

  Softmax(const KvHead& cache, const std::vector<double>& scores, double exponent,
          const std::vector<std::uint32_t>& keys)
      : mean(cache.head_dimension, 0.0), spread(cache.head_dimension, 0.0) {
    for (const std::uint32_t n : keys) {
      const double p = std::exp2(scores[n] - exponent);
      sum += p;
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += p * cache.value_row(n)[i];
    }
    for (double& m : mean) m /= sum;
    for (const std::uint32_t n : keys) {
      const double p = std::exp2(scores[n] - exponent) / sum;
      for (std::size_t i = 0; i < mean.size(); ++i) {
        spread[i] += p * std::abs(cache.value_row(n)[i] - mean[i]);
      }
    }
  }
};

// What weights, masses and the quotient may lose, in units of the value's step. Dense units floor
// a tile's sum and its mass once, top-k units floor each key's mass.
double integer_bound(const KvHead& cache, const Scores& scores, const Softmax& softmax,
                     const std::vector<std::uint32_t>& keys, std::uint32_t feature, bool dense) {
  double moved = 0.0;
  double lost_mass = 0.0;
  for (const std::uint32_t n : keys) {
    const double distance = scores.exponent - scores.tile_exponent[n / cache.tile_keys];
    const double floor = !dense && distance > 0.0 ? 1.0 : 0.0;
    const double mass = kWeightUnits * std::exp2(-distance) + floor;
    moved += mass * std::abs(cache.value_row(n)[feature] - softmax.mean[feature]);
    lost_mass += mass;
  }
  if (dense) {
    const auto floored = static_cast<double>(
        std::count_if(scores.tile_exponent.begin(), scores.tile_exponent.end(),
                      [&](double exponent) { return exponent < scores.exponent; }));
    moved += (std::abs(softmax.mean[feature]) + 1.0) * floored;
    lost_mass += floored;
  }
  return moved / (softmax.sum * 0x1p24 - lost_mass) + kOutputHalfUnit + kFloat64;
}

std::vector<std::uint32_t> all_keys(const KvHead& cache) {
  std::vector<std::uint32_t> keys(cache.context);
  std::iota(keys.begin(), keys.end(), 0U);
  return keys;
}

// Softmax sharpness decides how far tiles lie apart: the queries are multiplied by `sharpness`.
Head sharp_head(std::uint32_t group, std::uint32_t head_dimension, std::uint32_t context,
                float sharpness) {
  LayerTensors layer = make_gaussian(one_head(group, head_dimension, context), context, 0);
  for (float& q : layer.query) q *= sharpness;
  return Head(std::move(layer), 16);
}

DecodeResult run(const Head& head, ValueScheme scheme, std::uint32_t samples) {
  DecodeOptions options;
  options.values = scheme;
  options.samples = samples;
  DecodeWorkspace workspace;
  return decode(head.cache, head.cache.context, head.request(options, 1), options, workspace);
}

TEST(Baselines, DenseIsWithinItsBound) {
  unsigned checks = 0;
  double tightest = 0.0;  // largest error as a share of its bound, from the integer scores
  for (const std::uint32_t context : {1U, 100U, 1000U, 4000U}) {
    for (const float sharpness : {1.0F, 6.0F}) {
      const Head head = sharp_head(3, 32, context, sharpness);
      const QueryOperands operands = head.operands(ScoreScheme::kExact, 0);
      const DecodeResult result = run(head, ValueScheme::kDense, 1);
      const std::vector<std::uint32_t> keys = all_keys(head.cache);
      for (std::uint32_t g = 0; g < 3; ++g) {
        const Scores scores(head, operands, g);
        const Softmax from_scores(head.cache, scores.rounded, scores.exponent, keys);
        const Softmax from_tensors(head.cache, scores.real, scores.exponent, keys);
        const double drift = std::exp2(2.0 * (scores.encoding_error + kScoreHalfUnit)) - 1.0;
        for (std::uint32_t i = 0; i < 32; ++i) {
          const double output = result.output[g * 32 + i] / 256.0;
          const double bound = integer_bound(head.cache, scores, from_scores, keys, i, true);
          ASSERT_NEAR(output, from_scores.mean[i], bound) << context << " head " << g;
          ASSERT_NEAR(output, from_tensors.mean[i], bound + drift * from_tensors.spread[i]);
          tightest = std::max(tightest, std::abs(output - from_scores.mean[i]) / bound);
          checks += 2;
        }
      }
    }
  }
  EXPECT_EQ(checks, 4U * 2 * 3 * 32 * 2);
  EXPECT_GT(tightest, 0.2) << "the bound must not be vacuous";
}

TEST(Baselines, LogSumExpIsWithinItsBound) {
  unsigned checks = 0;
  for (const std::uint32_t context : {1U, 17U, 1000U, 4000U}) {
    for (const float sharpness : {1.0F, 6.0F}) {
      const Head head = sharp_head(3, 32, context, sharpness);
      const QueryOperands operands = head.operands(ScoreScheme::kExact, 0);
      const DecodeResult result = run(head, ValueScheme::kSystematic, 1);
      const std::vector<std::uint32_t> keys = all_keys(head.cache);
      for (std::uint32_t g = 0; g < 3; ++g) {
        const Scores scores(head, operands, g);
        double lost = 0.0;
        for (const double exponent : scores.tile_exponent) {
          lost += exponent < scores.exponent ? 1.0 : 0.0;
        }
        for (const std::uint32_t n : keys) {
          lost += kWeightUnits * std::exp2(scores.tile_exponent[n / 16] - scores.exponent);
        }
        const auto log_sum = [&](const std::vector<double>& of) {
          return std::log(Softmax(head.cache, of, scores.exponent, keys).sum) +
                 scores.exponent * kLn2;
        };
        const double sum = Softmax(head.cache, scores.rounded, scores.exponent, keys).sum;
        const double bound = -std::log1p(-lost / (sum * 0x1p24)) + kFloat64;
        ASSERT_NEAR(result.log_sum_exp[g], log_sum(scores.rounded), bound) << context;
        ASSERT_NEAR(result.log_sum_exp[g], log_sum(scores.real),
                    bound + (scores.encoding_error + kScoreHalfUnit) * kLn2);
        checks += 2;
      }
    }
  }
  EXPECT_EQ(checks, 4U * 2 * 3 * 2);
}

TEST(Baselines, TopKIsWithinItsBoundAndTakesTheLargest) {
  unsigned checks = 0;
  for (const std::uint32_t k : {1U, 7U, 64U, 500U, 999U, 4096U}) {
    const Head head = sharp_head(2, 32, 1000, 4.0F);
    const QueryOperands operands = head.operands(ScoreScheme::kExact, 0);
    const DecodeResult result = run(head, ValueScheme::kTopK, k);
    for (std::uint32_t g = 0; g < 2; ++g) {
      const Scores scores(head, operands, g);
      std::vector<std::uint32_t> order = all_keys(head.cache);
      std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return scores.rounded[a] > scores.rounded[b];
      });
      std::vector<std::uint32_t> keys(order.begin(),
                                      order.begin() + std::min<std::ptrdiff_t>(k, 1000));
      std::sort(keys.begin(), keys.end());
      std::vector<std::uint32_t> taken;
      for (const SampledRow& row : result.rows) {
        if (row.counts[g] != 0) taken.push_back(row.key);
      }
      ASSERT_EQ(taken, keys) << "k " << k;
      const Softmax from_scores(head.cache, scores.rounded, scores.exponent, keys);
      const Softmax from_tensors(head.cache, scores.real, scores.exponent, keys);
      const double drift = std::exp2(2.0 * (scores.encoding_error + kScoreHalfUnit)) - 1.0;
      for (std::uint32_t i = 0; i < 32; ++i) {
        const double output = result.output[g * 32 + i] / 256.0;
        const double bound = integer_bound(head.cache, scores, from_scores, keys, i, false);
        ASSERT_NEAR(output, from_scores.mean[i], bound) << "k " << k;
        ASSERT_NEAR(output, from_tensors.mean[i], bound + drift * from_tensors.spread[i]);
        checks += 2;
      }
    }
  }
  EXPECT_EQ(checks, 6U * 2 * 32 * 2);
}

// Equal scores everywhere: the first k keys, and their plain mean.
TEST(Baselines, TopKOfEqualScoresTakesTheFirstKeys) {
  LayerTensors layer = make_gaussian(one_head(2, 8, 100), 4, 0);
  std::fill(layer.query.begin(), layer.query.end(), 0.0F);
  const Head head(std::move(layer), 16);
  for (const std::uint32_t k : {1U, 16U, 33U, 100U, 101U, 4096U}) {
    const DecodeResult result = run(head, ValueScheme::kTopK, k);
    const std::uint32_t taken = std::min(k, 100U);
    ASSERT_EQ(result.rows.size(), taken);
    for (std::uint32_t n = 0; n < taken; ++n) {
      EXPECT_EQ(result.rows[n].key, n);
      EXPECT_EQ(result.rows[n].counts[0], 1U);
      EXPECT_EQ(result.rows[n].counts[1], 1U);
    }
    for (std::uint32_t i = 0; i < 8; ++i) {
      double sum = 0.0;
      for (std::uint32_t n = 0; n < taken; ++n) sum += head.cache.value_row(n)[i];
      EXPECT_EQ(result.output[i], std::lround(sum * 256.0 / taken)) << k;
    }
  }
}

// 65,535 tiles, each just below one unit of mass: their floors leave the mass out of the quotient
// but not the values, so the quotient would pass the most negative value and wrap.
TEST(Baselines, DenseStaysInTheRangeOfTheValues) {
  constexpr std::uint32_t kContext = 1U << 20;
  constexpr std::uint32_t kTile = 16;
  std::vector<std::int8_t> keys(kContext, -128);
  keys[0] = 127;  // 31.5 in the log2 domain
  for (std::uint32_t t = 1; t < kContext / kTile; ++t) keys[t * kTile] = 30;  // 24 below
  const std::vector<std::int8_t> values(kContext, -128);
  const float one = 1.0F;
  const KvHead cache = adopt_kv_head(keys.data(), values.data(), &one, &one, kContext, 1, kTile);
  // A key unit is worth 127 * 2^-9, within 1 % of 1/4.
  const double key_scale = 1.0;
  DecodeRequest request;
  request.query =
      prepare_query(&one, 1, 1, &key_scale, 127.0 / 512.0 * kLn2, ScoreScheme::kExact, 0);
  DecodeOptions options;
  options.values = ValueScheme::kDense;
  DecodeWorkspace workspace;
  const DecodeResult result = decode(cache, kContext, request, options, workspace);
  const auto empty =
      std::count_if(result.heads[0].prefix_mass.begin() + 1, result.heads[0].prefix_mass.end(),
                    [&](std::uint64_t mass) { return mass == result.heads[0].prefix_mass[1]; });
  ASSERT_EQ(empty, kContext / kTile) << "every other tile has no mass";
  EXPECT_EQ(result.output[0], -128 * 256);
}

}  // namespace
}  // namespace santa::attention
