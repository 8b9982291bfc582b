// What is recorded against what is computed: every field is looked at, the earliest difference is
// named. And which requests are recorded.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "santa/cosim/generator.hpp"
#include "santa/cosim/replay.hpp"
#include "santa/cosim/vector_request.hpp"
#include "santa/vectors/producer.hpp"
#include "small_unit.hpp"

namespace santa::cosim {
namespace {

using vectors::Difference;
using vectors::Results;

// Two tiles, two heads, and rows.
CosimRequest two_heads() {
  attention::DecodeOptions options;
  options.samples = 16;
  return gaussian_request({20, 4, 2}, options, 16, 5);
}

struct Change {
  const char* field;
  void (*apply)(Results&);
};

TEST(VectorCompare, NamesEveryField) {
  const CosimRequest request = two_heads();
  const Results golden = vectors::GoldenProducer().answer(request);
  ASSERT_GT(golden.rows.size(), 1U);
  EXPECT_FALSE(vectors::first_difference(request, golden, golden));
  const Change changes[] = {
      {"coefficient of head 1, feature 2", [](Results& r) { ++(*r.coefficients)[6]; }},
      {"score of head 1, key 3", [](Results& r) { ++(*r.scores)[23]; }},
      {"weight of head 0, key 19", [](Results& r) { ++(*r.weights)[19]; }},
      {"sum of tile 0, head 1", [](Results& r) { ++r.tiles[1].sum; }},
      {"exponent of tile 1, head 0", [](Results& r) { ++r.tiles[2].exponent; }},
      {"mass Z of head 0", [](Results& r) { ++r.heads[0].mass; }},
      {"exponent M of head 1", [](Results& r) { ++r.heads[1].exponent; }},
      {"offset U of head 1", [](Results& r) { ++r.heads[1].offset; }},
      {"key of row 1", [](Results& r) { ++r.rows[1].key; }},
      {"output of head 1, feature 0", [](Results& r) { ++r.output[4]; }},
  };
  // From the last field to the first: an earlier difference goes before a later one.
  Results recorded = golden;
  for (std::size_t i = std::size(changes); i-- > 0;) {
    changes[i].apply(recorded);
    const auto difference = vectors::first_difference(request, recorded, golden);
    ASSERT_TRUE(difference) << changes[i].field;
    EXPECT_EQ(difference->field, changes[i].field);
  }
  recorded = golden;
  recorded.rows.pop_back();
  EXPECT_EQ(vectors::first_difference(request, recorded, golden)->field, "number of rows");
  recorded = golden;
  recorded.rows[0].counts[1] += 2;
  const Difference difference = *vectors::first_difference(request, recorded, golden);
  EXPECT_EQ(difference.field, "count of key " + std::to_string(golden.rows[0].key) + ", head 1");
  EXPECT_EQ(difference.recorded, std::to_string(golden.rows[0].counts[1] + 2));
  EXPECT_EQ(difference.computed, std::to_string(golden.rows[0].counts[1]));
}

// The scoreboard sees what was recorded, and the golden model's numbers only where nothing was.
TEST(VectorCompare, ExpectationsAreThoseOfTheFile) {
  const CosimRequest request = two_heads();
  const Expectation golden = expect(request);
  vectors::Vector vector;
  vector.path = "folder/name.safetensors";
  vector.request = request;
  vector.results = vectors::results_of(request, golden);
  (*vector.results.coefficients)[6] += 1;
  (*vector.results.scores)[23] += 2;  // head 1, key 3: tile 0
  vector.results.weights.reset();
  vector.results.tiles[2].sum += 3;
  vector.results.heads[1].mass += 4;
  vector.results.heads[0].offset += 5;
  vector.results.rows[0].counts[0] += 6;
  vector.results.output[4] += 7;
  const ScenarioRequest replay = replay_request(vector, golden);
  const Expectation& expected = *replay.expected;
  EXPECT_EQ(replay.request.workload, "name.safetensors, gaussian, exact");
  EXPECT_STREQ(replay.expected_from, "recorded vector");
  EXPECT_EQ(expected.result.query.coefficients[6], golden.result.query.coefficients[6] + 1);
  EXPECT_EQ(expected.accumulators[expected.index(request, 0, 1) + 3],
            golden.accumulators[expected.index(request, 0, 1) + 3] + 2);
  EXPECT_EQ(expected.weights, golden.weights);
  EXPECT_EQ(expected.result.tiles[2].sum, golden.result.tiles[2].sum + 3);
  EXPECT_EQ(expected.result.heads[1].mass, golden.result.heads[1].mass + 4);
  EXPECT_EQ(expected.offsets[0], golden.offsets[0] + 5);
  EXPECT_EQ(expected.result.rows[0].counts[0], golden.result.rows[0].counts[0] + 6);
  EXPECT_EQ(expected.result.output[4], golden.result.output[4] + 7);
}

TEST(VectorRequest, TurnsThroughSchemesGroupsAndDimensions) {
  UnitParameters unit = small_unit();
  std::set<std::string> pairs;
  std::set<std::uint32_t> dimensions;
  std::map<std::string, int> foreign;
  for (std::uint64_t number = 1; number <= 70; ++number) {
    const CosimRequest request = vector_request(unit, number);
    EXPECT_EQ(shape_misfit(request, unit), "");
    EXPECT_EQ(request.context, request.cache->context);
    EXPECT_EQ(scheme_misfit(request).empty(), number % 7 != 0) << number;
    if (number % 7 == 0) {
      ++foreign[scheme_misfit(request)];
      continue;
    }
    pairs.insert(std::string(attention::to_string(request.options.scores)) + " " +
                 std::to_string(request.group()));
    dimensions.insert(request.head_dimension());
    // The same number is the same request.
    EXPECT_EQ(vector_request(unit, number).cache->keys, request.cache->keys);
  }
  EXPECT_EQ(pairs.size(), 12U);  // 3 schemes, groups 1 to 4
  EXPECT_EQ(dimensions.size(), 11U);
  EXPECT_EQ(foreign.size(), 5U);
}

TEST(Replay, SaysWhyAVectorDoesNotFit) {
  const UnitParameters unit = small_unit();
  attention::DecodeOptions options;
  EXPECT_EQ(shape_misfit(gaussian_request({20, 4, 2}, options, 32, 1), unit),
            "32 keys a tile, the unit has 16");
  EXPECT_EQ(shape_misfit(gaussian_request({20, 4, 8}, options, 16, 1), unit),
            "8 query heads a group, the unit has 4");
  EXPECT_EQ(shape_misfit(gaussian_request({20, 65, 1}, options, 16, 1), unit),
            "head dimension 65, the unit has 64");
  EXPECT_EQ(shape_misfit(gaussian_request({20, 64, 4}, options, 16, 1), unit), "");
  options.values = attention::ValueScheme::kDense;
  EXPECT_EQ(scheme_misfit(gaussian_request({20, 4, 2}, options, 16, 1)),
            "dense values, the unit has sys");
}

}  // namespace
}  // namespace santa::cosim
