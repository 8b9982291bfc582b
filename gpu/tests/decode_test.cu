// The decode kernels against float64 on the host.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "problem.hpp"

namespace santa::gpu::testing {
namespace {

bool has_device() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

#define SANTA_NEED_DEVICE() \
  if (!has_device()) GTEST_SKIP() << "no CUDA device"

// Values that are 1 in feature (token - first) and 0 elsewhere: the output times S counts the draws of
// the tokens from `first` on.
Problem::ValueOf indicator(int first, ElementType) {
  return [first](int, int token, int, int feature) { return token - first == feature ? 1.0F : 0.0F; };
}

// Systematic draws: each count is within 1 of S times the probability, and a multiple of 1 / S.
void expect_systematic_counts(Shape shape, int first, std::uint64_t seed) {
  Problem problem(shape, indicator(first, shape.cache_type));
  problem.upload();
  const std::vector<float> out = problem.run(seed);
  const int d = shape.head_dimension;
  for (int r = 0; r < static_cast<int>(shape.lengths.size()); ++r) {
    for (int h = 0; h < shape.query_heads; ++h) {
      double log_sum_exp = 0;
      const std::vector<double> p = problem.softmax(r, h, &log_sum_exp);
      if (!p.empty()) {
        EXPECT_NEAR(problem.log_sum_exp()[r * shape.query_heads + h], log_sum_exp,
                    1e-4 * std::fmax(1, std::fabs(log_sum_exp)));
      }
      for (int f = 0; f < d && first + f < shape.lengths[r]; ++f) {
        const double count = out[(static_cast<std::size_t>(r) * shape.query_heads + h) * d + f] *
                             static_cast<double>(shape.samples);
        const double expected = p[first + f] * shape.samples;
        // bf16 outputs hold counts to 1 part in 256.
        ASSERT_LT(std::fabs(count - expected), 1.01 + count / 128)
            << "request " << r << " head " << h << " token " << first + f;
      }
    }
  }
}

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
  for (const auto type : {ElementType::kBf16, ElementType::kFp16, ElementType::kFp8E4M3,
                          ElementType::kInt8}) {
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

}  // namespace
}  // namespace santa::gpu::testing
