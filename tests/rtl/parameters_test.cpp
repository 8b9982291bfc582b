// Which hardware descriptions can be built in RTL, and the module that is written for them.
#include "santa/rtl/parameters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../config/expect_refused.hpp"
#include "santa/rtl/wrapper.hpp"

namespace santa::rtl {
namespace {

using config::load_hardware;
using config::Override;

std::string refused(const std::vector<Override>& changes) {
  return config::refusal_of([&] { check_unit(load_hardware("tiny-test", changes), "tiny.yaml"); });
}

TEST(RtlParameters, PresetsForOneAxiPortAreAccepted) {
  EXPECT_NO_THROW(check_unit(load_hardware("tiny-test")));
  EXPECT_NO_THROW(check_unit(load_hardware("edge-lpddr5")));
  EXPECT_EQ(config::refusal_of([] { check_unit(load_hardware("server-hbm3"), "server.yaml"); }),
            "server.yaml: unit.port_bytes: got 1024; allowed: 16, 32, 64, 128 in RTL");
}

// One value on each side of every rule of docs/rtl.md.
TEST(RtlParameters, RefusalsNameKeyValueAndWhatIsAllowed) {
  const auto message = [](const std::string& key, const std::string& value,
                          const std::string& allowed) {
    return "tiny.yaml: unit." + key + ": got " + value + "; allowed: " + allowed;
  };
  const auto power = [](int low, int high, const std::string& why) {
    return "a power of two from " + std::to_string(low) + " to " + std::to_string(high) +
           " in RTL" + why;
  };
  struct Case {
    std::string key;
    std::string value;
    std::string allowed;
  };
  const std::string scan =
      ": unit.port_bytes / (2 unit.group_heads) to unit.tile_keys / unit.group_heads";
  const std::string lanes = ", at most unit.port_bytes / 2 and unit.value_lanes";
  const std::string stash = ": one tile of every head and two words in each half";
  const std::vector<Case> cases = {
      {"port_bytes", "8", "16, 32, 64, 128 in RTL"},
      {"group_heads", "3", "1, 2, 4, 8 in RTL"},
      {"max_head_dimension", "48", power(16, 256, ", at least unit.port_bytes")},
      {"max_head_dimension", "512", power(16, 256, ", at least unit.port_bytes")},
      {"key_lanes", "8", power(16, 16, ": unit.port_bytes to unit.tile_keys")},
      {"scan_lanes", "1", power(2, 4, scan)},
      {"scan_lanes", "8", power(2, 4, scan)},
      {"weight_lanes", "8", power(1, 4, ", at most unit.scan_lanes and unit.key_lanes")},
      {"value_lanes", "32", power(1, 16, ", at most unit.port_bytes")},
      {"value_lanes", "3", power(1, 16, ", at most unit.port_bytes")},
      {"normalizer_lanes", "16", power(1, 8, lanes)},
      {"row_buffer_rows", "1", power(2, 256, "")},
      {"row_buffer_rows", "6", power(2, 256, "")},
      {"stash_kib", "5", power(1, 65536, stash)},
      {"merge_rows", "head", "group in RTL"},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(refused({{"unit." + one.key, one.value}}), message(one.key, one.value, one.allowed));
  }
  EXPECT_EQ(refused({{"unit.port_bytes", "32"}}),
            message("tile_keys", "16", power(32, 1024, ", at least unit.port_bytes")));
}

// Rules between keys of which tiny-test itself is far from the bound.
TEST(RtlParameters, LanesAndStashAreHeldAgainstEachOther) {
  const std::vector<Override> one_head = {
      {"unit.group_heads", "1"}, {"unit.tile_keys", "256"}, {"unit.scan_lanes", "256"}};
  const auto with = [](std::vector<Override> changes, const Override& last) {
    changes.push_back(last);
    return changes;
  };
  // The scan lanes would allow 256 weight lanes, the 16 key lanes do not.
  std::vector<Override> wide = with(one_head, {"unit.stash_kib", "2"});
  EXPECT_EQ(refused(with(wide, {"unit.weight_lanes", "32"})),
            "tiny.yaml: unit.weight_lanes: got 32; allowed: a power of two from 1 to 16 in RTL, at "
            "most unit.scan_lanes and unit.key_lanes");
  wide.push_back({"unit.weight_lanes", "16"});
  EXPECT_NO_THROW(check_unit(load_hardware("tiny-test", wide)));
  // Half of the port would allow 8 lanes of the normaliser, the 4 value lanes do not.
  const Override narrow{"unit.value_lanes", "4"};
  EXPECT_EQ(refused({narrow, {"unit.normalizer_lanes", "8"}}),
            "tiny.yaml: unit.normalizer_lanes: got 8; allowed: a power of two from 1 to 4 in RTL, "
            "at most unit.port_bytes / 2 and unit.value_lanes");
  EXPECT_NO_THROW(check_unit(load_hardware("tiny-test", {narrow, {"unit.normalizer_lanes", "4"}})));
  // A half of 512 bytes holds the tile of 256 weights, but is one word of 256 lanes.
  EXPECT_EQ(refused(with(one_head, {"unit.stash_kib", "1"})),
            "tiny.yaml: unit.stash_kib: got 1; allowed: a power of two from 2 to 65536 in RTL: one "
            "tile of every head and two words in each half");
}

TEST(RtlParameters, BoundsAreAccepted) {
  const std::vector<std::vector<Override>> accepted = {
      {{"unit.scan_lanes", "2"}, {"unit.weight_lanes", "2"}},
      {{"unit.weight_lanes", "1"}, {"unit.value_lanes", "1"}, {"unit.normalizer_lanes", "1"}},
      {{"unit.value_lanes", "16"}, {"unit.normalizer_lanes", "8"}, {"unit.digit_lanes", "4"}},
      {{"unit.key_buffer_tiles", "64"}, {"unit.row_buffer_rows", "256"}, {"unit.stash_kib", "1"}},
      {{"unit.max_head_dimension", "16"}, {"unit.normalizer_lanes", "8"}},
      {{"unit.group_heads", "1"}, {"unit.scan_lanes", "16"}, {"unit.weight_lanes", "16"}},
      {{"unit.group_heads", "8"}, {"unit.scan_lanes", "1"}, {"unit.weight_lanes", "1"}},
      {{"unit.port_bytes", "128"},
       {"unit.tile_keys", "128"},
       {"unit.key_lanes", "128"},
       {"unit.max_head_dimension", "128"},
       {"unit.scan_lanes", "32"}},
  };
  for (const std::vector<Override>& changes : accepted) {
    EXPECT_NO_THROW(check_unit(load_hardware("tiny-test", changes))) << changes.front().key;
  }
}

TEST(RtlWrapper, SetsEveryParameterAndPassesEveryPort) {
  const config::HardwareConfig hardware = load_hardware("tiny-test");
  const std::string text = wrapper_text(hardware, "tiny", Monitors::kWith);
  for (const Parameter& parameter : parameters_of(hardware)) {
    EXPECT_THAT(text, testing::HasSubstr("." + parameter.name + "(" +
                                         std::to_string(parameter.value) + ")"));
  }
  for (const char* part : {"module tiny (", "  attention_unit_monitored #(", ".ConfigHash(64'h",
                           "  input  logic clk_i", "  output logic [127:0] m_axi_wdata_o",
                           "  output logic [15:0] m_axi_wstrb_o",
                           "  output logic [511:0] mon_score_data_o", "    .irq_o(irq_o)"}) {
    EXPECT_THAT(text, testing::HasSubstr(part));
  }
  EXPECT_THAT(text, testing::HasSubstr("64'h" + hardware.unit_hash()));
  const std::string bare = wrapper_text(hardware, "tiny", Monitors::kWithout);
  EXPECT_THAT(bare, testing::HasSubstr("  attention_unit #("));
  EXPECT_THAT(bare, testing::Not(testing::HasSubstr("mon_")));
}

TEST(RtlWrapper, ModuleNamesAreChecked) {
  EXPECT_NO_THROW(check_module_name("attention_unit_top"));
  EXPECT_NO_THROW(check_module_name("_1"));
  for (const std::string name : {"", "1a", "a-b", "a b", "a\n"}) {
    EXPECT_THAT(config::refusal_of([&] { check_module_name(name); }),
                testing::HasSubstr("allowed: letters, digits and '_'"));
  }
}

}  // namespace
}  // namespace santa::rtl
