// Vectors that a GPU recorded, compared on a machine that need not have one.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "santa/config/hardware.hpp"
#include "santa/config/preset.hpp"
#include "santa/cosim/cycle_model.hpp"
#include "santa/cosim/unit_parameters.hpp"
#include "santa/cosim/vector_request.hpp"
#include "santa/vectors/file.hpp"
#include "santa/vectors/producer.hpp"

namespace santa::vectors {
namespace {

const std::string kRecorded = SANTA_SOURCE_DIR "/traces/vectors/golden-cuda";

std::string pair_of(const Request& request) {
  return std::string(attention::to_string(request.options.scores)) + " scores, " +
         std::string(attention::to_string(request.options.values)) + " values";
}

TEST(GpuVectors, AreThoseOfTheGoldenModel) {
  GoldenProducer golden;
  std::set<std::string> pairs;
  std::set<std::uint32_t> groups;
  std::set<std::uint32_t> budgets;
  std::uint32_t widest = 0;
  std::uintmax_t bytes = 0;
  int equal = 0;
  for (const std::string& file : vector_files("DIR", kRecorded)) {
    const Vector vector = read_vector(file);
    EXPECT_EQ(vector.provenance.device.producer, kCudaProducer) << file;
    EXPECT_NE(vector.provenance.device.driver, "none") << file;
    EXPECT_EQ(vector.provenance.device.driver.find("unknown"), std::string::npos) << file;
    EXPECT_EQ(vector.provenance.commit.find("dirty"), std::string::npos) << file;
    // Nothing of what may be absent is.
    const Results& results = vector.results;
    ASSERT_TRUE(results.coefficients && results.scores && results.weights) << file;
    const auto difference =
        first_difference(vector.request, results, golden.answer(vector.request));
    EXPECT_FALSE(difference.has_value())
        << file << ": " << difference->field << ": recorded " << difference->recorded
        << ", golden model " << difference->computed;
    if (difference) continue;
    ++equal;
    pairs.insert(pair_of(vector.request));
    groups.insert(vector.request.group());
    budgets.insert(vector.request.options.samples);
    widest = std::max(widest, vector.request.head_dimension());
    bytes += std::filesystem::file_size(file);
  }
  EXPECT_GE(equal, 50);
  EXPECT_EQ(pairs.size(),
            attention::kScoreSchemeNames.size() * attention::kValueSchemeNames.size());
  for (std::uint32_t group = 1; group <= 8; ++group) EXPECT_EQ(groups.count(group), 1U) << group;
  EXPECT_EQ(widest, 256U);
  ASSERT_FALSE(budgets.empty());
  EXPECT_EQ(*budgets.begin(), 1U);
  EXPECT_EQ(*budgets.rbegin(), 4096U);
  EXPECT_LT(bytes, 2000000U);
}

// The units whose requests were recorded, by their keys a tile.
std::map<std::uint32_t, config::HardwareConfig> recorded_units() {
  std::map<std::uint32_t, config::HardwareConfig> units;
  for (const auto& [kind, name] :
       {std::pair{"hardware", "tiny-test"}, std::pair{"rtl", "eight-heads"},
        std::pair{"hardware", "edge-lpddr5"}, std::pair{"hardware", "server-hbm3"}}) {
    const config::HardwareConfig unit = config::load_hardware(config::find_config(kind, name));
    units.emplace(cosim::parameters_of(unit).tile_keys, unit);
  }
  return units;
}

// File UNIT-NNN holds request NNN of `vectors record --diverse`.
TEST(GpuVectors, AreWhatTheCommandDraws) {
  const auto units = recorded_units();
  GoldenProducer golden;
  for (const std::string& file : vector_files("DIR", kRecorded)) {
    const Vector vector = read_vector(file);
    const config::HardwareConfig& unit = units.at(vector.request.cache->tile_keys);
    const std::string name = std::filesystem::path(file).stem().string();
    ASSERT_EQ(name.substr(0, name.rfind('-')), unit.name);
    const Request drawn = cosim::diverse_request(cosim::parameters_of(unit),
                                                 std::stoull(name.substr(name.rfind('-') + 1)));
    EXPECT_EQ(drawn.workload, vector.request.workload) << file;
    EXPECT_EQ(drawn.cache->keys, vector.request.cache->keys) << file;
    EXPECT_EQ(drawn.cache->values, vector.request.cache->values) << file;
    const auto difference = first_difference(drawn, vector.results, golden.answer(drawn));
    EXPECT_FALSE(difference.has_value()) << file << ": " << difference->field;
  }
}

// The cycle model of the unit with as many keys a tile. Its baselines take exact scores only.
TEST(GpuVectors, AreThoseOfTheCycleModel) {
  const auto units = recorded_units();
  int equal = 0;
  for (const std::string& file : vector_files("DIR", kRecorded)) {
    const Vector vector = read_vector(file);
    const attention::DecodeOptions& options = vector.request.options;
    const bool sampled = attention::is_sampled(options.values);
    if (!sampled && options.scores != attention::ScoreScheme::kExact) continue;
    const config::HardwareConfig& unit = units.at(vector.request.cache->tile_keys);
    const auto pack = energy::EnergyPack::load(config::find_config("energy", unit.energy_pack));
    const cosim::CycleModelResult model = cosim::run_cycle_model(unit, pack, vector.request);
    EXPECT_EQ(model.output, vector.results.output) << file;
    bool same_rows = model.rows.size() == vector.results.rows.size();
    for (std::size_t row = 0; row < model.rows.size() && same_rows; ++row) {
      same_rows = model.rows[row].key == vector.results.rows[row].key &&
                  model.rows[row].counts == vector.results.rows[row].counts;
    }
    EXPECT_TRUE(same_rows) << file;
    if (same_rows && model.output == vector.results.output) ++equal;
  }
  EXPECT_GE(equal, 50);
}

}  // namespace
}  // namespace santa::vectors
