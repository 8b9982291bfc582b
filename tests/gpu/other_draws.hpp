// Other seeds and offsets give other draws, the same ones the same.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "problem.hpp"

namespace santa::gpu::testing {

// Of two equal requests, by the scheme of `shape`, whose lengths are set here.
inline void expect_other_draws(Shape shape) {
  shape.lengths = {4000, 4000};
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

}  // namespace santa::gpu::testing
