// S2ANTA-prop and S2ANTA-flash against float64 on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "problem.hpp"

namespace santa::gpu::testing {
namespace {

bool has_device() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

#define SANTA_NEED_DEVICE() \
  if (!has_device()) GTEST_SKIP() << "no CUDA device"

constexpr ValueScheme kSchemes[] = {ValueScheme::kTileProportional, ValueScheme::kTileUniform};

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

Shape small(ValueScheme scheme, int length) {
  Shape shape;
  shape.lengths = {length};
  shape.query_heads = 8;
  shape.kv_heads = 2;
  shape.head_dimension = 64;
  shape.query_type = shape.cache_type = ElementType::kFp16;
  shape.tile_tokens = 128;
  shape.scheme = scheme;
  return shape;
}

TEST(TileDecode, CountsOfEveryTokenAreWithinTheTilesBudgets) {
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

TEST(TileDecode, TilesOfAllSizes) {
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

TEST(TileDecode, AllTypesDimensionsAndGroups) {
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

TEST(TileDecode, BudgetsAddUpForAnyNumberOfTiles) {
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

TEST(TileDecode, EqualRemaindersGoToLowerTiles) {
  SANTA_NEED_DEVICE();
  Shape shape = small(ValueScheme::kTileProportional, 300 * 128);
  shape.query_heads = shape.kv_heads = 1;
  shape.samples = 1000;
  shape.spread = 0;  // all scores are 0: a quota of 3 1/3 each
  Counter counter(shape);
  const std::vector<double> budgets = counter.bins(128, 3)[0];
  for (int t = 0; t < 300; ++t) ASSERT_EQ(budgets[t], t < 100 ? 4 : 3) << t;
}

TEST(TileDecode, LargeBudgetsAddUp) {
  SANTA_NEED_DEVICE();
  for (const auto scheme : kSchemes) {
    // Whole tiles, so that the output is as large as the count and holds it exactly.
    Shape shape = small(scheme, 2048);
    shape.samples = 1 << 20;
    shape.spread = 0.1F;
    expect_counts(shape, 5);
  }
}

TEST(TileDecode, OneTokenWithAllTheMass) {
  SANTA_NEED_DEVICE();
  for (const auto scheme : kSchemes) {
    for (const int samples : {1, 256}) {
      Shape shape = small(scheme, 1500);
      shape.samples = samples;
      Problem problem(shape);
      for (std::size_t i = 0; i < problem.queries_.size() / 2; ++i) {
        encode(ElementType::kFp16, 8, &problem.queries_[2 * i]);
      }
      for (int h = 0; h < 2; ++h) {
        for (int f = 0; f < 64; ++f) {
          encode(ElementType::kFp16, 20, &problem.keys_[2 * problem.index(0, 700, h, f)]);
        }
      }
      problem.upload();
      const std::vector<float> out = problem.run(1);
      for (int h = 0; h < 8; ++h) {
        for (int f = 0; f < 64; ++f) {
          ASSERT_EQ(out[h * 64 + f], static_cast<float>(problem.value(0, 700, h / 4, f)));
        }
      }
    }
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

TEST(TileDecode, UniformBudgetsAreUnbiased) {
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
TEST(TileDecode, ProportionalBudgetsAreTheOnlyBias) {
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

TEST(TileDecode, SameBitsAloneAndInABatch) {
  SANTA_NEED_DEVICE();
  for (const auto scheme : kSchemes) {
    for (const int samples : {256, 3000}) {
      Shape shape;
      shape.lengths = {5000, 0, 1, 300, 8192, 4097};
      shape.scheme = scheme;
      shape.samples = samples;
      shape.spread = 3;
      Problem batch(shape);
      batch.upload();
      const std::vector<float> together = batch.run(5, 9);
      ASSERT_EQ(together, batch.run(5, 9));
      DecodeArguments& a = batch.arguments();
      a.requests = 1;
      for (const int maximum : {8192, 5000}) {
        a.maximum_length = maximum;
        std::vector<float> alone = batch.run(5, 9);
        alone.resize(32 * 128);
        ASSERT_EQ(alone, std::vector<float>(together.begin(), together.begin() + 32 * 128))
            << static_cast<int>(scheme) << ' ' << samples << ' ' << maximum;
      }
    }
  }
}

TEST(TileDecode, PagedIsContiguousBitForBit) {
  SANTA_NEED_DEVICE();
  for (const auto scheme : kSchemes) {
    Shape shape;
    shape.lengths = {3000, 77, 2049};
    shape.scheme = scheme;
    shape.tile_tokens = 400;
    Problem contiguous(shape);
    contiguous.upload();
    for (const int block : {16, 64, 256}) {
      for (const bool head_major : {false, true}) {
        Shape paged_shape = shape;
        paged_shape.block_tokens = block;
        paged_shape.head_major = head_major;
        Problem paged(paged_shape);
        for (int r = 0; r < 3; ++r) {
          for (int n = 0; n < shape.lengths[r]; ++n) {
            for (int h = 0; h < shape.kv_heads; ++h) {
              std::memcpy(&paged.keys_[2 * paged.index(r, n, h, 0)],
                          &contiguous.keys_[2 * contiguous.index(r, n, h, 0)], 256);
              std::memcpy(&paged.values_[2 * paged.index(r, n, h, 0)],
                          &contiguous.values_[2 * contiguous.index(r, n, h, 0)], 256);
            }
          }
        }
        paged.queries_ = contiguous.queries_;
        paged.upload();
        ASSERT_EQ(paged.run(3), contiguous.run(3)) << block;
      }
    }
  }
}

TEST(TileDecode, OneWorkspaceServesAllSchemesInTurn) {
  SANTA_NEED_DEVICE();
  Shape shape = small(ValueScheme::kTileProportional, 3000);
  Problem problem(shape);
  problem.upload();
  DecodeArguments& a = problem.arguments();
  constexpr ValueScheme kAll[] = {ValueScheme::kSystematic, ValueScheme::kTileProportional,
                                  ValueScheme::kTileUniform};
  std::size_t bytes = 0;
  for (const auto scheme : kAll) {
    a.scheme = scheme;
    bytes = std::max(bytes, decode_workspace_bytes(a));
  }
  const Device<std::uint8_t> workspace(bytes);
  a.workspace = workspace.get();
  a.workspace_bytes = bytes;
  std::vector<std::vector<float>> first;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 3; ++i) {
      a.scheme = kAll[i];
      const std::vector<float> out = problem.run(6);
      if (round == 0) first.push_back(out);
      ASSERT_EQ(out, first[i]) << round << ' ' << i;
    }
  }
}

TEST(TileDecode, EmptyRequestsGiveZeros) {
  SANTA_NEED_DEVICE();
  for (const auto scheme : kSchemes) {
    Shape shape;
    shape.lengths = {0, 100, 0, 0};
    shape.scheme = scheme;
    Problem problem(shape);
    problem.upload();
    const std::vector<float> out = problem.run(1);
    for (const int r : {0, 2, 3}) {
      for (int i = 0; i < 32 * 128; ++i) ASSERT_EQ(out[r * 32 * 128 + i], 0);
      for (int h = 0; h < 32; ++h) ASSERT_EQ(problem.log_sum_exp()[r * 32 + h], -INFINITY);
    }
    for (int i = 0; i < 32 * 128; ++i) ASSERT_TRUE(std::isfinite(out[32 * 128 + i]));
  }
}

TEST(TileDecode, ScoresFarBelowZeroCountAsAny) {
  SANTA_NEED_DEVICE();
  for (const auto scheme : kSchemes) {
    Shape shape;
    shape.lengths = {600};
    shape.scheme = scheme;
    Problem problem(shape, [](int, int, int, int) { return 1.0F; });
    for (std::size_t i = 0; i < problem.queries_.size() / 2; ++i) {
      encode(ElementType::kBf16, -3e4F, &problem.queries_[2 * i]);
    }
    for (int n = 0; n < 600; ++n) {
      for (int h = 0; h < 8; ++h) {
        for (int f = 0; f < 128; ++f) {
          encode(ElementType::kBf16, 2, &problem.keys_[2 * problem.index(0, n, h, f)]);
        }
      }
    }
    problem.upload();
    for (const float x : problem.run(1)) ASSERT_EQ(x, 1);
    EXPECT_LT(problem.log_sum_exp()[0], -5e4F);
  }
}

TEST(TileDecode, NotANumberReachesItsGroupOnly) {
  SANTA_NEED_DEVICE();
  for (const auto scheme : kSchemes) {
    for (const float bad : {NAN, INFINITY}) {
      Shape shape;
      shape.lengths = {3000};
      shape.scheme = scheme;
      Problem problem(shape);
      encode(ElementType::kBf16, bad, &problem.keys_[2 * problem.index(0, 1234, 5, 17)]);
      for (int h = 0; h < 32; ++h) {  // an infinite key makes scores of +infinity
        encode(ElementType::kBf16, 1, &problem.queries_[2 * (h * 128 + 17)]);
      }
      problem.upload();
      const std::vector<float> out = problem.run(1);
      for (int h = 0; h < 32; ++h) {
        ASSERT_EQ(std::isnan(problem.log_sum_exp()[h]), h / 4 == 5);
        for (int f = 0; f < 128; ++f) {
          ASSERT_EQ(std::isnan(out[h * 128 + f]), h / 4 == 5) << h << ' ' << f;
        }
      }
    }
  }
}

TEST(TileDecode, SeedsOffsetsAndTilesGiveOtherDraws) {
  SANTA_NEED_DEVICE();
  for (const auto scheme : kSchemes) {
    Shape shape;
    shape.lengths = {4000, 4000};
    shape.scheme = scheme;
    Problem problem(shape);
    std::copy(problem.queries_.begin(), problem.queries_.begin() + problem.queries_.size() / 2,
              problem.queries_.begin() + problem.queries_.size() / 2);
    const std::size_t half = problem.keys_.size() / 2;
    std::copy(problem.keys_.begin(), problem.keys_.begin() + half, problem.keys_.begin() + half);
    std::copy(problem.values_.begin(), problem.values_.begin() + half,
              problem.values_.begin() + half);
    problem.upload();
    const std::vector<float> first = problem.run(1);
    EXPECT_NE(first, problem.run(2));
    EXPECT_NE(first, problem.run(1, 1));
    EXPECT_EQ(first, problem.run(1, 0));
    // Equal requests draw differently with one seed, and equally with one equal seed each.
    const auto request = [](const std::vector<float>& out, int r) {
      return std::vector<float>(out.begin() + r * 4096, out.begin() + (r + 1) * 4096);
    };
    EXPECT_NE(request(first, 0), request(first, 1));
    const Device<std::uint64_t> seeds(std::vector<std::uint64_t>{8, 8});
    problem.arguments().seed = seeds.get();
    problem.arguments().seed_stride = 1;
    problem.launch();
    EXPECT_EQ(request(problem.output(), 0), request(problem.output(), 1));
  }
}

TEST(TileDecode, GraphIsReplayedAtAnotherLength) {
  SANTA_NEED_DEVICE();
  for (const auto scheme : kSchemes) {
    Shape shape;
    shape.lengths = {4000};
    shape.scheme = scheme;
    Problem problem(shape);
    problem.upload();
    cudaStream_t stream;
    check(cudaStreamCreate(&stream));
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    ASSERT_EQ(decode(problem.arguments(), stream), Status::kOk) << last_error();
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiate(&executable, graph, 0));
    for (const int length : {4000, 17, 3999, 0}) {
      auto* lengths = const_cast<std::int32_t*>(problem.arguments().lengths);
      check(cudaMemcpy(lengths, &length, 4, cudaMemcpyHostToDevice));
      problem.launch();
      const std::vector<float> direct = problem.output();
      for (int again = 0; again < 3; ++again) check(cudaGraphLaunch(executable, stream));
      check(cudaStreamSynchronize(stream));
      EXPECT_EQ(problem.output(), direct) << length;
    }
    check(cudaGraphExecDestroy(executable));
    check(cudaGraphDestroy(graph));
    check(cudaStreamDestroy(stream));
  }
}

TEST(TileDecode, WrongTilesAreRefusedByName) {
  SANTA_NEED_DEVICE();
  for (const auto scheme : kSchemes) {
    Problem problem(small(scheme, 10));
    problem.upload();
    for (const int tile : {0, -128, 112, 1040, 136}) {
      DecodeArguments changed = problem.arguments();
      changed.tile_tokens = tile;
      EXPECT_EQ(decode(changed, nullptr), Status::kInvalidArgument);
      EXPECT_EQ(std::string(last_error()), "tile_tokens is " + std::to_string(tile) +
                                               ", allowed are multiples of 16, 128 to 1024");
      EXPECT_EQ(decode_workspace_bytes(changed), 0U);
    }
    DecodeArguments changed = problem.arguments();
    changed.head_dimension = 72;
    EXPECT_EQ(decode(changed, nullptr), Status::kUnsupported);
    EXPECT_NE(std::string(last_error()).find("head_dimension is 72"), std::string::npos);
    changed = problem.arguments();
    changed.key_layout = KeyLayout::kFeatureMajor;
    EXPECT_EQ(decode(changed, nullptr), Status::kUnsupported);
    EXPECT_NE(std::string(last_error()).find("key_layout is kFeatureMajor"), std::string::npos);
    changed = problem.arguments();
    --changed.workspace_bytes;
    EXPECT_EQ(decode(changed, nullptr), Status::kWorkspaceTooSmall);
    changed = problem.arguments();
    changed.keys.data = nullptr;
    EXPECT_EQ(decode(changed, nullptr), Status::kInvalidArgument);
  }
}

}  // namespace
}  // namespace santa::gpu::testing
