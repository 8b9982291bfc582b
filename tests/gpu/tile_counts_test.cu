// S2ANTA-prop and S2ANTA-flash: counts, budgets and means over seeds against float64 on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tile_problem.hpp"

namespace santa::gpu::testing {
namespace {

std::size_t head_of(const Shape& shape, int request, int head) {
  return static_cast<std::size_t>(request) * shape.query_heads + head;
}

int tiles_of(const Shape& shape, int request) {
  return (shape.lengths[request] + shape.tile_tokens - 1) / shape.tile_tokens;
}

// A problem whose values can be changed to count how often tokens, or tiles, are drawn.
class Counter {
 public:
  explicit Counter(Shape shape) : problem_(std::move(shape), [](int, int, int, int) { return 0; }) {
    std::fill(problem_.value_scales_.begin(), problem_.value_scales_.end(),
              static_cast<float>(problem_.shape().samples));
    problem_.upload();
  }

  // [request][query head][bin]: S times the output of values that are 1 for tokens of a bin of
  // `width` adjacent ones. One launch a head dimension's worth of bins.
  std::vector<std::vector<double>> bins(int width, std::uint64_t seed) {
    const Shape& shape = problem_.shape();
    const int dimension = shape.head_dimension;
    const int all = (shape.capacity + width - 1) / width;
    std::vector<std::vector<double>> out(shape.lengths.size() * shape.query_heads);
    for (int first = 0; first < all; first += dimension) {
      mark(width, first, 1);
      check(cudaMemcpy(const_cast<void*>(problem_.arguments().values.data), problem_.values_.data(),
                       problem_.values_.size(), cudaMemcpyHostToDevice));
      mark(width, first, 0);
      const std::vector<float> part = problem_.run(seed);
      for (std::size_t i = 0; i < out.size(); ++i) {
        const auto begin = part.begin() + static_cast<std::ptrdiff_t>(i) * dimension;
        out[i].insert(out[i].end(), begin, begin + std::min(dimension, all - first));
      }
    }
    return out;
  }

  Problem& problem() { return problem_; }

 private:
  // Gives the tokens of bin first + f `value` in feature f.
  void mark(int width, int first, float value) {
    const Shape& shape = problem_.shape();
    for (int r = 0; r < static_cast<int>(shape.lengths.size()); ++r) {
      const int end = std::min(shape.lengths[r], (first + shape.head_dimension) * width);
      for (int n = first * width; n < end; ++n) {
        for (int h = 0; h < shape.kv_heads; ++h) {
          const std::size_t at = problem_.index(r, n, h, n / width - first);
          encode(shape.cache_type, value, &problem_.values_[at * bytes_of(shape.cache_type)]);
        }
      }
    }
  }

