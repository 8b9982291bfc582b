// Keys arrive word after word: where neither the memory nor the additions of a feature take longer
// than a cycle a word, the unit's own counters show at least 95 % of its port in use.
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

double port_use(const BuiltModel& built, const MemoryTiming& timing) {
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
  return static_cast<double>(result.key_beats) / static_cast<double>(result.key_cycles);
}

class KeyStreaming : public testing::TestWithParam<std::size_t> {};

TEST_P(KeyStreaming, UsesThePort) {
  const BuiltModel& built = built_models()[GetParam()];
  const double use = port_use(built, MemoryTiming::ideal(kLatencyCycles, 256));
  RecordProperty("percent", static_cast<int>(100.0 * use));
  std::printf("%s: %.1f %%\n", built.name.c_str(), 100.0 * use);
  EXPECT_GE(use, kLeast) << built.name;
}

// The counters do see a memory that cannot deliver: one request in flight at a time.
TEST_P(KeyStreaming, OneRequestInFlightIsNotEnough) {
  const BuiltModel& built = built_models()[GetParam()];
  EXPECT_LT(port_use(built, MemoryTiming::ideal(kLatencyCycles, 1)), kLeast) << built.name;
}

INSTANTIATE_TEST_SUITE_P(Units, KeyStreaming,
                         testing::Range<std::size_t>(0, built_models().size()));

}  // namespace
}  // namespace santa::cosim
