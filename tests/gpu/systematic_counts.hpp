// Counts of systematic draws against float64 on the host.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "problem.hpp"

namespace santa::gpu::testing {

inline bool has_device() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

#define SANTA_NEED_DEVICE() \
  if (!has_device()) GTEST_SKIP() << "no CUDA device"

// Values that are 1 in feature (token - first) and 0 elsewhere: the output times S counts the draws
// of the tokens from `first` on.
inline Problem::ValueOf indicator(int first) {
  return
      [first](int, int token, int, int feature) { return token - first == feature ? 1.0F : 0.0F; };
}

// Systematic draws: each count is within 1 of S times the probability, and a multiple of 1 / S.
inline void expect_systematic_counts(Problem& problem, int first, std::uint64_t seed) {
  const Shape& shape = problem.shape();
  problem.upload();
  const std::vector<float> out = problem.run(seed);
  const int d = shape.head_dimension;
  for (int r = 0; r < static_cast<int>(shape.lengths.size()); ++r) {
    for (int h = 0; h < shape.query_heads; ++h) {
      double log_sum_exp = 0;
      const std::vector<double> p = problem.softmax(r, h, &log_sum_exp);
      const double error = problem.estimate_rounding_ == 0
                               ? 0
                               : problem.score_error(r, h, problem.estimate_rounding_);
      if (!p.empty()) {
        EXPECT_NEAR(problem.log_sum_exp()[r * shape.query_heads + h], log_sum_exp,
                    error + 1e-4 * std::fmax(1, std::fabs(log_sum_exp)));
      }
      for (int f = 0; f < d && first + f < shape.lengths[r]; ++f) {
        const double count = out[(static_cast<std::size_t>(r) * shape.query_heads + h) * d + f] *
                             static_cast<double>(shape.samples);
        const double expected = p[first + f] * shape.samples;
        // bf16 outputs hold counts to 1 part in 256.
        ASSERT_LT(std::fabs(count - expected),
                  1.01 + count / 128 + expected * std::expm1(2 * error))
            << "request " << r << " head " << h << " token " << first + f;
      }
    }
  }
}

inline void expect_systematic_counts(const Shape& shape, int first, std::uint64_t seed) {
  Problem problem(shape, indicator(first));
  expect_systematic_counts(problem, first, seed);
}

}  // namespace santa::gpu::testing
