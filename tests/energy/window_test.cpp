// Windows: where events land, merging in pairs, and covering a run.
#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "santa/energy/window_series.hpp"

namespace santa::energy {
namespace {

double sum(const WindowSeries& series) {
  double total = 0.0;
  for (const WindowSeries::Parts& window : series.windows()) {
    for (const double part : window) total += part;
  }
  return total;
}

TEST(Windows, EventsLandAtTheirTime) {
  WindowSeries series(10.0, 8);
  series.at(0.0)[0] += 1.0;
  series.at(9.99)[0] += 2.0;
  series.at(10.0)[0] += 4.0;
  ASSERT_EQ(series.windows().size(), 2U);
  EXPECT_EQ(series.windows()[0][0], 3.0);
  EXPECT_EQ(series.windows()[1][0], 4.0);
}

TEST(Windows, PairsMergeWhenThereWouldBeTooMany) {
  WindowSeries series(10.0, 4);
  for (int i = 0; i < 4; ++i) series.at(10.0 * i)[0] += 1 << i;
  EXPECT_EQ(series.width_ns(), 10.0);
  series.at(40.0)[0] += 16.0;
  EXPECT_EQ(series.width_ns(), 20.0);
  ASSERT_EQ(series.windows().size(), 3U);
  EXPECT_EQ(series.windows()[0][0], 3.0);
  EXPECT_EQ(series.windows()[1][0], 12.0);
  EXPECT_EQ(series.windows()[2][0], 16.0);
}

TEST(Windows, OddNumbersOfWindowsMergeToo) {
  WindowSeries series(1.0, 5);
  for (int i = 0; i < 5; ++i) series.at(i)[1] += 1.0;
  series.at(1000.0)[1] += 1.0;
  EXPECT_EQ(sum(series), 6.0);
  EXPECT_EQ(series.width_ns(), 256.0);
  EXPECT_LE(series.windows().size(), 5U);
}

TEST(Windows, MemoryStaysBoundedAndNothingIsLost) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> time(0.0, 1e9);
  WindowSeries series(1.0, 1024);
  for (int i = 0; i < 100000; ++i) series.at(time(random))[2] += 1.0;
  EXPECT_LE(series.windows().size(), 1024U);
  EXPECT_EQ(sum(series), 100000.0);
}

TEST(Windows, CoveringFillsToTheEndWithinTheBound) {
  WindowSeries series(10.0, 4);
  series.at(5.0)[0] += 1.0;
  EXPECT_EQ(series.covering(25.0).windows().size(), 3U);
  const WindowSeries longer = series.covering(1000.0);
  EXPECT_LE(longer.windows().size(), 4U);
  EXPECT_GE(longer.width_ns() * 4.0, 1000.0);
  EXPECT_EQ(sum(longer), 1.0);
}

TEST(Windows, AnEventAtTheEndStaysInsideTheRun) {
  WindowSeries series(10.0, 4);
  series.at(20.0)[0] += 1.0;
  const WindowSeries covering = series.covering(20.0);
  ASSERT_EQ(covering.windows().size(), 2U);
  EXPECT_EQ(covering.windows()[1][0], 1.0);
}

TEST(Windows, MeaninglessSettingsAreRefused) {
  EXPECT_THROW(WindowSeries(0.0, 4), std::logic_error);
  EXPECT_THROW(WindowSeries(-1.0, 4), std::logic_error);
  EXPECT_THROW(WindowSeries(1.0, 1), std::logic_error);
}

}  // namespace
}  // namespace santa::energy
