// DRAM timings: the shipped files with their sources, rules between keys, address maps, and how a
// hardware description takes one.
#include "santa/config/dram.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "expect_refused.hpp"
#include "santa/config/hardware.hpp"
#include "santa/config/preset.hpp"

namespace santa::config {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

const std::string kDescriptions = std::string(SANTA_SOURCE_DIR) + "/configs/";

std::string refused(const std::vector<Override>& changes) {
  return refusal_of([&] { load_dram("hbm2", changes); });
}

HardwareConfig edge(std::vector<Override> changes) {
  changes.insert(changes.begin(), {"memory.model", "dram"});
  return load_hardware("edge-lpddr5", changes);
}

TEST(Dram, ShippedTimingsLoadUnderTheirName) {
  EXPECT_EQ(preset_names("dram"),
            (std::vector<std::string>{"ddr4-3200", "hbm2", "hbm2e", "hbm3", "lpddr5-6400"}));
  for (const std::string& name : preset_names("dram")) EXPECT_EQ(load_dram(name).name, name);
  EXPECT_DOUBLE_EQ(load_dram("ddr4-3200").peak_gb_per_s(), 25.6);
  EXPECT_DOUBLE_EQ(load_dram("lpddr5-6400").peak_gb_per_s(), 12.8);
  EXPECT_DOUBLE_EQ(load_dram("hbm2").peak_gb_per_s(), 16.0);
  EXPECT_NEAR(load_dram("hbm2e").peak_gb_per_s(), 28.8, 0.03);
  EXPECT_DOUBLE_EQ(load_dram("hbm3").peak_gb_per_s(), 25.6);
  EXPECT_EQ(load_dram("hbm3").banks(), 32);
  EXPECT_EQ(load_dram("ddr4-3200").capacity_bytes(), std::int64_t{8} << 30);
}

// Behind every number stands a tag, and every tag is explained at the top of the file.
TEST(Dram, EveryNumberOfAShippedTimingHasItsSource) {
  for (const std::string& name : preset_names("dram")) {
    std::ifstream file(kDescriptions + "dram/" + name + ".yaml");
    std::set<std::string> explained;
    unsigned numbers = 0;
    for (std::string line; std::getline(file, line);) {
      const std::size_t open = line.find("# [");
      if (line.rfind("#   [", 0) == 0) {
        explained.insert(line.substr(4, 3));
      } else if (line[0] != '#' && line.rfind("name:", 0) != 0 && line.rfind("source:", 0) != 0) {
        ASSERT_NE(open, std::string::npos) << name << ": " << line;
        EXPECT_EQ(explained.count(line.substr(open + 2, 3)), 1U) << name << ": " << line;
        ++numbers;
      }
    }
    EXPECT_EQ(numbers + 2, describe_dram_keys().size()) << name;
  }
}

TEST(Dram, RefusesTimingsThatContradictThemselves) {
  struct Rule {
    Override change;
    std::string message;
  };
  const Rule rules[] = {
      {{"trc_cycles", "47"},
       "--set: trc_cycles: got 47; allowed: at least tras_cycles + trp_cycles, which is 48"},
      {{"tras_cycles", "13"},
       "--set: tras_cycles: got 13; allowed: at least trcd_read_cycles, which is 14"},
      {{"tccd_s_cycles", "1"},
       "--set: tccd_s_cycles: got 1; allowed: at least burst_cycles, which is 2"},
      {{"tccd_l_cycles", "1"},
       "--set: tccd_l_cycles: got 1; allowed: at least tccd_s_cycles, which is 2"},
      {{"trrd_l_cycles", "3"},
       "--set: trrd_l_cycles: got 3; allowed: at least trrd_s_cycles, which is 4"},
      {{"tfaw_cycles", "3"},
       "--set: tfaw_cycles: got 3; allowed: at least trrd_s_cycles, which is 4"},
      {{"twtr_l_cycles", "5"},
       "--set: twtr_l_cycles: got 5; allowed: at least twtr_s_cycles, which is 6"},
      {{"trefi_cycles", "300"},
       "--set: trefi_cycles: got 300; allowed: at least trfc_cycles + trc_cycles, which is 398"},
  };
  for (const Rule& rule : rules) EXPECT_EQ(refused({rule.change}), rule.message);
  // The key of a file that another one contradicts is named with its line.
  EXPECT_THAT(refused({{"trp_cycles", "15"}}),
              EndsWith("dram/hbm2.yaml:26: trc_cycles: got 48; allowed: at least tras_cycles + "
                       "trp_cycles, which is 49"));
  EXPECT_NO_THROW(load_dram("hbm2", {{"trefi_cycles", "0"}, {"trfc_cycles", "9000"}}));
}

TEST(Dram, RefusesAddressMapsThatDoNotCoverTheMemory) {
  const auto map = [](const std::string& text) { return refused({{"address_map", text}}); };
  const std::string form =
      "; allowed: NAME:BITS with spaces between, names row, stack, group, bank, column, bits 1 to "
      "32, such as row:15 bank:2 group:2 column:5";
  EXPECT_EQ(
      map("row:14 bank:2 group:2 column:5"),
      "--set: address_map: got 14 bits of row in \"row:14 bank:2 group:2 column:5\"; allowed: "
      "15 bits, which cover all 32768");
  EXPECT_THAT(map("row:15 bank:2 group:2 column:3 column:3"), HasSubstr("got 6 bits of column"));
  EXPECT_THAT(map("row:15 bank:2 column:5"), HasSubstr("got 0 bits of group"));
  EXPECT_THAT(map("row:15 stack:1 bank:2 group:2 column:5"), HasSubstr("got 1 bits of stack"));
  for (const char* text : {"row", "row:", "row:x", "rows:15 bank:2", "row:0 bank:2", "row:-1",
                           "row:33", "row:15,bank:2", ":15", "row:1:5"}) {
    EXPECT_EQ(map(text), "--set: address_map: got \"" + std::string(text) + "\"" + form);
  }
  EXPECT_NO_THROW(load_dram("hbm2", {{"address_map", "  column:5 group:2  row:15 bank:2 "}}));
}

TEST(Dram, ADescriptionNamesItsTimingOrHoldsIt) {
  EXPECT_FALSE(load_hardware("edge-lpddr5").dram);
  const HardwareConfig named = edge({{"dram.tfaw_cycles", "20"}});
  ASSERT_TRUE(named.dram);
  EXPECT_EQ(named.dram->tfaw_cycles, 20);
  EXPECT_NE(named.hash(), edge({}).hash());
  EXPECT_NE(edge({}).hash(), load_hardware("edge-lpddr5").hash());
  // The canonical text holds the timing, and reads back to itself.
  const std::string text = named.canonical_text();
  EXPECT_THAT(text, HasSubstr("\ndram:\n  name: \"lpddr5-6400\"\n"));
  EXPECT_EQ(read_hardware(load_yaml_text(text, "canonical")).canonical_text(), text);
  EXPECT_THAT(refusal_of([&] { read_hardware(load_yaml_text(text + "  tck: 3\n", "f.yaml")); }),
              HasSubstr("dram.tck: unknown key"));
}

TEST(Dram, ADescriptionAndItsTimingAreOneMemory) {
  const auto message = [](const std::vector<Override>& changes) {
    return refusal_of([&] { edge(changes); });
  };
  EXPECT_EQ(message({{"memory.access_bytes", "64"}}),
            "--set: memory.access_bytes: got 64; allowed: 32, the burst_bytes of the timing "
            "\"lpddr5-6400\"");
  EXPECT_EQ(message({{"memory.kind", "hbm3"}}),
            "--set: memory.kind: got hbm3; allowed: lpddr5-6400, the first word of the name of the "
            "timing \"lpddr5-6400\"");
  EXPECT_TRUE(edge({{"dram.name", "lpddr5-6400 of mine"}}).dram);
  EXPECT_THAT(message({{"dram.name", "mine"}}),
              HasSubstr("memory.kind: got lpddr5-6400; allowed: mine, the first word of the name"));
  EXPECT_THAT(message({{"memory.row_bytes", "1024"}}), HasSubstr("memory.row_bytes: got 1024"));
  EXPECT_THAT(message({{"memory.banks_per_channel", "32"}}),
              HasSubstr("memory.banks_per_channel: got 32; allowed: 16"));
  EXPECT_THAT(message({{"memory.channel_gb_per_s", "12"}}),
              HasSubstr("memory.channel_gb_per_s: got 12; allowed: 12.8 within 1 %"));
  EXPECT_THAT(message({{"memory.latency_ns", "58"}}),
              HasSubstr("memory.latency_ns: got 58; allowed: at least 58.75"));
  EXPECT_THAT(message({{"memory.timing", "hbm4"}}),
              HasSubstr("memory.timing: dram: unknown preset \"hbm4\""));
  EXPECT_EQ(message({{"dram.trc_cycles", "1"}}),
            "--set: dram.trc_cycles: got 1; allowed: at least tras_cycles + trp_cycles, which is "
            "49");
  EXPECT_THAT(message({{"dram.tfa_cycles", "1"}}),
              HasSubstr("--set: dram.tfa_cycles: unknown key, did you mean \"tfaw_cycles\"?"));
  EXPECT_EQ(refusal_of([] {
              load_hardware("edge-lpddr5", {{"dram.tfaw_cycles", "20"}});
            }),
            "--set: dram.tfaw_cycles: has no effect with memory.model bandwidth; allowed: "
            "memory.model dram");
}

// Of no effect there, but a name that is none is a slip all the same.
TEST(Dram, UnknownTimingIsRefusedWithEitherModel) {
  EXPECT_THAT(refusal_of([] {
                load_hardware("edge-lpddr5", {{"memory.timing", "hbm4"}});
              }),
              HasSubstr("memory.timing: dram: unknown preset \"hbm4\""));
}

TEST(Dram, EveryPresetOfHardwareRunsOnItsTiming) {
  for (const std::string& name : preset_names("hardware")) {
    EXPECT_TRUE(load_hardware(name, {{"memory.model", "dram"}}).dram) << name;
  }
}

}  // namespace
}  // namespace santa::config
