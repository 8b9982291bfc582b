// Bad packs end with one complete message. Each case changes one place of the default pack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "pack_fixture.hpp"

namespace santa::energy {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The message that the default pack gives with the first `from` after `section` replaced by `to`.
std::string message_with(const std::string& section, const std::string& from,
                         const std::string& to) {
  std::string text = default_pack_text();
  const std::size_t start = text.find(section);
  const std::size_t place = text.find(from, start);
  if (start == std::string::npos || place == std::string::npos) return "the pack lacks: " + from;
  text.replace(place, from.size(), to);
  try {
    EnergyPack::parse(text, "pack.yaml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(PackFile, DefaultPackIsAccepted) {
  EXPECT_EQ(message_with("pack:", "pack:", "pack:"), "accepted");
}

TEST(PackFile, WrongUnitIsRefused) {
  const std::string message =
      message_with("  read:\n", "unit: pJ per access", "unit: nJ per access");
  EXPECT_THAT(message, StartsWith("pack.yaml:"));
  EXPECT_THAT(message, EndsWith("sram.read.unit: got 'nJ per access'; allowed: 'pJ per access'"));
}

TEST(PackFile, LowAboveMidIsRefused) {
  EXPECT_THAT(message_with("add_int:", "low: 0.021", "low: 0.04"),
              HasSubstr("low: got 0.04; allowed: at most mid, 0.03"));
}

TEST(PackFile, HighBelowMidIsRefused) {
  EXPECT_THAT(message_with("control_and_clock:", "high: 0.6", "high: 0.2"),
              HasSubstr("overheads.control_and_clock.high: got 0.2; allowed: at least mid, 0.25"));
}

TEST(PackFile, NegativeValueIsRefused) {
  EXPECT_THAT(message_with("multiply_int:", "low: 0.14", "low: -0.14"),
              HasSubstr("points[0].low: got -0.14; allowed: a number from 0 to"));
}

TEST(PackFile, MissingKeyIsRefused) {
  EXPECT_THAT(message_with("hbm2:", "    background:", "    backgrounds:"), HasSubstr("dram.hbm2"));
  EXPECT_THAT(message_with("add_int:", "    confidence: primary\n", ""),
              HasSubstr("operations.add_int.confidence"));
}

TEST(PackFile, UnknownKeyIsRefused) {
  EXPECT_THAT(message_with("add_int:", "    unit: pJ\n", "    unit: pJ\n    scale: 2\n"),
              HasSubstr("operations.add_int.scale: unknown key"));
  EXPECT_THAT(message_with("operations:", "  shift:\n", "  rotate: 1\n  shift:\n"),
              HasSubstr("operations.rotate: unknown key"));
}

TEST(PackFile, UnknownConfidenceIsRefused) {
  EXPECT_THAT(message_with("add_int:", "confidence: primary", "confidence: certain"),
              HasSubstr("operations.add_int.confidence: got certain; allowed:"));
}

TEST(PackFile, UnlistedSourceIsRefused) {
  EXPECT_THAT(
      message_with("add_int:", "source: horowitz2014", "source: horowitz2015"),
      HasSubstr("operations.add_int.source: got 'horowitz2015'; allowed: one of the keys of "
                "'sources': aladdin2014 cacti7"));
}

TEST(PackFile, SourceWithoutCitationIsRefused) {
  EXPECT_THAT(message_with("sources:", "  cacti7:", "  gossip: a talk\n  cacti7:"),
              HasSubstr("sources.gossip: got a source that no constant cites"));
}

TEST(PackFile, PointsOutOfOrderAreRefused) {
  EXPECT_THAT(message_with("add_int:", "width_bits: 16", "width_bits: 8"),
              HasSubstr("width_bits: got 8; allowed: entries in ascending order"));
}

TEST(PackFile, AccessWidthMustMatchThePorts) {
  EXPECT_THAT(message_with("sram:", "bits_per_access: 64", "bits_per_access: 32"),
              HasSubstr("sram.read.bits_per_access: got 32; allowed: the narrowest port of "
                        "sram.port_ratio, 64"));
}

TEST(PackFile, PortGridMustBeRegular) {
  EXPECT_THAT(message_with("port_ratio:", "port_bits: 512", "port_bits: 500"),
              HasSubstr("the same two or more values of port_bits at every capacity"));
  EXPECT_THAT(message_with("port_ratio:", "low: 1, mid: 1, high: 1}", "low: 1, mid: 1, high: 2}"),
              HasSubstr("allowed: low, mid and high of 1"));
}

TEST(PackFile, ZeroScratchpadEnergyIsRefused) {
  EXPECT_THAT(message_with("sram:", "low: 1.638", "low: 0"),
              HasSubstr("sram.read.points[0].low: got 0; allowed: a number from 1e-12"));
}

TEST(PackFile, NoDramIsRefused) {
  const std::string text = default_pack_text();
  const std::string cut = text.substr(0, text.find("\ndram:")) + "\ndram: {}\n";
  try {
    EnergyPack::parse(cut, "pack.yaml");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("dram: got no kind of DRAM; allowed: one or more kinds"));
  }
}

}  // namespace
}  // namespace santa::energy
