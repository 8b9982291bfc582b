// The scoreboard fed with events made from golden results: silent on the true ones, and with one
// bit wrong it names the place.
#include "santa/cosim/scoreboard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "santa/cosim/generator.hpp"
#include "scoreboard_player.hpp"

namespace santa::cosim {
namespace {

using testing::HasSubstr;

TEST(Scoreboard, TrueEventsPassAndAreCounted) {
  Scoreboard scoreboard(small_unit());
  Player player(scoreboard, {});
  ByteMemory memory;
  Random random(11);
  CheckCounts sum;
  for (std::uint32_t i = 0; i < 30; ++i) {
    const bool spills = i % 10 == 9;
    const Request r = prepare(
        spills ? gaussian(1100, 2, 1 + i / 10, i) : random_request(small_unit(), 2048, random), i,
        0x10000000ULL * i);
    scoreboard.submit(r);
    player.play(*r);
    store_results(*r, memory);
    scoreboard.complete(memory, 1);
    sum += expected_checks(*r, small_unit());
    ASSERT_FALSE(scoreboard.first()) << sentence(*scoreboard.first(), {});
  }
  EXPECT_TRUE(scoreboard.checked() == sum);
  EXPECT_TRUE(scoreboard.expected() == sum);
  for (const NamedCount& count : check_count_names()) {
    EXPECT_GT(scoreboard.checked().*count.field, 50U) << count.name;
  }
}

// The next request's scores overlap the sampling of the one before.
TEST(Scoreboard, RequestsOverlap) {
  Scoreboard scoreboard(small_unit());
  Player player(scoreboard, {});
  ByteMemory memory;
  const Request first = prepare(gaussian(40, 20, 2, 1), 0, 0);
  const Request second = prepare(gaussian(17, 5, 3, 2), 1, 0x80000000);
  scoreboard.submit(first);
  scoreboard.submit(second);
  player.coefficients(*first);
  player.coefficients(*second);
  player.tiles(*first);
  player.tiles(*second);
  player.sampling(*first);
  player.outputs(*first);
  store_results(*first, memory);
  scoreboard.complete(memory, 1);
  player.sampling(*second);
  player.outputs(*second);
  store_results(*second, memory);
  scoreboard.complete(memory, 2);
  ASSERT_FALSE(scoreboard.first()) << sentence(*scoreboard.first(), {});
  EXPECT_TRUE(scoreboard.checked() == scoreboard.expected());
}

// One event with one wrong bit, and how it must be named.
struct Fault {
  const char* event;
  unsigned number;
  std::function<void(Monitors&)> change;
  const char* block;
  const char* field;
};

// The request: 40 keys in three tiles, 20 features, 2 heads.
const Fault kFaults[] = {
    {"coefficient", 7, [](Monitors& m) { m.coefficient[1] ^= 1; }, "query_encoder",
     "coefficient of feature 7, head 1"},
    {"coefficient", 3, [](Monitors& m) { m.coefficient_feature ^= 16; }, "query_encoder",
     "index of a feature"},
    {"score", 5, [](Monitors& m) { m.score[4 + 2] ^= 0x40000000; }, "ternary_gather",
     "score of key 22, head 1"},
    {"score", 9, [](Monitors& m) { m.weight[3] ^= 0x8000; }, "weight_unit",
     "weight of key 39, head 0"},
    {"tile", 1, [](Monitors& m) { m.tile_exponent[1] ^= 1; }, "weight_unit",
     "exponent of tile 1, head 1"},
    {"tile", 2, [](Monitors& m) { m.tile_sum[0] ^= 1U << 25; }, "weight_unit",
     "sum of tile 2, head 0"},
    {"draw", 1, [](Monitors& m) { m.draw_head ^= 1; }, "systematic_sampler", "head of a draw"},
    {"draw", 0, [](Monitors& m) { m.draw_exponent ^= 2; }, "systematic_sampler",
     "exponent M of head 0"},
    {"draw", 1, [](Monitors& m) { m.draw_mass ^= std::uint64_t{1} << 43; }, "systematic_sampler",
     "mass Z of head 1"},
    {"draw", 1, [](Monitors& m) { m.draw_offset ^= 1; }, "systematic_sampler",
     "offset U of head 1"},
    {"row", 2, [](Monitors& m) { m.row_key ^= 1U << 19; }, "systematic_sampler", "key of row 2"},
    {"row", 1, [](Monitors& m) { m.row_counts[1] ^= 4096; }, "systematic_sampler", "count of key "},
    {"value", 3, [](Monitors& m) { m.value[2] ^= 128; }, "value_gather", "byte 18 of the row"},
    {"output", 6, [](Monitors& m) { m.output[3] ^= 1; }, "normalizer",
     "output of head 1, feature 7"},
    {"output", 6, [](Monitors& m) { m.output_feature ^= 64; }, "normalizer", "place of an output"},
    {"output", 6, [](Monitors& m) { m.output_head ^= 1; }, "normalizer",
     "output of head 0, feature 4"},
    {"coefficient", 19, [](Monitors& m) { m.coefficient_valid = false; }, "query_encoder",
     "features"},
    {"score", 11, [](Monitors& m) { m.score_valid = false; }, "ternary_gather", "tiles of scores"},
    {"score", 11, [](Monitors& m) { m.weight_valid = false; }, "weight_unit", "tiles of weights"},
    {"tile", 2, [](Monitors& m) { m.tile_valid = false; }, "weight_unit", "tiles"},
    {"draw", 1, [](Monitors& m) { m.draw_valid = false; }, "systematic_sampler", "draws"},
    {"output", 9, [](Monitors& m) { m.output_valid = false; }, "normalizer", "outputs"},
};

TEST(Scoreboard, EachWrongBitIsNamed) {
  for (const Fault& fault : kFaults) {
    SCOPED_TRACE(std::string(fault.event) + ": " + fault.field);
    Scoreboard scoreboard(small_unit());
    unsigned spoiled = 0;
    Player player(scoreboard, [&](const char* event, unsigned number, Monitors& m) {
      if (std::string(event) != fault.event || number != fault.number) return;
      fault.change(m);
      ++spoiled;
    });
    ByteMemory memory;
    const Request r = prepare(gaussian(40, 20, 2, 1), 3, 0);
    scoreboard.submit(r);
    player.play(*r);
    store_results(*r, memory);
    scoreboard.complete(memory, 99);
    ASSERT_EQ(spoiled, 1U);
    ASSERT_TRUE(scoreboard.first());
    EXPECT_EQ(scoreboard.first()->block, fault.block);
    EXPECT_THAT(scoreboard.first()->field, HasSubstr(fault.field));
    EXPECT_EQ(scoreboard.first()->request, 3U);
    EXPECT_NE(scoreboard.first()->rtl, scoreboard.first()->golden);
  }
}

TEST(Scoreboard, AnEventTooManyIsNamed) {
  const std::pair<const char*, const char*> blocks[] = {
      {"coefficient", "query_encoder"}, {"score", "ternary_gather"},   {"tile", "weight_unit"},
      {"draw", "systematic_sampler"},   {"row", "systematic_sampler"}, {"value", "value_gather"},
      {"output", "normalizer"}};
  for (const auto& [event, block] : blocks) {
    Scoreboard scoreboard(small_unit());
    Monitors last(small_unit());
    Player player(scoreboard, [&, name = event](const char* shown, unsigned, Monitors& m) {
      if (std::string(shown) == name) last = m;
    });
    const Request r = prepare(gaussian(40, 20, 2, 1), 0, 0);
    scoreboard.submit(r);
    player.play(*r);
    ASSERT_FALSE(scoreboard.first());
    scoreboard.observe(last, 1000);
    ASSERT_TRUE(scoreboard.first()) << event;
    EXPECT_EQ(scoreboard.first()->block, block);
    EXPECT_EQ(scoreboard.first()->rtl, "one more");
  }
}

TEST(Scoreboard, MemoryIsComparedByteByByte) {
  struct Place {
    std::uint64_t offset;  // in the output region; rows take 64 bytes
    const char* field;
  };
  const Place places[] = {{64 + 39, "output in memory of head 1, feature 19"},
                          {0, "output in memory of head 0, feature 0"},
                          {40, "byte 40 of the output row of head 0"},
                          {127, "byte 63 of the output row of head 1"}};
  for (const Place& place : places) {
    Scoreboard scoreboard(small_unit());
    Player player(scoreboard, {});
    ByteMemory memory;
    const Request r = prepare(gaussian(40, 20, 2, 1), 0, 0);
    scoreboard.submit(r);
    player.play(*r);
    store_results(*r, memory);
    const std::uint64_t at = r->image.address(RegionKind::kOutput) + place.offset;
    memory.write(at, static_cast<std::uint8_t>(memory.read(at) ^ 0x10));
    scoreboard.complete(memory, 5);
    ASSERT_TRUE(scoreboard.first()) << place.field;
    EXPECT_EQ(scoreboard.first()->field, place.field);
  }
}

// 560 keys of two heads: 35 tiles of 64 bytes of weights, of which half a stash of 4 KiB holds 32.
// A word of the stash has four weights for each of four banks: keys 0 to 3 of both heads, then 4
// to 7.
TEST(Scoreboard, SpilledWeightsAndStatisticsAreCompared) {
  struct Place {
    std::uint64_t offset;  // in the scratch region
    const char* field;
  };
  constexpr std::uint64_t kEntries = 35 * 64;  // of 32 bytes, behind the weights
  const Place places[] = {
      {32 * 64, "weight in scratch memory of key 512, head 0"},
      {32 * 64 + 8 + 2 * 3 + 1, "weight in scratch memory of key 515, head 1"},
      {33 * 64 + 32 + 16 + 2, "weight in scratch memory of key 541, head 0"},
      {34 * 64 + 63, "weight in scratch memory of key 559, head 1"},
      {kEntries + 32 * 32, "exponent and sum in scratch memory of tile 32, head 0"},
      {kEntries + 34 * 32 + 15, "exponent and sum in scratch memory of tile 34, head 1"}};
  for (const Place& place : places) {
    Scoreboard scoreboard(small_unit());
    Player player(scoreboard, {});
    ByteMemory memory;
    const Request r = prepare(gaussian(560, 3, 2, 1), 0, 0);
    scoreboard.submit(r);
    player.play(*r);
    store_results(*r, memory);
    const std::uint64_t at = r->image.address(RegionKind::kScratch) + place.offset;
    memory.write(at, static_cast<std::uint8_t>(memory.read(at) ^ 0x10));
    scoreboard.complete(memory, 5);
    ASSERT_TRUE(scoreboard.first()) << place.field;
    EXPECT_EQ(scoreboard.first()->block, "spill_writer");
    EXPECT_EQ(scoreboard.first()->field, place.field);
  }
}

// The oracle sees what the golden model cannot: events that agree with a wrong golden result.
TEST(Scoreboard, TheOracleDoesNotTrustTheGoldenModel) {
  const Request truth = prepare(gaussian(40, 20, 2, 1), 0, 0);
  const std::pair<const char*, std::function<void(ScoreboardRequest&)>> lies[] = {
      {"count of key",
       [](ScoreboardRequest& r) {
         r.expected.result.rows[0].counts[0] += 1;
         r.expected.result.rows[1].counts[0] -= 1;
       }},
      {"mass Z", [](ScoreboardRequest& r) { r.expected.result.heads[0].mass += 1; }},
      {"offset U",
       [](ScoreboardRequest& r) { r.expected.offsets[0] = r.expected.result.heads[0].mass; }},
      {"output of feature 3", [](ScoreboardRequest& r) { r.expected.result.output[3] ^= 1; }},
  };
  for (const auto& [field, lie] : lies) {
    auto r = std::make_shared<ScoreboardRequest>(*truth);
    lie(*r);
    Scoreboard scoreboard(small_unit());
    Player player(scoreboard, {});
    ByteMemory memory;
    scoreboard.submit(r);
    player.play(*r);
    store_results(*r, memory);
    scoreboard.complete(memory, 5);
    ASSERT_TRUE(scoreboard.first()) << field;
    EXPECT_THAT(scoreboard.first()->field, HasSubstr(field));
    EXPECT_EQ(scoreboard.first()->model, "exact oracle");
  }
}

TEST(Scoreboard, RefusedRequestsLeaveNothingBehind) {
  auto r = std::make_shared<ScoreboardRequest>(*prepare(gaussian(40, 20, 2, 1), 4, 0));
  r->runs = false;
  ByteMemory memory;
  install(r->image, memory);
  Scoreboard scoreboard(small_unit());
  scoreboard.submit(r);
  scoreboard.complete(memory, 5);
  EXPECT_FALSE(scoreboard.first());
  EXPECT_EQ(scoreboard.checked().untouched_bytes, 128U);
  scoreboard.submit(r);
  Player player(scoreboard, {});
  player.coefficients(*r);
  ASSERT_TRUE(scoreboard.first());
  EXPECT_EQ(scoreboard.first()->block, "query_encoder");
}

TEST(Mismatch, IsOneSentenceThatRepeatsTheRun) {
  const Mismatch mismatch{
      "ternary_gather", 2,   "equal scores", "score of key 17, head 1", "123", "124",
      "golden model",   1002};
  EXPECT_EQ(sentence(mismatch, {"tiny-test", "0123456789abcdef", "42",
                                "santasim cosim --config tiny-test --seed 42"}),
            "ternary_gather: request 2 (equal scores): score of key 17, head 1: RTL 123, golden "
            "model 124, in cycle 1002; unit 0123456789abcdef of tiny-test, seed 42; repeat with: "
            "santasim cosim --config tiny-test --seed 42");
}

}  // namespace
}  // namespace santa::cosim
