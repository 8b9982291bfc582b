// Words that a request moves, worked out by hand, and every part of them told from others.
#include "santa/cosim/traffic.hpp"

#include <gtest/gtest.h>

#include "santa/cosim/integer_data.hpp"
#include "small_unit.hpp"

namespace santa::cosim {
namespace {

// Two heads, 35 features, of which 2 are needed; two full tiles and three keys; a row is 48 of 64
// bytes.
ScoreboardRequest three_tiles() {
  Random random(7);
  Recipe recipe;
  recipe.context = 35;
  recipe.head_dimension = 35;
  recipe.group = 2;
  recipe.samples_log2 = 0;
  ScoreboardRequest prepared;
  prepared.request = make_request(recipe, 16, random);
  attention::QueryOperands& query = prepared.request.request.query;
  std::fill(query.magnitude.begin(), query.magnitude.end(), 0U);
  query.magnitude[4] = 3U << 16;        // head 0, feature 4
  query.magnitude[35 + 30] = 1U << 16;  // head 1, feature 30
  prepared.expected = expect(prepared.request);
  return prepared;
}

TEST(Traffic, IsWhatARequestNeeds) {
  const ScoreboardRequest request = three_tiles();
  const PortWords words = expected_traffic(request, 0x1000, small_unit());
  EXPECT_EQ(words.request, 16U + 18U);       // 256 bytes; 2 * 35 words of 4 bytes
  EXPECT_EQ(words.keys, 2U * 2U + 3U * 4U);  // 2 features of 2 tiles; 3 rows of 64 bytes
  EXPECT_EQ(words.values, 3U * request.expected.result.rows.size());
  EXPECT_GE(words.values, 3U);
  EXPECT_EQ(words.outputs, 2U * 5U);  // 70 bytes a head
  EXPECT_EQ(words.spills, 0U);
}

TEST(Traffic, BeyondTheStash) {
  UnitParameters unit = small_unit();
  unit.stash_kib = 0;
  const PortWords words = expected_traffic(three_tiles(), 0x1000, unit);
  EXPECT_EQ(words.spills, 3U * (4U + 2U));  // 16 keys, 2 heads, 2 bytes; 4 entries of 8
}

TEST(Traffic, OfARefusedRequest) {
  ScoreboardRequest request = three_tiles();
  request.runs = false;
  EXPECT_EQ(expected_traffic(request, 0x1000, small_unit()).request, 16U);
  EXPECT_EQ(expected_traffic(request, 0x1000, small_unit()).keys, 0U);
  EXPECT_EQ(expected_traffic(request, 0x1080, small_unit()).request, 0U);  // is not read at all
}

TEST(Traffic, EachPartIsCompared) {
  const PortWords words = expected_traffic(three_tiles(), 0x1000, small_unit());
  MemoryCounters from;
  from.read_words_of[1] = 5;
  MemoryCounters to = from;
  to.read_words_of[0] += words.request;
  to.read_words_of[1] += words.keys;
  to.read_words_of[2] += words.values;
  to.write_words_of[0] += words.outputs;
  EXPECT_EQ(traffic_difference(words, from, to), "");
  const auto with = [&](std::uint64_t(MemoryCounters::*part)[4], int id) {
    MemoryCounters wrong = to;
    ++(wrong.*part)[id];
    return traffic_difference(words, from, wrong);
  };
  EXPECT_EQ(with(&MemoryCounters::read_words_of, 0),
            "words of descriptors and operands read: RTL 35, expected 34");
  EXPECT_EQ(with(&MemoryCounters::read_words_of, 1), "words of keys read: RTL 17, expected 16");
  EXPECT_NE(with(&MemoryCounters::read_words_of, 2).find("values read"), std::string::npos);
  MemoryCounters wrong = to;
  ++wrong.write_words_of[0];
  EXPECT_EQ(traffic_difference(words, from, wrong),
            "words of outputs written: RTL 11, expected 10");
  wrong = to;
  ++wrong.write_words_of[1];
  EXPECT_EQ(traffic_difference(words, from, wrong), "words of scratch written: RTL 1, expected 0");
}

}  // namespace
}  // namespace santa::cosim
