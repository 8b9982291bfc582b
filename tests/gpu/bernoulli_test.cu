// Feature-major keys and Bernoulli queries against float64 on the host.
#include "philox.cuh"
#include "systematic_counts.hpp"

namespace santa::gpu::testing {
namespace {

TEST(FeatureMajor, AllTypesDimensionsAndGroups) {
  SANTA_NEED_DEVICE();
  for (const auto type :
       {ElementType::kBf16, ElementType::kFp16, ElementType::kFp8E4M3, ElementType::kInt8}) {
    for (const int dimension : {64, 96, 128, 192, 256}) {
      for (const int group : {1, 4, 5, 7, 8, 16}) {
        Shape shape;
        shape.cache_type = type;
        shape.query_type = type == ElementType::kFp16 ? ElementType::kFp16 : ElementType::kBf16;
        shape.head_dimension = dimension;
        shape.kv_heads = 2;
        shape.query_heads = 2 * group;
        shape.lengths = {777, 0, 33, 1};
        shape.block_tokens = group == 5 ? 16 : group == 7 ? 64 : 0;
        shape.feature_major = true;
        expect_systematic_counts(shape, 5, 11);
      }
    }
  }
}

TEST(FeatureMajor, SeveralRequestsABlock) {
  SANTA_NEED_DEVICE();
  Shape shape;
  shape.lengths = {4097, 0, 1, 300, 8192, 5, 64, 2049, 0, 12000};
  shape.feature_major = true;
  expect_systematic_counts(shape, 200, 3);
}

// The estimates of all queries, worked out one feature at a time. Only the generator is shared with
// the kernels.
std::vector<double> estimates(const Problem& problem, std::uint64_t seed, std::uint64_t offset) {
  const Shape& shape = problem.shape();
  const int group = shape.query_heads / shape.kv_heads;
  const int d = shape.head_dimension;
  const int draws = shape.bernoulli_draws;
  std::vector<double> out;
  const auto uniform = [&](int request, int head, int feature) {
    const Random4 r = philox(seed, offset + (static_cast<std::uint64_t>((1 << 22) + feature) << 40),
                             static_cast<std::uint64_t>(request) << 32 | head);
    return (r.words[0] >> 8) / 16777216.0;
  };
  for (int r = 0; r < static_cast<int>(shape.lengths.size()); ++r) {
    for (int h = 0; h < shape.query_heads; ++h) {
      const int first = h / group * group;
      std::vector<double> magnitude(d);
      for (int f = 0; f < d; ++f) {
        if (shape.scores == ScoreScheme::kBernoulli) {
          magnitude[f] = std::fabs(problem.query_feature(r, h, f));
        } else {
          for (int g = 0; g < group; ++g) {
            magnitude[f] += std::fabs(problem.query_feature(r, first + g, f)) / group;
          }
        }
      }
      const double norm = *std::max_element(magnitude.begin(), magnitude.end());
      for (int f = 0; f < d; ++f) {
        const double q = problem.query_feature(r, h, f);
        const int of = shape.scores == ScoreScheme::kBernoulli ? h : first;
        const double count = std::floor(magnitude[f] / norm * draws + uniform(r, of, f));
        out.push_back(magnitude[f] > 0 ? count * norm / draws * q / magnitude[f] : 0.0);
      }
    }
  }
  return out;
}

TEST(Bernoulli, CountsAreThoseOfTheEstimates) {
  SANTA_NEED_DEVICE();
  for (const auto scores : {ScoreScheme::kBernoulli, ScoreScheme::kBernoulliGroup}) {
    for (const int draws : {1, 4, 8, 64}) {
      for (const int group : {1, 4, 7, 16}) {
        for (const auto type : {ElementType::kBf16, ElementType::kFp16, ElementType::kInt8}) {
          Shape shape;
          shape.scores = scores;
          shape.bernoulli_draws = draws;
          shape.feature_major = true;
          shape.cache_type = type;
          shape.query_type = type == ElementType::kFp16 ? ElementType::kFp16 : ElementType::kBf16;
          shape.kv_heads = 2;
          shape.query_heads = 2 * group;
          shape.lengths = {400, 1, 3000};
          Problem problem(shape, indicator(0));
          // Ratios of a group are rounded up or down; counts of a head alone are whole numbers.
          if (scores == ScoreScheme::kBernoulliGroup) {
            problem.estimate_rounding_ = type == ElementType::kBf16 ? 0x1p-7 : 0x1p-10;
          }
          problem.estimate_ = estimates(problem, 77, 0);
          expect_systematic_counts(problem, 0, 77);
          if (HasFailure()) FAIL() << static_cast<int>(scores) << ' ' << draws << ' ' << group;
        }
      }
    }
  }
}

// With one key, the log-sum-exp is its score: its mean over seeds is the exact one.
TEST(Bernoulli, ScoresAreUnbiased) {
  SANTA_NEED_DEVICE();
  for (const auto scores : {ScoreScheme::kBernoulli, ScoreScheme::kBernoulliGroup}) {
    for (const auto type : {ElementType::kBf16, ElementType::kFp8E4M3}) {
      Shape shape;
      shape.scores = scores;
      shape.bernoulli_draws = 4;
      shape.feature_major = true;
      shape.cache_type = type;
      shape.lengths = {1};
      shape.samples = 1;
      Problem problem(shape);
      problem.upload();
      constexpr int kSeeds = 10000;
      std::vector<double> sum(shape.query_heads), squares(shape.query_heads);
      for (int seed = 1; seed <= kSeeds; ++seed) {
        problem.run(seed, seed % 5);
        const std::vector<float> score = problem.log_sum_exp();
        for (int h = 0; h < shape.query_heads; ++h) {
          sum[h] += score[h];
          squares[h] += static_cast<double>(score[h]) * score[h];
        }
      }
      // Two-sided, all 32 heads together at 0.1 %.
      constexpr double kQuantile = 4.3;
      for (int h = 0; h < shape.query_heads; ++h) {
        double exact = 0;
        problem.softmax(0, h, &exact);
        const double mean = sum[h] / kSeeds;
        const double variance = squares[h] / kSeeds - mean * mean;
        EXPECT_GT(variance, 1e-4);
        EXPECT_LT(std::fabs(mean - exact), kQuantile * std::sqrt(variance / kSeeds)) << h;
      }
    }
  }
}

TEST(Bernoulli, NotANumberInAQueryReachesItsHead) {
  SANTA_NEED_DEVICE();
  for (const auto scores :
       {ScoreScheme::kExact, ScoreScheme::kBernoulli, ScoreScheme::kBernoulliGroup}) {
    Shape shape;
    shape.scores = scores;
    shape.bernoulli_draws = 8;
    shape.feature_major = true;
    shape.lengths = {500};
    Problem problem(shape);
    encode(ElementType::kBf16, NAN, &problem.queries_[2 * (13 * 128 + 5)]);
    problem.upload();
    const std::vector<float> out = problem.run(1);
    for (int h = 0; h < 32; ++h) {
      // The mean of a group has one head's NaN in it.
      const bool lost = scores == ScoreScheme::kBernoulliGroup ? h / 4 == 13 / 4 : h == 13;
      ASSERT_EQ(std::isnan(out[h * 128]), lost) << static_cast<int>(scores) << ' ' << h;
    }
  }
}

TEST(Bernoulli, QueryOfZerosWeighsAllKeysAlike) {
  SANTA_NEED_DEVICE();
  for (const auto scores :
       {ScoreScheme::kExact, ScoreScheme::kBernoulli, ScoreScheme::kBernoulliGroup}) {
    Shape shape;
    shape.scores = scores;
    shape.bernoulli_draws = 8;
    shape.feature_major = true;
    shape.lengths = {300};
    Problem problem(shape, indicator(10));
    std::fill(problem.queries_.begin(), problem.queries_.end(), 0);
    expect_systematic_counts(problem, 10, 5);
  }
}

TEST(Bernoulli, SameBitsAloneAndInABatch) {
  SANTA_NEED_DEVICE();
  for (const auto scores : {ScoreScheme::kBernoulli, ScoreScheme::kBernoulliGroup}) {
    Shape shape;
    shape.scores = scores;
    shape.bernoulli_draws = 4;
    shape.feature_major = true;
    shape.lengths = {5000, 0, 1, 300, 8192, 4097};
    Problem batch(shape);
    batch.upload();
    const std::vector<float> together = batch.run(5, 9);
    ASSERT_EQ(together, batch.run(5, 9));
    batch.arguments().requests = 1;
    batch.run(5, 9);
    std::vector<float> alone = batch.output();
    alone.resize(32 * 128);
    ASSERT_EQ(alone, std::vector<float>(together.begin(), together.begin() + 32 * 128));
  }
}

}  // namespace
}  // namespace santa::gpu::testing
