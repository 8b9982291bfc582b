// Scenarios are deterministic; together they reach the situations that coverage counts.
#include "santa/cosim/scenario.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "santa/config/hardware.hpp"
#include "santa/cosim/coverage.hpp"
#include "santa/cosim/runner.hpp"

namespace santa::cosim {
namespace {

const config::HardwareConfig& tiny() {
  static const config::HardwareConfig hardware = config::load_hardware("tiny-test");
  return hardware;
}

TEST(Scenario, TheSameSeedGivesTheSameScenario) {
  const UnitParameters unit = parameters_of(tiny());
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Scenario a = random_scenario(seed, unit, tiny(), 2048);
    const Scenario b = random_scenario(seed, unit, tiny(), 2048);
    ASSERT_EQ(a.requests.size(), b.requests.size());
    EXPECT_EQ(a.resets, b.resets);
    EXPECT_EQ(a.initial_seed, b.initial_seed);
    EXPECT_EQ(a.seed_of_addresses, b.seed_of_addresses);
    for (std::size_t i = 0; i < a.requests.size(); ++i) {
      EXPECT_EQ(a.requests[i].ending, b.requests[i].ending);
      EXPECT_EQ(a.requests[i].request.cache->keys, b.requests[i].request.cache->keys);
      EXPECT_EQ(a.requests[i].request.request.value_streams,
                b.requests[i].request.request.value_streams);
    }
  }
}

TEST(Scenario, EveryKindOfEndingAndMemoryComes) {
  const UnitParameters unit = parameters_of(tiny());
  std::map<std::string, unsigned> seen;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Scenario s = random_scenario(seed, unit, tiny(), 1024);
    for (const ScenarioRequest& r : s.requests) {
      ++seen["ending " + std::to_string(static_cast<int>(r.ending))];
      if (r.ending == Ending::kReadError)
        ++seen[std::string("error on ") + name_of(r.error_region)];
      if (r.ending == Ending::kWriteError)
        ++seen[std::string("write to ") + name_of(r.error_region)];
    }
    ++seen["order " + std::to_string(static_cast<int>(s.behaviour.order))];
    seen["resets"] += s.resets.empty() ? 0U : 1U;
    seen["several resets"] += s.resets.size() > 1 ? 1U : 0U;
    seen["polling"] += s.driver.interrupt ? 0U : 1U;
    seen["late"] += s.enable_late ? 1U : 0U;
    seen["alternating"] += s.behaviour.r.alternate ? 1U : 0U;
  }
  for (const char* name : {"ending 0",
                           "ending 1",
                           "ending 2",
                           "ending 3",
                           "error on descriptor",
                           "error on operands",
                           "error on keys",
                           "error on tail",
                           "error on values",
                           "error on scratch",
                           "write to output",
                           "write to scratch",
                           "order 0",
                           "order 1",
                           "order 2",
                           "resets",
                           "several resets",
                           "polling",
                           "late",
                           "alternating"}) {
    EXPECT_GT(seen[name], 0U) << name;
  }
}

// A refusal changes the descriptor or its address, and each in a way of its own.
TEST(Scenario, RefusalsSpoilDescriptors) {
  const UnitParameters unit = parameters_of(tiny());
  const Scenario s = directed_scenario(unit, 4096);
  const CosimRequest& request = s.requests.back().request;
  const auto good = make_descriptor(request, {}, 1);
  std::set<std::vector<std::uint8_t>> all;
  for (const Refusal& refusal : refusals()) {
    std::vector<std::uint8_t> bytes(good.begin(), good.end());
    std::uint64_t address = 0x1000;
    refusal.spoil(unit, bytes, address);
    EXPECT_TRUE(address != 0x1000 || !std::equal(bytes.begin(), bytes.end(), good.begin()))
        << refusal.name;
    all.insert(bytes);
  }
  EXPECT_EQ(all.size(), refusals().size());
}

// Every bin of the requests themselves is hit by the directed list and a few seeds.
TEST(Coverage, DirectedAndRandomRequestsReachEveryBin) {
  const UnitParameters unit = parameters_of(tiny());
  Coverage coverage(unit);
  const auto sample = [&](const Scenario& scenario) {
    for (const ScenarioRequest& r : scenario.requests) {
      ScoreboardRequest prepared;
      prepared.request = r.request;
      prepared.expected = expect(r.request);
      coverage.sample(prepared);
    }
  };
  sample(directed_scenario(unit, 4096));
  for (std::uint64_t seed = 1; seed <= 60; ++seed)
    sample(random_scenario(seed, unit, tiny(), 4096));
  for (const CoverageBin& bin : coverage.bins()) {
    const bool of_run = bin.name.rfind("memory:", 0) == 0 || bin.name.rfind("driver:", 0) == 0 ||
                        bin.name.rfind("completion:", 0) == 0;
    EXPECT_EQ(bin.hits == 0, of_run) << bin.name;
  }
  EXPECT_THROW(coverage.hit("no such bin"), std::logic_error);
}

TEST(Runner, FindsTheModelOfADescriptionByItsHash) {
  std::vector<BuiltModel> models(2);
  models[0].name = "other";
  models[1].name = "tiny-test";
  models[1].parameters = parameters_of(tiny());
  EXPECT_EQ(find_model(models, tiny()), &models[1]);
  EXPECT_EQ(find_model(models, config::load_hardware("edge-lpddr5")), nullptr);
}

}  // namespace
}  // namespace santa::cosim
