// Intervals against values from tables, and the threads that the measurements run on.
#include "santa/paper/estimate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <stdexcept>

#include "santa/paper/parallel.hpp"

namespace santa::paper {
namespace {

TEST(Estimates, MeanWithStudentsT) {
  Sample sample;
  for (const double x : {1.0, 2.0, 3.0, 4.0, 5.0}) sample.add(x);
  EXPECT_DOUBLE_EQ(sample.mean(), 3.0);
  EXPECT_DOUBLE_EQ(sample.deviation(), std::sqrt(2.5));
  EXPECT_NEAR(sample.estimate().half, 2.776445 * std::sqrt(2.5 / 5.0), 1e-6);
  EXPECT_NEAR(t_factor(1), 12.7062, 1e-4);
  EXPECT_NEAR(t_factor(5), 2.570582, 1e-6);
}

// Leaving out one number at a time gives the standard error of a mean exactly.
TEST(Estimates, JackknifeOfAMeanIsItsStandardError) {
  const double numbers[] = {0.3, -1.0, 7.5, 2.0, 2.5, 4.0};
  Sample sample;
  for (const double x : numbers) sample.add(x);
  const Estimate jackknifed = jackknife(6, [&](std::optional<std::size_t> left_out) {
    Sample rest;
    for (std::size_t i = 0; i < 6; ++i) {
      if (left_out != i) rest.add(numbers[i]);
    }
    return rest.mean();
  });
  EXPECT_NEAR(jackknifed.value, sample.estimate().value, 1e-12);
  EXPECT_NEAR(jackknifed.half, sample.estimate().half, 1e-12);
}

TEST(Estimates, SlopeOfAPowerLaw) {
  EXPECT_NEAR(log_slope({1, 2, 4, 8}, {3, 1.5, 0.75, 0.375}), -1.0, 1e-12);
}

TEST(Parallel, EveryPieceOnceOnAnyNumberOfThreads) {
  for (const unsigned jobs : {1U, 3U, 50U}) {
    std::vector<std::atomic<int>> seen(20);
    Execution execution;
    execution.jobs = jobs;
    double last = 0.0;
    execution.progress = [&](double fraction) {
      EXPECT_GE(fraction, last);
      last = fraction;
    };
    for_each(seen.size(), execution, [&](std::size_t i) { ++seen[i]; });
    for (const auto& count : seen) EXPECT_EQ(count, 1);
  }
}

TEST(Parallel, AnExceptionReachesTheCaller) {
  Execution execution;
  execution.jobs = 2;
  EXPECT_THROW(for_each(100, execution,
                        [](std::size_t i) {
                          if (i == 5) throw std::runtime_error("five");
                        }),
               std::runtime_error);
}

}  // namespace
}  // namespace santa::paper
