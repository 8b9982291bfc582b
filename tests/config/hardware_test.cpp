// The hardware description: keys, rules between keys, canonical text, hash.
#include "santa/config/hardware.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "expect_refused.hpp"
#include "santa/config/preset.hpp"

namespace santa::config {
namespace {

const std::string kTiny = std::string(SANTA_SOURCE_DIR) + "/configs/hardware/tiny-test.yaml";

std::string refused(const std::vector<Override>& overrides) {
  return refusal_of([&] { load_hardware(kTiny, overrides); });
}

// A valid value for each key of tiny-test.yaml that differs from the one in the file.
const std::map<std::string, std::string>& other_values() {
  static const std::map<std::string, std::string> values = {{"name", "other"},
                                                            {"description", "Other"},
                                                            {"clock_mhz", "200.5"},
                                                            {"energy_pack", "other"},
                                                            {"unit.tile_keys", "32"},
                                                            {"unit.group_heads", "3"},
                                                            {"unit.max_head_dimension", "65"},
                                                            {"unit.port_bytes", "32"},
                                                            {"unit.key_lanes", "4"},
                                                            {"unit.digit_lanes", "2"},
                                                            {"unit.weight_lanes", "2"},
                                                            {"unit.scan_lanes", "2"},
                                                            {"unit.value_lanes", "9"},
                                                            {"unit.normalizer_lanes", "5"},
                                                            {"unit.key_buffer_tiles", "3"},
                                                            {"unit.row_buffer_rows", "5"},
                                                            {"unit.stash_kib", "5"},
                                                            {"unit.merge_rows", "head"},
                                                            {"baselines.dense_multipliers", "33"},
                                                            {"baselines.exp_lanes", "2"},
                                                            {"baselines.divider_cycles", "9"},
                                                            {"baselines.select_lanes", "2"},
                                                            {"baselines.buffer_kib", "5"},
                                                            {"memory.kind", "hbm2"},
                                                            {"memory.model", "dram"},
                                                            {"memory.timing", "hbm2"},
                                                            {"memory.channels", "3"},
                                                            {"memory.channel_gb_per_s", "25.5"},
                                                            {"memory.latency_ns", "51"},
                                                            {"memory.access_bytes", "32"},
                                                            {"memory.row_bytes", "4096"},
                                                            {"memory.banks_per_channel", "8"},
                                                            {"memory.interleave_bytes", "512"},
                                                            {"memory.max_outstanding", "9"},
                                                            {"memory.devices", "3"},
                                                            {"system.units", "2"},
                                                            {"system.placement", "per-unit"},
                                                            {"system.prefetch_next_head", "off"},
                                                            {"system.key_bits", "4"},
                                                            {"system.value_bits", "4"}};
  return values;
}

TEST(Hardware, ReadsEveryKey) {
  const HardwareConfig config = load_hardware(kTiny);
  EXPECT_EQ(config.name, "tiny-test");
  EXPECT_EQ(config.clock_mhz, 200.0);
  EXPECT_EQ(config.unit.tile_keys, 16);
  EXPECT_EQ(config.unit.port_bytes, 16);
  EXPECT_EQ(config.unit.merge_rows, MergeRows::kGroup);
  EXPECT_EQ(config.memory.kind, MemoryKind::kDdr4_3200);
  EXPECT_EQ(config.memory.channel_gb_per_s, 25.6);
  EXPECT_EQ(config.energy_pack, "horowitz-45nm");
}

TEST(Hardware, AllShippedFilesLoadUnderTheirName) {
  const std::vector<std::string> names = preset_names("hardware");
  EXPECT_THAT(names, testing::IsSupersetOf({"edge-lpddr5", "server-hbm3", "tiny-test"}));
  for (const std::string& name : names) EXPECT_EQ(load_hardware(name).name, name);
}

TEST(Hardware, CanonicalTextReadsBackToItself) {
  for (const std::string& name : preset_names("hardware")) {
    const HardwareConfig config =
        load_hardware(name, {{"name", "a \"quoted\" \\ \u00e9 # name"},
                             {"clock_mhz", "0.1e4"},
                             {"memory.latency_ns", "33.333333333333336"}});
    const std::string text = config.canonical_text();
    EXPECT_EQ(read_hardware(load_yaml_text(text, "canonical")).canonical_text(), text);
  }
}

TEST(Hardware, CanonicalTextIgnoresHowTheFileIsWritten) {
  const std::string text = load_hardware(kTiny).canonical_text();
  EXPECT_EQ(load_hardware(kTiny, {{"clock_mhz", "2.0e2"}, {"memory.latency_ns", "50.0"}})
                .canonical_text(),
            text);
}

// A change of this value breaks the link between published results and their configuration: it
// needs an entry in the changelog.
TEST(Hardware, HashIsStable) {
  EXPECT_EQ(load_hardware(kTiny).hash(), "5a82486560f45973");
}

TEST(Hardware, EveryKeyChangesTheHash) {
  std::set<std::string> hashes = {load_hardware(kTiny).hash()};
  for (const KeyDescription& key : describe_hardware_keys()) {
    ASSERT_TRUE(other_values().count(key.key) == 1) << "no other value for " << key.key;
    const Override change = {key.key, other_values().at(key.key)};
    EXPECT_TRUE(hashes.insert(load_hardware(kTiny, {change}).hash()).second) << key.key;
  }
  EXPECT_EQ(hashes.size(), other_values().size() + 1);
}

TEST(Hardware, UnitHashIsThatOfTheUnitSection) {
  // FNV-1a of the section as it stands in the canonical text.
  const HardwareConfig config = load_hardware(kTiny);
  const std::string text = config.canonical_text();
  const std::size_t begin = text.find("unit:\n");
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = begin; i < text.find("baselines:\n"); ++i) {
    hash = (hash ^ static_cast<unsigned char>(text[i])) * 0x100000001b3u;
  }
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016" PRIx64, hash);
  EXPECT_EQ(config.unit_hash(), digits);
  EXPECT_EQ(config.unit_hash(), "509b9a7c42cc03a5");
  for (const auto& [key, value] : other_values()) {
    EXPECT_EQ(load_hardware(kTiny, {{key, value}}).unit_hash() != config.unit_hash(),
              key.rfind("unit.", 0) == 0)
        << key;
  }
}

TEST(Hardware, EveryKeyIsRequiredAndDescribed) {
  const std::string text = load_hardware(kTiny).canonical_text();
  for (const KeyDescription& key : describe_hardware_keys()) {
    EXPECT_FALSE(key.sentence.empty()) << key.key;
    EXPECT_EQ(key.sentence.back(), '.') << key.key;
    const std::string last = key.key.substr(key.key.rfind('.') + 1);
    const std::size_t begin = text.find((last == key.key ? "" : "  ") + last + ": ");
    ASSERT_NE(begin, std::string::npos) << key.key;
    std::string without = text;
    without.erase(begin, text.find('\n', begin) + 1 - begin);
    EXPECT_THAT(refusal_of([&] { read_hardware(load_yaml_text(without, "f.yaml")); }),
                testing::HasSubstr(": " + key.key + ": missing"));
  }
}

TEST(Hardware, RangesAreEnforcedAtBothEnds) {
  for (const KeyDescription& key : describe_hardware_keys()) {
    if (key.type == "text" || key.type == "choice") continue;
    const std::size_t middle = key.allowed.find(" to ");
    ASSERT_NE(middle, std::string::npos) << key.key;
    const double low = std::stod(key.allowed.substr(0, middle));
    const double high = std::stod(key.allowed.substr(middle + 4));
    const bool is_real = key.type == "number";
    const auto text = [&](double value) {
      return is_real ? std::to_string(value) : std::to_string(static_cast<long>(value));
    };
    const std::string what = (is_real                 ? "a number"
                              : key.type == "integer" ? "an integer"
                                                      : "a power of two") +
                             (" from " + key.allowed.substr(0, middle)) + " to " +
                             key.allowed.substr(middle + 4);
    const auto message = [&](const std::string& value) {
      return "--set: " + key.key + ": got " + value + "; allowed: " + what;
    };
    for (const std::string& value :
         {text(is_real ? low * 0.9 : low - 1), text(is_real ? high * 1.1 : high * 2), text(-1)}) {
      EXPECT_EQ(refused({{key.key, value}}), message(value));
    }
  }
}

TEST(Hardware, RefusesUnknownKeysAndNames) {
  EXPECT_EQ(refused({{"unit.tile_key", "64"}}),
            "--set: unit.tile_key: unknown key, did you mean \"tile_keys\"?; allowed: digit_lanes, "
            "group_heads, key_buffer_tiles, key_lanes, max_head_dimension, merge_rows, "
            "normalizer_lanes, port_bytes, row_buffer_rows, scan_lanes, stash_kib, tile_keys, "
            "value_lanes, weight_lanes");
  EXPECT_EQ(refused({{"unit.merge_rows", "all"}}),
            "--set: unit.merge_rows: got all; allowed: none, head, group");
  EXPECT_EQ(refused({{"memory.kind", "hbm4"}}),
            "--set: memory.kind: got hbm4; allowed: ddr4-3200, lpddr5-6400, hbm2, hbm2e, hbm3");
}

TEST(Hardware, RefusesLanesWiderThanWhatTheyWorkOn) {
  for (const std::string key : {"key_lanes", "weight_lanes", "scan_lanes"}) {
    EXPECT_EQ(refused({{"unit." + key, "32"}}),
              "--set: unit." + key + ": got 32; allowed: at most unit.tile_keys, which is 16");
    EXPECT_NO_THROW(load_hardware(kTiny, {{"unit." + key, "16"}}));
  }
  for (const std::string key : {"value_lanes", "normalizer_lanes"}) {
    EXPECT_EQ(
        refused({{"unit." + key, "65"}}),
        "--set: unit." + key + ": got 65; allowed: at most unit.max_head_dimension, which is 64");
    EXPECT_NO_THROW(load_hardware(kTiny, {{"unit." + key, "64"}}));
  }
}

TEST(Hardware, RefusesAStashBelowOneTile) {
  const Override group = {"unit.group_heads", "16"};
  const Override tile = {"unit.tile_keys", "128"};
  EXPECT_EQ(refused({group, tile}),
            kTiny +
                ":19: unit.stash_kib: got 4; allowed: at least 8: one tile of 16-bit weights for "
                "each of 16 heads in both halves");
  EXPECT_NO_THROW(load_hardware(kTiny, {group, tile, {"unit.stash_kib", "8"}}));
}

TEST(Hardware, RefusesMemoryRowsAndInterleavesBelowABurst) {
  EXPECT_EQ(refused({{"memory.interleave_bytes", "32"}}),
            "--set: memory.interleave_bytes: got 32; allowed: at least memory.access_bytes, which "
            "is 64");
  EXPECT_NO_THROW(load_hardware(kTiny, {{"memory.interleave_bytes", "64"}}));
  EXPECT_NO_THROW(
      load_hardware(kTiny, {{"memory.row_bytes", "256"}, {"memory.access_bytes", "256"}}));
}

TEST(Hardware, NamesOfChoices) {
  EXPECT_EQ(name_of(MergeRows::kGroup), "group");
  EXPECT_EQ(name_of(MemoryKind::kHbm3), "hbm3");
}

}  // namespace
}  // namespace santa::config