  Problem problem_;
};

// Share of each tile in the softmax.
std::vector<double> tile_shares(const std::vector<double>& p, int tile_tokens) {
  std::vector<double> shares((p.size() + tile_tokens - 1) / tile_tokens);
  for (std::size_t n = 0; n < p.size(); ++n) shares[n / tile_tokens] += p[n];
  return shares;
}

// Budgets that add up to S are those of largest remainder if and only if no tile is more than one
// draw further above its quota than another: rounded up by 1 - f against rounded down by g is at
// most 1 exactly if f >= g. `slack` is for the rounding of scores to float.
void expect_largest_remainder(const std::vector<double>& budgets, const std::vector<double>& shares,
                              int samples, double slack) {
  double sum = 0, highest = -INFINITY, lowest = INFINITY;
  for (std::size_t t = 0; t < shares.size(); ++t) {
    const double above = budgets[t] - samples * shares[t];
    sum += budgets[t];
    highest = std::max(highest, above);
    lowest = std::min(lowest, above);
  }
  ASSERT_EQ(sum, samples);
  ASSERT_LT(highest, 1 + slack);
  ASSERT_GT(lowest, -1 - slack);
  ASSERT_LE(highest - lowest, 1 + slack);
}

double slack_of(int samples) {
  return 3e-5 * samples + 1e-6;
}

int uniform_budget(const Shape& shape, int request) {
  const int tiles = tiles_of(shape, request);
  return std::max(1,
                  static_cast<int>(std::floor(static_cast<double>(shape.samples) / tiles + 0.5)));
}

// Every token of every head: whole counts, those of a tile its budget, each within 1 of what its
// weight in the tile gives. Counts must be exact in the output's type.
void expect_counts(const Shape& shape, std::uint64_t seed) {
  Counter counter(shape);
  const std::vector<std::vector<double>> counts = counter.bins(1, seed);
  const std::vector<float> log_sum_exp = counter.problem().log_sum_exp();
  const double exact = shape.query_type == ElementType::kBf16 ? 256 : 2048;
  for (int r = 0; r < static_cast<int>(shape.lengths.size()); ++r) {
    if (shape.lengths[r] == 0) continue;
    for (int h = 0; h < shape.query_heads; ++h) {
      double expected_sum = 0;
      const std::vector<double> p = counter.problem().softmax(r, h, &expected_sum);
      ASSERT_NEAR(log_sum_exp[head_of(shape, r, h)], expected_sum,
                  1e-4 * std::fmax(1, std::fabs(expected_sum)));
      const std::vector<double> shares = tile_shares(p, shape.tile_tokens);
      std::vector<double> budgets(shares.size());
      std::vector<double> own = counts[head_of(shape, r, h)];
      own.resize(p.size());
      const bool uniform = shape.scheme == ValueScheme::kTileUniform;
      const int tile_budget = uniform ? uniform_budget(shape, r) : 0;
      for (std::size_t n = 0; n < p.size(); ++n) {
        // Of kTileUniform the output is count * share / budget.
        if (uniform) own[n] *= tile_budget / (shape.samples * shares[n / shape.tile_tokens]);
        ASSERT_LE(own[n], exact);
        const double rounding = uniform ? own[n] / exact + 1e-3 * own[n] : 0;
        ASSERT_NEAR(own[n], std::round(own[n]), rounding) << "head " << h << " token " << n;
        own[n] = std::round(own[n]);
        budgets[n / shape.tile_tokens] += own[n];
      }
      if (uniform) {
        for (const double budget : budgets) ASSERT_EQ(budget, tile_budget);
      } else {
        expect_largest_remainder(budgets, shares, shape.samples, slack_of(shape.samples));
      }
      for (std::size_t n = 0; n < p.size(); ++n) {
        const std::size_t tile = n / shape.tile_tokens;
        ASSERT_LT(std::fabs(own[n] - budgets[tile] * p[n] / shares[tile]),
                  1 + slack_of(static_cast<int>(budgets[tile])))
            << "request " << r << " head " << h << " token " << n;
      }
    }
  }
}

TEST(TileCounts, CountsOfEveryTokenAreWithinTheTilesBudgets) {
  SANTA_NEED_DEVICE();
  for (const auto scheme : kSchemes) {
    for (const int length : {1, 15, 16, 17, 127, 128, 129, 400, 1000, 2100}) {
      for (const int samples : {3, 256, 1024}) {
        Shape shape = small(scheme, length);
        shape.samples = samples;
        shape.spread = 1.5;
        expect_counts(shape, 7);
        if (HasFatalFailure()) FAIL() << "length " << length << " samples " << samples;
      }
    }
  }
}

TEST(TileCounts, TilesOfAllSizes) {
  SANTA_NEED_DEVICE();
  for (const auto scheme : kSchemes) {
    for (const int tile : {128, 144, 256, 320, 1008, 1024}) {
      Shape shape = small(scheme, 2100);
      shape.tile_tokens = tile;
      expect_counts(shape, 8);
      if (HasFatalFailure()) FAIL() << "tile " << tile;
    }
  }
}

TEST(TileCounts, AllTypesDimensionsAndGroups) {
  SANTA_NEED_DEVICE();
  for (const auto scheme : kSchemes) {
    for (const auto type :
         {ElementType::kBf16, ElementType::kFp16, ElementType::kFp8E4M3, ElementType::kInt8}) {
      for (const int dimension : {64, 96, 128, 192, 256}) {
        for (const int group : {1, 2, 4, 5, 7, 8, 16}) {
          Shape shape = small(scheme, 0);
          shape.cache_type = type;
          // 8-bit caches with queries of either type.
          shape.query_type =
              type == ElementType::kFp16 || group == 4 ? ElementType::kFp16 : ElementType::kBf16;
          if (type == ElementType::kBf16) shape.query_type = type;
          shape.head_dimension = dimension;
          shape.query_heads = 2 * group;
          shape.lengths = {333, 0, 33};
          shape.block_tokens = group == 5 ? 16 : group == 7 ? 64 : 0;
          shape.head_major = group == 2;
          shape.samples = 64;
          expect_counts(shape, 11);
          if (HasFatalFailure()) {
            FAIL() << "type " << static_cast<int>(type) << " dimension " << dimension << " group "
                   << group;
          }
        }
      }
    }
  }
}

TEST(TileCounts, BudgetsAddUpForAnyNumberOfTiles) {
  SANTA_NEED_DEVICE();
  for (const int tiles : {2, 129, 192, 384, 1030}) {
    for (const int samples : {1, 100, 1000, 40000}) {
      Shape shape = small(ValueScheme::kTileProportional, tiles * 128 - 5);
      shape.query_heads = shape.kv_heads = 1;
      shape.samples = samples;
      shape.spread = 1.5;
      Counter counter(shape);
      const std::vector<double> budgets = counter.bins(128, 3)[0];
      const std::vector<double> shares = tile_shares(counter.problem().softmax(0, 0), 128);
      // A budget that the output's type cannot hold would fail the sum.
      if (tiles > 2 || samples < 2048) {
        expect_largest_remainder(budgets, shares, samples, slack_of(samples));
      }
      if (HasFatalFailure()) FAIL() << "tiles " << tiles << " samples " << samples;
      // Budgets are no matter of the seed.
      ASSERT_EQ(budgets, counter.bins(128, 4)[0]);
    }
  }
}

TEST(TileCounts, EqualRemaindersGoToLowerTiles) {
  SANTA_NEED_DEVICE();
  Shape shape = small(ValueScheme::kTileProportional, 300 * 128);
  shape.query_heads = shape.kv_heads = 1;
  shape.samples = 1000;
  shape.spread = 0;  // all scores are 0: a quota of 3 1/3 each
  Counter counter(shape);
  const std::vector<double> budgets = counter.bins(128, 3)[0];
  for (int t = 0; t < 300; ++t) ASSERT_EQ(budgets[t], t < 100 ? 4 : 3) << t;
}

TEST(TileCounts, LargeBudgetsAddUp) {
  SANTA_NEED_DEVICE();
  for (const auto scheme : kSchemes) {
    // Whole tiles, so that the output is as large as the count and holds it exactly.
    Shape shape = small(scheme, 2048);
    shape.samples = 1 << 20;
    shape.spread = 0.1F;
    expect_counts(shape, 5);
  }
}

// Largest distance of a mean over seeds from what is expected of it, in standard errors.
struct Means {
  std::vector<double> mean, error;

