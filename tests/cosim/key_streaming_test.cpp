// Keys arrive word after word: where neither the memory nor the blocks behind take longer than a
// cycle a word, the unit's own counters show at least 95 % of its port in use. A unit with few
// weight lanes cannot: its two passes over a tile take longer than the tile's words.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "santa/config/hardware.hpp"
#include "santa/cosim/generator.hpp"
#include "santa/cosim/runner.hpp"
#include "santa/cosim/session.hpp"

namespace santa::cosim {
namespace {

constexpr double kLeast = 0.95;
constexpr std::uint32_t kTiles = 60;
constexpr std::uint32_t kLatencyCycles = 20;

// B = 1: a coefficient is 0 or one power of two, so a feature takes one cycle a word.
CosimRequest stream_of_keys(const UnitParameters& unit) {
  attention::DecodeOptions options;
  options.scores = attention::ScoreScheme::kBernoulli;
  options.bernoulli_draws = 1;
  options.samples = 16;
  return gaussian_request({kTiles * unit.tile_keys, unit.max_head_dimension, unit.group_heads},
                          options, unit.tile_keys, 1);
}

struct PortUse {
  double measured = 0.0;
  double possible = 0.0;  // with the weight lanes of the unit
};

PortUse port_use(const BuiltModel& built, const MemoryTiming& timing) {
  Scenario scenario;
  scenario.seed = "streaming";
  scenario.timing = timing;
  ScenarioRequest request;
  request.request = stream_of_keys(built.parameters);
  scenario.requests.push_back(request);
  const std::unique_ptr<RtlModel> model = built.make({});
  Coverage coverage(built.parameters);
  const SessionResult result = Session(*model, scenario, "", coverage).run();
  EXPECT_FALSE(result.failure.has_value()) << result.failure->text;
  EXPECT_GT(result.key_beats, kTiles * 8);
  constexpr std::uint32_t kHandOver = 8;  // cycles of a tile beside its passes
  const std::uint32_t tile_cycles =
      2 * built.parameters.tile_keys / built.parameters.weight_lanes + kHandOver;
  const auto beats = static_cast<double>(result.key_beats);
  return {beats / static_cast<double>(result.key_cycles),
          std::min(1.0, beats / kTiles / tile_cycles)};
}

class KeyStreaming : public testing::TestWithParam<std::size_t> {};

TEST_P(KeyStreaming, UsesThePort) {
  const BuiltModel& built = built_models()[GetParam()];
  const PortUse use = port_use(built, MemoryTiming::ideal(kLatencyCycles, 256));
  std::printf("%s: %.1f %% of the port, %.1f %% possible\n", built.name.c_str(),
              100.0 * use.measured, 100.0 * use.possible);
  EXPECT_GE(use.measured, kLeast * use.possible) << built.name;
}

// Most units are not held up by their weight lanes.
TEST(KeyStreamingUnits, MostCanUseTheWholePort) {
  std::size_t whole = 0;
  for (const BuiltModel& built : built_models()) {
    const PortUse use = port_use(built, MemoryTiming::ideal(kLatencyCycles, 256));
    whole += use.possible == 1.0 && use.measured >= kLeast ? 1 : 0;
  }
  EXPECT_GE(2 * whole, built_models().size());
}

// The counters do see a memory that cannot deliver: one request in flight at a time.
TEST_P(KeyStreaming, OneRequestInFlightIsNotEnough) {
  const BuiltModel& built = built_models()[GetParam()];
  EXPECT_LT(port_use(built, MemoryTiming::ideal(kLatencyCycles, 1)).measured, kLeast) << built.name;
}

INSTANTIATE_TEST_SUITE_P(Units, KeyStreaming,
                         testing::Range<std::size_t>(0, built_models().size()));

}  // namespace
}  // namespace santa::cosim
