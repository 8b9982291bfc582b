// The decode kernels against float64 on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "other_draws.hpp"
#include "paged.hpp"
#include "systematic_counts.hpp"

namespace santa::gpu::testing {
namespace {

void expect_counts_add_up(Shape shape, std::uint64_t seed) {
  Problem problem(shape, [](int, int, int, int) { return 1.0F; });
  problem.upload();
  for (const float x : problem.run(seed)) ASSERT_EQ(x, 1.0F);
}

TEST(Decode, CountsAreSystematic) {
  SANTA_NEED_DEVICE();
  for (const int length : {1, 2, 15, 16, 17, 100, 127, 128, 129, 1000}) {
    Shape shape;
    shape.lengths = {length};
    shape.spread = 2;
    expect_systematic_counts(shape, std::max(0, length - 128), 7);
  }
}

TEST(Decode, CountsAddUpToTheBudget) {
  SANTA_NEED_DEVICE();
  for (const int length : {1, 3, 500, 4097, 33000}) {
    for (const int samples : {1, 7, 256, 1024, 40000}) {
      Shape shape;
      shape.lengths = {length};
      shape.query_heads = 8;
      shape.kv_heads = 2;
      shape.samples = samples;
      shape.spread = length == 500 ? 8.0F : 1.0F;
      for (const auto scheme :
           {ValueScheme::kSystematic, ValueScheme::kStratified, ValueScheme::kIndependent}) {
        shape.scheme = scheme;
        expect_counts_add_up(shape, 3);
      }
    }
  }
}

TEST(Decode, AllTypesDimensionsAndGroups) {
  SANTA_NEED_DEVICE();
  for (const auto type :
       {ElementType::kBf16, ElementType::kFp16, ElementType::kFp8E4M3, ElementType::kInt8}) {
    for (const int dimension : {64, 96, 128, 192, 256}) {
      for (const int group : {1, 2, 4, 5, 7, 8, 16}) {
        Shape shape;
        shape.cache_type = type;
        shape.query_type = type == ElementType::kFp16 ? ElementType::kFp16 : ElementType::kBf16;
        shape.head_dimension = dimension;
        shape.kv_heads = 2;
        shape.query_heads = 2 * group;
        shape.lengths = {777, 0, 33};
        shape.block_tokens = group == 5 ? 16 : group == 7 ? 64 : 0;
        shape.head_major = group == 2;
        expect_systematic_counts(shape, 5, 11);
      }
    }
  }
}

// Mean over seeds against the exact output: every element within its confidence interval.
void expect_unbiased(Shape shape, int seeds) {
  shape.query_type = shape.cache_type = ElementType::kFp16;
  Problem problem(shape);
  problem.upload();
  const std::size_t count =
      shape.lengths.size() * static_cast<std::size_t>(shape.query_heads) * shape.head_dimension;
  std::vector<double> sum(count), squares(count);
  for (int seed = 1; seed <= seeds; ++seed) {
    const std::vector<float> out = problem.run(static_cast<std::uint64_t>(seed), seed % 7);
    for (std::size_t i = 0; i < count; ++i) {
      sum[i] += out[i];
      squares[i] += static_cast<double>(out[i]) * out[i];
    }
  }
  // Two-sided, all elements together at 0.1 %: normal quantile of 1 - 0.0005 / count, count to
  // 4096.
  constexpr double kQuantile = 5.3;
  double worst = 0;
  for (int h = 0; h < shape.query_heads; ++h) {
    const std::vector<double> exact = problem.exact_output(0, h);
    for (int f = 0; f < shape.head_dimension; ++f) {
      const std::size_t i = static_cast<std::size_t>(h) * shape.head_dimension + f;
      const double mean = sum[i] / seeds;
      const double variance = (squares[i] / seeds - mean * mean) / (seeds - 1);
      worst = std::fmax(worst, std::fabs(mean - exact[f]) / std::sqrt(variance));
    }
  }
  EXPECT_LT(worst, kQuantile);
  EXPECT_GT(worst, 1.0);  // elements that never vary would tell nothing
}

TEST(Decode, Unbiased) {
  SANTA_NEED_DEVICE();
  for (const auto scheme :
       {ValueScheme::kSystematic, ValueScheme::kStratified, ValueScheme::kIndependent}) {
    Shape shape;
    shape.scheme = scheme;
    shape.query_heads = 8;
    shape.kv_heads = 2;
    shape.samples = 64;
    shape.lengths = {scheme == ValueScheme::kSystematic ? 12900 : 777};
    shape.spread = 2;
    expect_unbiased(shape, 10000);
  }
}

TEST(Decode, IndependentDrawsVaryAsTheyShould) {
  SANTA_NEED_DEVICE();
  // Counts of one token over seeds: variance S p (1 - p) of a binomial, within 5 standard errors.
  Shape shape;
  shape.lengths = {128};
  shape.query_heads = shape.kv_heads = 1;
  shape.samples = 64;
  shape.scheme = ValueScheme::kIndependent;
  shape.query_type = shape.cache_type = ElementType::kFp16;
  Problem problem(shape, indicator(0));
  problem.upload();
  const std::vector<double> p = problem.softmax(0, 0);
  constexpr int kSeeds = 4000;
  std::vector<double> squares(128);
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const std::vector<float> out = problem.run(seed);
    for (int n = 0; n < 128; ++n) squares[n] += std::pow(out[n] * 64.0 - 64 * p[n], 2);
  }
  double ratio = 0;
  for (int n = 0; n < 128; ++n) ratio += squares[n] / kSeeds / (64 * p[n] * (1 - p[n])) / 128;
  EXPECT_NEAR(ratio, 1, 5 * std::sqrt(2.0 / kSeeds / 128 * 4));
}

TEST(Decode, SameBitsAloneAndInABatch) {
  SANTA_NEED_DEVICE();
  for (const auto scheme :
       {ValueScheme::kSystematic, ValueScheme::kStratified, ValueScheme::kIndependent}) {
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
      batch.run(5, 9);
      std::vector<float> alone = batch.output();
      alone.resize(32 * 128);
      ASSERT_EQ(alone, std::vector<float>(together.begin(), together.begin() + 32 * 128))
          << static_cast<int>(scheme) << ' ' << samples;
    }
  }
}

