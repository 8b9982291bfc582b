// The scoreboard fed with events made from golden results: silent on the true ones, and with one
// bit wrong it names the place.
#include "santa/cosim/scoreboard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "santa/cosim/generator.hpp"
#include "small_unit.hpp"

namespace santa::cosim {
namespace {

using testing::HasSubstr;
using Request = std::shared_ptr<const ScoreboardRequest>;

Request prepare(CosimRequest request, std::uint32_t index, std::uint64_t address) {
  auto prepared = std::make_shared<ScoreboardRequest>();
  prepared->index = index;
  Random noise(index + 1);
  Placement placement{};
  for (std::size_t i = 0; i < kRegionKinds; ++i) placement[i] = address + i * 0x1000000;
  prepared->image = make_image(request, small_unit(), placement, index, index, noise);
  prepared->expected = expect(request);
  prepared->request = std::move(request);
  return prepared;
}

CosimRequest gaussian(std::uint32_t context, std::uint32_t d, std::uint32_t group,
                      std::uint64_t seed) {
  attention::DecodeOptions options;
  options.samples = 64;
  return gaussian_request({context, d, group}, options, small_unit().tile_keys, seed);
}

// Plays the events of a request as a unit without a fault would show them; `spoil` may change them.
using Spoil = std::function<void(const char* event, unsigned number, Monitors& monitors)>;

class Player {
 public:
  Player(Scoreboard& scoreboard, Spoil spoil)
      : scoreboard_(scoreboard), spoil_(std::move(spoil)), m_(unit_) {}

  void play(const ScoreboardRequest& r) {
    coefficients(r);
    tiles(r);
    sampling(r);
    outputs(r);
  }
  void coefficients(const ScoreboardRequest& r) {
    const std::uint32_t d = r.request.head_dimension();
    for (std::uint32_t i = 0; i < d; ++i) {
      m_.coefficient_valid = true;
      m_.coefficient_feature = static_cast<std::uint8_t>(i);
      for (std::uint32_t g = 0; g < r.request.group(); ++g) {
        m_.coefficient[g] = r.expected.result.query.coefficients[std::size_t{g} * d + i];
      }
      show("coefficient", i);
    }
  }
  void tiles(const ScoreboardRequest& r) {
    unsigned events = 0;
    for (std::uint32_t t = 0; t < r.request.tiles(); ++t) {
      for (std::uint32_t k = 0; k < unit_.tile_keys; k += unit_.weight_lanes) {
        m_.score_valid = m_.weight_valid = true;
        for (std::uint32_t g = 0; g < r.request.group(); ++g) {
          for (std::uint32_t lane = 0; lane < unit_.weight_lanes; ++lane) {
            const std::size_t at = r.expected.index(r.request, t, g) + k + lane;
            m_.score[g * unit_.weight_lanes + lane] = r.expected.accumulators[at];
            m_.weight[g * unit_.weight_lanes + lane] = r.expected.weights[at];
          }
        }
        show("score", events++);
      }
      m_.tile_valid = true;
      for (std::uint32_t g = 0; g < r.request.group(); ++g) {
        const auto& tile = r.expected.result.tiles[std::size_t{t} * r.request.group() + g];
        m_.tile_exponent[g] = tile.exponent;
        m_.tile_sum[g] = tile.sum;
      }
      show("tile", t);
    }
  }
  void sampling(const ScoreboardRequest& r) {
    for (std::uint32_t g = 0; g < r.expected.offsets.size(); ++g) {
      m_.draw_valid = true;
      m_.draw_head = static_cast<std::uint8_t>(g);
      m_.draw_exponent = r.expected.result.heads[g].exponent;
      m_.draw_mass = r.expected.result.heads[g].mass;
      m_.draw_offset = r.expected.offsets[g];
      show("draw", g);
    }
    const std::uint32_t stride = row_stride(unit_, r.request.head_dimension());
    unsigned rows = 0;
    unsigned words = 0;
    for (const attention::SampledRow& row : r.expected.result.rows) {
      m_.row_valid = true;
      m_.row_key = row.key;
      for (std::uint32_t g = 0; g < r.request.group(); ++g) m_.row_counts[g] = row.counts[g];
      show("row", rows++);
      const std::uint8_t* bytes = r.image.find(RegionKind::kValues)->bytes.data() +
                                  static_cast<std::size_t>(row.key) * stride;
      for (std::uint32_t b = 0; b < r.request.head_dimension(); b += unit_.port_bytes) {
        m_.value_valid = true;
        m_.value.assign(bytes + b, bytes + b + unit_.port_bytes);
        show("value", words++);
      }
    }
  }
  void outputs(const ScoreboardRequest& r) {
    const std::uint32_t d = r.request.head_dimension();
    unsigned events = 0;
    for (std::uint32_t g = 0; g < r.request.group(); ++g) {
      for (std::uint32_t i = 0; i < d; i += unit_.normalizer_lanes) {
        m_.output_valid = true;
        m_.output_head = static_cast<std::uint8_t>(g);
        m_.output_feature = static_cast<std::uint8_t>(i);
        for (std::uint32_t lane = 0; lane < unit_.normalizer_lanes && i + lane < d; ++lane) {
          m_.output[lane] = r.expected.result.output[std::size_t{g} * d + i + lane];
        }
        show("output", events++);
      }
    }
  }

