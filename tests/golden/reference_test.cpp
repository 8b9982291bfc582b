// The float64 references themselves, against 50-digit decimals and against enumeration.
#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_dec_float.hpp>
#include <boost/random/mersenne_twister.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "santa/reference/attention.hpp"

namespace santa::reference {
namespace {

using Decimal = boost::multiprecision::cpp_dec_float_50;

std::vector<float> random_floats(boost::random::mt19937& engine, std::size_t count) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(static_cast<std::int32_t>(engine())) / 1073741824.0F);
  }
  return values;
}

TEST(Reference, AttentionEqualsFiftyDigits) {
  boost::random::mt19937 engine(1);
  for (const double scale : {0.25, 40.0, -3.0}) {  // 40: logits up to some hundreds
    const std::size_t n = 37;
    const std::size_t d = 5;
    const std::vector<float> query = random_floats(engine, d);
    const std::vector<float> keys = random_floats(engine, n * d);
    const std::vector<float> values = random_floats(engine, n * d);
    const Attention result = attend(query.data(), keys.data(), values.data(), n, d, scale);
    std::vector<Decimal> exponentials;
    Decimal total = 0;
    for (std::size_t k = 0; k < n; ++k) {
      Decimal dot = 0;
      for (std::size_t i = 0; i < d; ++i) dot += Decimal(query[i]) * Decimal(keys[k * d + i]);
      exponentials.push_back(exp(dot * Decimal(scale)));
      total += exponentials.back();
    }
    EXPECT_NEAR(result.log_sum_exp, static_cast<double>(log(total)), 1e-12);
    for (std::size_t i = 0; i < d; ++i) {
      Decimal output = 0;
      for (std::size_t k = 0; k < n; ++k) {
        output += exponentials[k] * Decimal(values[k * d + i]) / total;
      }
      EXPECT_NEAR(result.output[i], static_cast<double>(output), 1e-12);
    }
    for (std::size_t k = 0; k < n; ++k) {
      EXPECT_NEAR(result.probabilities[k], static_cast<double>(exponentials[k] / total), 1e-13);
    }
  }
}

TEST(Reference, WithoutKeysTheOutputIsZero) {
  const float query = 1.0F;
  const Attention result = attend(&query, nullptr, nullptr, 0, 1, 1.0);
  EXPECT_EQ(result.output, std::vector<double>{0.0});
  EXPECT_TRUE(result.probabilities.empty());
  EXPECT_EQ(result.log_sum_exp, -std::numeric_limits<double>::infinity());
}

// Probabilities in 64ths, so that every threshold cell of 1/64 belongs to one key: a stratum is a
// uniform choice among its cells, and variances are sums over cells.
struct Cells {
  std::vector<double> probabilities;
  std::vector<std::size_t> owner;  // [64] key of each cell
};
Cells random_cells(boost::random::mt19937& engine, std::size_t keys) {
  Cells cells;
  std::vector<unsigned> size(keys, 0);
  for (int i = 0; i < 64; ++i) ++size[engine() % keys];
  for (std::size_t k = 0; k < keys; ++k) {
    cells.probabilities.push_back(size[k] / 64.0);
    cells.owner.insert(cells.owner.end(), size[k], k);
  }
  return cells;
}

// Trace of the covariance of one draw among cells first..last-1.
double trace_of(const Cells& cells, const std::vector<float>& values, std::size_t d,
                std::size_t first, std::size_t last) {
  double trace = 0.0;
  const double count = static_cast<double>(last - first);
  for (std::size_t i = 0; i < d; ++i) {
    double mean = 0.0;
    for (std::size_t c = first; c < last; ++c) {
      mean += static_cast<double>(values[cells.owner[c] * d + i]) / count;
    }
    for (std::size_t c = first; c < last; ++c) {
      trace += std::pow(static_cast<double>(values[cells.owner[c] * d + i]) - mean, 2) / count;
    }
  }
  return trace;
}

TEST(Reference, VariancesEqualTheEnumeration) {
  boost::random::mt19937 engine(2);
  unsigned checks = 0;
  for (int n = 0; n < 50; ++n) {
    const std::size_t keys = 1 + engine() % 30;  // some with probability 0
    const std::size_t d = 3;
    const Cells cells = random_cells(engine, keys);
    const std::vector<float> values = random_floats(engine, keys * d);
    for (const std::uint64_t samples : {1ULL, 2ULL, 8ULL, 64ULL}) {
      const double iid = trace_of(cells, values, d, 0, 64) / static_cast<double>(samples);
      double strat = 0.0;
      const std::size_t width = 64 / samples;
      for (std::size_t stratum = 0; stratum < samples; ++stratum) {
        strat += trace_of(cells, values, d, stratum * width, (stratum + 1) * width) /
                 static_cast<double>(samples * samples);
      }
      EXPECT_NEAR(variance_iid(cells.probabilities, values.data(), d, samples), iid, 1e-12);
      EXPECT_NEAR(variance_stratified(cells.probabilities, values.data(), d, samples), strat,
                  1e-12);
      checks += 2;
    }
  }
  EXPECT_EQ(checks, 50U * 4 * 2);
}

TEST(Reference, RelativeErrorIsTheQuotientOfNorms) {
  RelativeError error;
  EXPECT_EQ(error.value(), 0.0);
  error.add(0.0, 0.0);
  EXPECT_EQ(error.value(), 0.0);
  error.add(3.0, 3.0);
  error.add(-4.0, -3.0);
  EXPECT_DOUBLE_EQ(error.value(), 0.2);
}

}  // namespace
}  // namespace santa::reference