// Blocks take several shares of a pair when there are many requests; one workspace serves all.
TEST(Decode, SameBitsAloneAndAmongMany) {
  SANTA_NEED_DEVICE();
  for (const int samples : {100, 2000}) {
    Shape shape;
    shape.samples = samples;
    shape.spread = 3;
    std::mt19937 random(4);
    for (int r = 0; r < 40; ++r) {
      shape.lengths.push_back(r % 9 == 4 ? 0 : static_cast<int>(random() % 2500));
    }
    shape.lengths[0] = 2500;
    Problem batch(shape);
    batch.upload();
    DecodeArguments& a = batch.arguments();
    const std::vector<float> together = batch.run(5, 9);
    for (const int requests : {1, 3, 8, 17, 41, 1, 33}) {
      a.requests = requests;
      batch.run(5, 9);
      std::vector<float> some = batch.output();
      some.resize(static_cast<std::size_t>(requests) * 32 * 128);
      ASSERT_EQ(some, std::vector<float>(together.begin(),
                                         together.begin() + static_cast<long>(some.size())))
          << requests;
    }
    for (const int r : {0, 20, 40}) {
      for (int h = 0; h < 32; ++h) {
        if (shape.lengths[r] == 0) continue;
        double expected = 0;
        batch.softmax(r, h, &expected);
        EXPECT_NEAR(batch.log_sum_exp()[r * 32 + h], expected,
                    1e-4 * std::fmax(1, std::fabs(expected)));
      }
    }
  }
}

TEST(Decode, CountsOfManyRequestsAreSystematic) {
  SANTA_NEED_DEVICE();
  Shape shape;
  shape.lengths.assign(33, 700);
  shape.lengths[7] = 2000;
  shape.spread = 2;
  expect_systematic_counts(shape, 100, 7);
}

TEST(Decode, PagedIsContiguousBitForBit) {
  SANTA_NEED_DEVICE();
  Shape shape;
  shape.lengths = {5000, 77, 2049};
  expect_paged_is_contiguous(shape);
}