 private:
  void show(const char* event, unsigned number) {
    if (spoil_) spoil_(event, number, m_);
    scoreboard_.observe(m_, ++cycle_);
    m_ = Monitors(unit_);
  }

  UnitParameters unit_ = small_unit();
  Scoreboard& scoreboard_;
  Spoil spoil_;
  Monitors m_;
  std::uint64_t cycle_ = 0;
};

void store(ByteMemory& memory, std::uint64_t at, std::uint64_t value, std::uint32_t bytes) {
  for (std::uint32_t i = 0; i < bytes; ++i) {
    memory.write(at + i, static_cast<std::uint8_t>(value >> 8 * i));
  }
}

// What the unit leaves in memory: outputs, and weights and statistics of tiles that do not fit.
void store_results(const ScoreboardRequest& r, ByteMemory& memory) {
  install(r.image, memory);
  const UnitParameters unit = small_unit();
  const std::uint32_t group = r.request.group();
  const std::uint64_t tiles = r.request.tiles();
  const std::uint64_t weight_bytes = tile_weight_bytes(unit, group);
  for (auto tile =
           static_cast<std::uint32_t>(tiles - spilled_tiles(unit, r.request.context, group));
       tile < tiles; ++tile) {
    const std::uint64_t scratch = r.image.address(RegionKind::kScratch);
    const std::uint64_t entry = scratch + weight_bytes * tiles + tile_statistics_bytes(unit) * tile;
    for (std::uint32_t g = 0; g < group; ++g) {
      for (std::uint32_t key = 0; key < unit.tile_keys; ++key) {
        store(memory, scratch + weight_bytes * tile + spilled_weight_offset(unit, group, key, g),
              r.expected.weights[r.expected.index(r.request, tile, g) + key], 2);
      }
      const auto& tile_of = r.expected.result.tiles[std::size_t{tile} * group + g];
      store(memory, entry + 8 * g, tile_of.sum, 4);
      store(memory, entry + 8 * g + 4, static_cast<std::uint32_t>(tile_of.exponent), 4);
    }
  }
  const std::uint32_t d = r.request.head_dimension();
  for (std::uint32_t g = 0; g < group; ++g) {
    for (std::uint32_t i = 0; i < d; ++i) {
      const auto value =
          static_cast<std::uint16_t>(r.expected.result.output[std::size_t{g} * d + i]);
      store(
          memory,
          r.image.address(RegionKind::kOutput) + std::uint64_t{g} * 2 * row_stride(unit, d) + 2 * i,
          value, 2);
    }
  }
}

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