  double worst(const std::vector<double>& expected) const {
    double worst = 0;
    for (std::size_t i = 0; i < mean.size(); ++i) {
      worst = std::fmax(worst, std::fabs(mean[i] - expected[i]) / error[i]);
    }
    return worst;
  }
};

Means means_of(Problem& problem, int seeds) {
  const std::size_t count = problem.run(1).size();
  std::vector<double> sum(count), squares(count);
  for (int seed = 1; seed <= seeds; ++seed) {
    const std::vector<float> out = problem.run(static_cast<std::uint64_t>(seed), seed % 7);
    for (std::size_t i = 0; i < count; ++i) {
      sum[i] += out[i];
      squares[i] += static_cast<double>(out[i]) * out[i];
    }
  }
  Means means;
  for (std::size_t i = 0; i < count; ++i) {
    const double mean = sum[i] / seeds;
    means.mean.push_back(mean);
    means.error.push_back(std::sqrt((squares[i] / seeds - mean * mean) / (seeds - 1)));
  }
  return means;
}

// Two-sided, all 512 elements together at 0.1 %: normal quantile of 1 - 0.0005 / 512.
constexpr double kQuantile = 4.9;

TEST(TileCounts, UniformBudgetsAreUnbiased) {
  SANTA_NEED_DEVICE();
  Shape shape = small(ValueScheme::kTileUniform, 12900);
  shape.samples = 200;  // 2 of each of 101 tiles
  shape.spread = 2;
  Problem problem(shape);
  problem.upload();
  std::vector<double> exact;
  for (int h = 0; h < shape.query_heads; ++h) {
    const std::vector<double> head = problem.exact_output(0, h);
    exact.insert(exact.end(), head.begin(), head.end());
  }
  const double worst = means_of(problem, 10000).worst(exact);
  EXPECT_LT(worst, kQuantile);
  EXPECT_GT(worst, 1.0);  // elements that never vary would tell nothing
}

// Given the budgets b, a tile's mean is unbiased, so the expected output is sum of b / S times the
// tiles' own means, which is off from the exact one by the tiles' shares alone: each by less than
// 1 / S, all together at most T / S in absolute value.
TEST(TileCounts, ProportionalBudgetsAreTheOnlyBias) {
  SANTA_NEED_DEVICE();
  Shape shape = small(ValueScheme::kTileProportional, 12900);
  shape.samples = 64;
  shape.spread = 2;
  Counter counter(shape);
  const std::vector<std::vector<double>> budgets = counter.bins(128, 1);
  Problem problem(shape);
  problem.queries_ = counter.problem().queries_;
  problem.keys_ = counter.problem().keys_;
  problem.upload();
  std::vector<double> expected, exact;
  for (int h = 0; h < shape.query_heads; ++h) {
    const std::vector<double> p = problem.softmax(0, h);
    const std::vector<double> shares = tile_shares(p, 128);
    double off = 0;
    for (std::size_t t = 0; t < shares.size(); ++t) {
      const double difference = std::fabs(budgets[h][t] / 64 - shares[t]);
      ASSERT_LT(difference, (1 + slack_of(64)) / 64);
      off += difference;
    }
    EXPECT_LT(off, static_cast<double>(shares.size()) / 64);
    std::vector<double> head(64);
    for (std::size_t n = 0; n < p.size(); ++n) {
      const double weight = budgets[h][n / 128] / 64 * p[n] / shares[n / 128];
      for (int f = 0; f < 64; ++f) head[f] += weight * problem.value(0, n, h / 4, f);
    }
    expected.insert(expected.end(), head.begin(), head.end());
    const std::vector<double> without = problem.exact_output(0, h);
    exact.insert(exact.end(), without.begin(), without.end());
  }
  const Means means = means_of(problem, 10000);
  EXPECT_LT(means.worst(expected), kQuantile);
  EXPECT_GT(means.worst(exact), kQuantile);  // the bias of largest remainder is seen
}

}  // namespace
}  // namespace santa::gpu::testing