// The second request lies beyond 2^31 elements of each cache.
TEST(Decode, OffsetsBeyondTwoToThe31) {
  SANTA_NEED_DEVICE();
  for (const int block : {0, 64}) {
    for (const bool feature_major : {false, true}) {
      Shape shape;
      shape.lengths = {300, 320};
      shape.block_tokens = block;
      shape.feature_major = feature_major;
      Problem problem(shape);
      problem.upload();
      const std::vector<float> near = problem.run(3);
      DecodeArguments& a = problem.arguments();
      constexpr std::int64_t kFar = (std::int64_t{1} << 31) + 4096;  // elements
      const std::size_t key_bytes = problem.keys_.size(), value_bytes = problem.values_.size();
      const Device<std::uint8_t> far(2 * kFar + 2 * (key_bytes + value_bytes));
      std::uint8_t* second = far.get() + 2 * kFar;
      const auto copy = [](std::uint8_t* to, const void* from, std::size_t bytes) {
        check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice));
      };
      if (block == 0) {
        copy(far.get(), a.keys.data, key_bytes / 2);
        copy(far.get() + key_bytes, a.values.data, value_bytes / 2);
        copy(second, static_cast<const char*>(a.keys.data) + key_bytes / 2, key_bytes / 2);
        copy(second + key_bytes, static_cast<const char*>(a.values.data) + value_bytes / 2,
             value_bytes / 2);
        a.keys.block_stride = a.values.block_stride = kFar;
        a.keys.data = far.get();
        a.values.data = far.get() + key_bytes;
      } else {
        // All blocks lie behind 2^31 elements: their numbers grow by as many strides.
        const std::int64_t blocks = kFar / a.values.block_stride + 1;
        copy(far.get() + 2 * blocks * a.keys.block_stride, a.keys.data, key_bytes);
        copy(far.get() + 2 * blocks * a.values.block_stride + key_bytes, a.values.data,
             value_bytes);
        std::vector<std::int32_t> table = problem.table_;
        for (std::int32_t& entry : table) entry += static_cast<std::int32_t>(blocks);
        check(cudaMemcpy(const_cast<std::int32_t*>(a.block_table), table.data(), 4 * table.size(),
                         cudaMemcpyHostToDevice));
        a.keys.data = far.get();
        a.values.data = far.get() + key_bytes;
      }
      EXPECT_EQ(problem.run(3), near) << block << ' ' << feature_major;
    }
  }
}

TEST(Decode, EmptyRequestsGiveZeros) {
  SANTA_NEED_DEVICE();
  Shape shape;
  shape.lengths = {0, 100, 0, 0};
  Problem problem(shape);
  problem.upload();
  const std::vector<float> out = problem.run(1);
  for (const int r : {0, 2, 3}) {
    for (int i = 0; i < 32 * 128; ++i) ASSERT_EQ(out[r * 32 * 128 + i], 0);
    for (int h = 0; h < 32; ++h) ASSERT_EQ(problem.log_sum_exp()[r * 32 + h], -INFINITY);
  }
  for (int i = 0; i < 32 * 128; ++i) ASSERT_TRUE(std::isfinite(out[32 * 128 + i]));
}

TEST(Decode, ScoresFarBelowZeroCountAsAny) {
  SANTA_NEED_DEVICE();
  Shape shape;
  shape.lengths = {600};
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

TEST(Decode, NotANumberReachesItsGroupOnly) {
  SANTA_NEED_DEVICE();
  Shape shape;
  shape.lengths = {3000};
  Problem problem(shape);
  encode(ElementType::kBf16, NAN, &problem.keys_[2 * problem.index(0, 1234, 5, 17)]);
  problem.upload();
  const std::vector<float> out = problem.run(1);
  for (int h = 0; h < 32; ++h) {
    for (int f = 0; f < 128; ++f) {
      ASSERT_EQ(std::isnan(out[h * 128 + f]), h / 4 == 5) << h << ' ' << f;
    }
  }
}

TEST(Decode, SeedsAndOffsetsGiveOtherDraws) {
  SANTA_NEED_DEVICE();
  expect_other_draws({});
}

TEST(Decode, GraphIsReplayedAtAnotherLength) {
  SANTA_NEED_DEVICE();
  Shape shape;
  shape.lengths = {4000};
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
  for (const int length : {4000, 17, 3999}) {
    auto* lengths = const_cast<std::int32_t*>(problem.arguments().lengths);
    check(cudaMemcpy(lengths, &length, 4, cudaMemcpyHostToDevice));
    problem.launch();
    const std::vector<float> direct = problem.output();
    check(cudaGraphLaunch(executable, stream));
    check(cudaStreamSynchronize(stream));
    EXPECT_EQ(problem.output(), direct) << length;
  }
  check(cudaGraphExecDestroy(executable));
  check(cudaGraphDestroy(graph));
  check(cudaStreamDestroy(stream));
}

}  // namespace
}  // namespace santa::gpu::testing
