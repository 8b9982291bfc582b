// Operations and elements counted by the golden decode against formulas written down here from the
// paper's tables 8 (value stage, one query and head) and 10 (one head, n_q queries), for every pair
// of a score and a value scheme.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "decode_fixture.hpp"

namespace santa::attention {
namespace {

struct Shape {
  std::uint32_t group;
  std::uint32_t head_dimension;
  std::uint32_t context;
};

// One row of the paper's tables: one query of one head.
struct Row {
  std::uint64_t adds;
  std::uint64_t multiplies;
  std::uint64_t reads;
  std::uint64_t writes;
};

// Table 10, score stage: n_q n_k d_k additions and as many multiplications, (n_q + n_k) d_k reads,
// n_q n_k writes, with n_q = 1.
Row score_row(std::uint64_t n, std::uint64_t d) {
  return {n * d, n * d, (1 + n) * d, n};
}
// Table 8 and table 10, value stage. SANTA's d_k divisions by S = 2^s are shifts here.
Row value_row(ValueScheme scheme, std::uint64_t n, std::uint64_t d, std::uint64_t budget) {
  switch (scheme) {
    case ValueScheme::kDense:
      return {n * d, n * d, n * d, d};
    case ValueScheme::kTopK: {
      const std::uint64_t k = budget < n ? budget : n;
      return {k * d, k * d, k * d, d};
    }
    default:
      return {budget * d, 0, budget * d, d};
  }
}

// Fewest signed powers of two that sum to `value`, by the recursion that defines it.
std::uint64_t fewest_terms(std::uint64_t value) {
  if (value <= 1) return value;
  if (value % 2 == 0) return fewest_terms(value / 2);
  return 1 + std::min(fewest_terms((value - 1) / 2), fewest_terms((value + 1) / 2));
}

// Additions and features of a sampled unit's scores, from the coefficients that it used.
struct SparseScores {
  std::uint64_t terms = 0;     // non-zero digits over all heads and features
  std::uint64_t features = 0;  // features that some head of the group needs
  explicit SparseScores(const EncodedQuery& query) {
    for (std::uint32_t i = 0; i < query.head_dimension; ++i) {
      std::uint64_t here = 0;
      for (std::uint32_t g = 0; g < query.group; ++g) {
        here += fewest_terms(
            static_cast<std::uint64_t>(std::abs(query.coefficients[g * query.head_dimension + i])));
      }
      terms += here;
      features += here != 0 ? 1 : 0;
    }
  }
};

TEST(OperationCounts, EqualThePapersTablesForEveryPairOfSchemes) {
  unsigned checks = 0;
  std::uint64_t skipped = 0;
  for (const Shape shape : {Shape{1, 16, 1}, Shape{1, 64, 100}, Shape{3, 46, 257},
                            Shape{7, 128, 300}, Shape{16, 8, 64}}) {
    const Head head(
        make_gaussian(one_head(shape.group, shape.head_dimension, shape.context), 17, 0), 32);
    const std::uint64_t n = shape.context;
    const std::uint64_t d = shape.head_dimension;
    const std::uint64_t heads = shape.group;
    for (const auto& score : kScoreSchemeNames) {
      for (const auto& value : kValueSchemeNames) {
        for (const std::uint32_t budget : {1U, 16U, 64U, 512U}) {
          DecodeOptions options;
          options.scores = static_cast<ScoreScheme>(score.value);
          options.bernoulli_draws = 2;
          options.values = static_cast<ValueScheme>(value.value);
          options.samples = budget;
          DecodeWorkspace workspace;
          const DecodeResult result =
              decode(head.cache, shape.context, head.request(options, 3), options, workspace);
          const OperationCounts& counts = result.operations;
          const auto where = [&] {
            return std::string(score.name) + ' ' + std::string(value.name) + " n " +
                   std::to_string(n) + " budget " + std::to_string(budget);
          };

          const Row values = value_row(options.values, n, d, budget);
          ASSERT_EQ(counts.value_adds, heads * values.adds) << where();
          ASSERT_EQ(counts.value_multiplies, heads * values.multiplies) << where();
          ASSERT_EQ(counts.value_elements_read, heads * values.reads) << where();
          ASSERT_EQ(counts.outputs_written, heads * values.writes) << where();

          const Row scores = score_row(n, d);
          ASSERT_EQ(counts.scores_written, heads * scores.writes) << where();
          if (is_sampled(options.values)) {
            const SparseScores sparse(result.query);
            ASSERT_EQ(counts.score_multiplies, 0U) << where();
            ASSERT_EQ(counts.score_adds, n * sparse.terms) << where();
            ASSERT_EQ(counts.key_elements_read, n * sparse.features) << where();
            skipped += d - sparse.features;
          } else {
            ASSERT_EQ(counts.score_multiplies, heads * scores.multiplies) << where();
            ASSERT_EQ(counts.score_adds, heads * scores.adds) << where();
            // The table's reads hold the query, d elements a head; keys are read once a group.
            ASSERT_EQ(counts.key_elements_read, scores.reads - d) << where();
          }
          checks += 8;
        }
      }
    }
  }
  EXPECT_EQ(checks, 5U * 4 * 5 * 4 * 8);
  EXPECT_GT(skipped, 1000U) << "Bernoulli scores must have skipped features";
}

// Without randomness and zeros, a sampled unit reads what the table says: every feature of K.
TEST(OperationCounts, ExactScoresReadEveryKeyElementOnce) {
  const Head head(make_gaussian(one_head(4, 64, 200), 2, 0), 16);
  DecodeOptions options;
  DecodeWorkspace workspace;
  const DecodeResult result = decode(head.cache, 200, head.request(options, 1), options, workspace);
  ASSERT_EQ(result.query.needed_features.size(), 64U);
  EXPECT_EQ(result.operations.key_elements_read, 200U * 64);
}

}  // namespace
}  // namespace santa::attention
