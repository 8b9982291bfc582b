// The closed forms against a loop that counts the operations of the algorithms one by one.
#include "santa/energy/paper_counts.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace santa::energy::paper {
namespace {

// Weighted rows: for every query, row and element one read, one multiply and one add.
Counts count_weighted_rows(std::uint64_t queries, std::uint64_t rows, std::uint64_t elements) {
  Counts counts;
  for (std::uint64_t q = 0; q < queries; ++q) {
    for (std::uint64_t row = 0; row < rows; ++row) {
      for (std::uint64_t i = 0; i < elements; ++i) {
        ++counts.reads;
        ++counts.multiplies;
        ++counts.adds;
      }
    }
    counts.writes += elements;
  }
  return counts;
}

TEST(PaperCounts, ValueStagesEqualCountedLoops) {
  EXPECT_TRUE(dense_values(3, 17, 8) == count_weighted_rows(3, 17, 8));
  EXPECT_TRUE(topk_values(3, 5, 8) == count_weighted_rows(3, 5, 8));
  Counts sampled = count_weighted_rows(3, 4, 8);
  sampled.multiplies = 3 * 8;  // no weights; one normalisation an output element
  EXPECT_TRUE(sampled_values(3, 4, 8) == sampled);
}

TEST(PaperCounts, TableEightIsTableTenWithOneQuery) {
  EXPECT_TRUE(dense_values(1, 8192, 128) == (Counts{8192 * 128, 8192 * 128, 8192 * 128, 128}));
  EXPECT_TRUE(sampled_values(1, 256, 128) == (Counts{256 * 128, 128, 256 * 128, 128}));
}

TEST(PaperCounts, ScoreStage) {
  EXPECT_TRUE(score_stage(2, 10, 4) == (Counts{80, 80, 48, 20}));
}

TEST(PaperCounts, SampledShareIsThePapers) {
  // S = 256 of 8192 keys: 3.125 % of the additions and reads.
  EXPECT_EQ(sampled_values(1, 256, 128).reads * 32, dense_values(1, 8192, 128).reads);
  EXPECT_EQ(sampled_values(1, 256, 128).adds * 32, dense_values(1, 8192, 128).adds);
}

}  // namespace
}  // namespace santa::energy::paper
