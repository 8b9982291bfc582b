// The roll-up against sums made by hand, and the checks against reports that were made wrong.
#include "santa/energy/meter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>

#include "pack_fixture.hpp"

namespace santa::energy {
namespace {

using ::testing::HasSubstr;

class Meter : public DefaultPack {
 protected:
  EnergyMeter meter_{pack_, {"hbm2", 2, 100.0}};

  static double part(const EnergyReport& report, Part part) {
    return report.parts_pj[index_of(part)].mid;
  }
  static double block(const EnergyReport& report, Block block) {
    return report.blocks_pj[index_of(block)].mid;
  }
};

// Two rows of 128 bytes gathered from HBM2 and added into 16-bit accumulators:
//   256 adds of 16 bits       256 x 0.05            =   12.8
//   256 accumulator writes    256 x 16 x 0.009      =   36.864
//   control and clock         0.25 x 49.664         =   12.416
//   4 reads, 8 KB x 64 bits   4 x 3.16              =   12.64
//   2 activates               2 x 909               = 1818
//   256 bytes, array          2048 x 2.68           = 5488.64
//   256 bytes, interface      2048 x 0.8            = 1638.4
//   leakage of 8 KB           0.043 mW x 1000 ns    =   43
TEST_F(Meter, SmallExampleEqualsTheSumByHand) {
  const Handle add = meter_.operation(Block::value_gather, Operation::add_int, 16);
  const Handle accumulate = meter_.operation(Block::value_gather, Operation::register_write, 16);
  const Handle stash = meter_.sram_read(Block::weight_unit, "weight_stash", 8192, 64);
  const Handle activate = meter_.dram_activate();
  const Handle byte = meter_.dram_read_byte();
  for (const double time : {120.0, 310.0}) {
    meter_.count(activate, 1, time);
    meter_.count(byte, 128, time + 20.0);
    meter_.count(stash, 2, time + 30.0);
    meter_.count(add, 128, time + 40.0);
    meter_.count(accumulate, 128, time + 40.0);
  }
  const EnergyReport report = meter_.finish(1000.0);
  EXPECT_NEAR(part(report, Part::adders), 12.8, 1e-9);
  EXPECT_NEAR(part(report, Part::registers), 36.864, 1e-9);
  EXPECT_NEAR(part(report, Part::control), 12.416, 1e-9);
  EXPECT_NEAR(part(report, Part::sram), 12.64, 1e-9);
  EXPECT_NEAR(part(report, Part::dram_activate), 1818.0, 1e-9);
  EXPECT_NEAR(part(report, Part::dram_read), 5488.64, 1e-9);
  EXPECT_NEAR(part(report, Part::dram_io), 1638.4, 1e-9);
  EXPECT_NEAR(part(report, Part::sram_leakage), 43.0, 1e-9);
  EXPECT_EQ(part(report, Part::dram_background), 0.0);
  EXPECT_NEAR(block(report, Block::value_gather), 62.08, 1e-9);
  EXPECT_NEAR(block(report, Block::weight_unit), 55.64, 1e-9);
  EXPECT_NEAR(block(report, Block::memory), 8945.04, 1e-9);
  EXPECT_NEAR(report.total_pj.mid, 9062.76, 1e-9);
  EXPECT_NEAR(report.average_power_mw.mid, 9.06276, 1e-12);
  // Low: 0.035, 0.0065, control 0, 2.212, 636.3, 2.24, 0.3, 0.0301 mW.
  EXPECT_NEAR(report.total_pj.low,
              256 * 0.035 + 4096 * 0.0065 + 4 * 2.212 + 2 * 636.3 + 2048 * 2.54 + 30.1, 1e-9);
  // High: 0.105, 0.0117, control 0.6 of both, 6.877, 1181.7, 4.2, 1.26, 4.3 mW.
  EXPECT_NEAR(report.total_pj.high,
              1.6 * (256 * 0.105 + 4096 * 0.0117) + 4 * 6.877 + 2 * 1181.7 + 2048 * 5.46 + 4300.0,
              1e-9);
}

// The register trap: an accumulator costs nearly three times the add that it holds.
TEST_F(Meter, RegistersAreNotFree) {
  const Handle add = meter_.operation(Block::value_gather, Operation::add_int, 16);
  const Handle accumulate = meter_.operation(Block::value_gather, Operation::register_write, 16);
  meter_.count(add, 1000, 0.0);
  meter_.count(accumulate, 1000, 0.0);
  const EnergyReport report = meter_.finish(1.0);
  EXPECT_NEAR(part(report, Part::registers) / part(report, Part::adders), 2.88, 1e-9);
}

TEST_F(Meter, WindowsHoldDynamicEnergyAtItsTimeAndLeakageAllAlong) {
  const Handle read = meter_.sram_read(Block::weight_unit, "weight_stash", 8192, 64);
  meter_.count(read, 10, 150.0);
  const EnergyReport report = meter_.finish(250.0);
  ASSERT_EQ(report.windows.size(), 3U);
  EXPECT_EQ(report.window_ns, 100.0);
  EXPECT_EQ(report.windows[2].duration_ns, 50.0);
  const std::size_t sram = index_of(Part::sram);
  const std::size_t leakage = index_of(Part::sram_leakage);
  EXPECT_EQ(report.windows[0].parts_pj[sram], 0.0);
  EXPECT_NEAR(report.windows[1].parts_pj[sram], 31.6, 1e-12);
  EXPECT_NEAR(report.windows[0].parts_pj[leakage], 4.3, 1e-12);
  EXPECT_NEAR(report.windows[2].parts_pj[leakage], 2.15, 1e-12);
  EXPECT_NEAR(report.windows[1].power_mw, (31.6 + 4.3) / 100.0, 1e-12);
}

TEST_F(Meter, LongRunsKeepTheirSumsAndBoundTheirWindows) {
  const Handle add = meter_.operation(Block::ternary_gather, Operation::add_int, 24);
  const Handle byte = meter_.dram_write_byte();
  for (std::uint64_t i = 0; i < 300000; ++i) {
    meter_.count(add, i % 97, static_cast<double>(i) * 3.7);
    meter_.count(byte, i % 31, static_cast<double>(i) * 3.7);
  }
  const EnergyReport report = meter_.finish(2e6);
  EXPECT_LE(report.windows.size(), 1024U);
  EXPECT_EQ(report.window_ns, 3200.0);
}

TEST_F(Meter, LinesShowCountWidthPriceAndOrigin) {
  const Handle add = meter_.operation(Block::ternary_gather, Operation::add_int, 24);
  EXPECT_EQ(meter_.operation(Block::ternary_gather, Operation::add_int, 24).index, add.index);
  EXPECT_NE(meter_.operation(Block::value_gather, Operation::add_int, 24).index, add.index);
  meter_.count(add, 7, 0.0);
  const EnergyReport report = meter_.finish(1.0);
  const OperationLine& line = report.operations[add.index];
  EXPECT_EQ(line.name, "add_int");
  EXPECT_EQ(line.count, 7U);
  EXPECT_EQ(line.width_bits, 24U);
  EXPECT_NEAR(line.each_pj.mid, 0.075, 1e-15);
  EXPECT_NEAR(line.total_pj.mid, 0.525, 1e-12);
  EXPECT_EQ(line.constant, "operations.add_int");
  EXPECT_EQ(line.rule, "linear in width");
  EXPECT_EQ(line.confidence, Confidence::derived);
  EXPECT_THAT(report.scope, HasSubstr("2 hbm2 device(s)"));
}

TEST_F(Meter, StaticPowerIsThereEvenWhenItIsZero) {
  meter_.add_static(Block::mac_array, Part::logic_leakage, "array", {0.1, 0.2, 0.3});
  const EnergyReport report = meter_.finish(500.0);
  ASSERT_EQ(report.statics.size(), 3U);
  EXPECT_EQ(report.statics[0].part, Part::logic_leakage);
  EXPECT_EQ(report.statics[0].total_pj.mid, 0.0);
  EXPECT_EQ(report.statics[1].part, Part::dram_background);
  EXPECT_NEAR(report.total_pj.high, 150.0, 1e-9);
}

TEST_F(Meter, BackgroundPowerScalesWithTheDevices) {
  std::string text = default_pack_text();
  const std::size_t place = text.find("low: 0", text.find("background:", text.find("  hbm2:")));
  text.replace(place, std::string("low: 0\n      mid: 0\n      high: 0").size(),
               "low: 1\n      mid: 2\n      high: 3");
  EnergyMeter meter(EnergyPack::parse(text, "pack.yaml"), {"hbm2", 4, 10.0});
  EXPECT_NEAR(part(meter.finish(100.0), Part::dram_background), 4 * 2 * 100.0, 1e-9);
}

TEST_F(Meter, MisuseIsRefused) {
  const Handle add = meter_.operation(Block::control, Operation::add_int, 8);
  EXPECT_THROW(meter_.count(Handle{}, 1, 0.0), std::logic_error);
  EXPECT_THROW(meter_.count(add, 1, -1.0), std::logic_error);
  EXPECT_THROW(meter_.add_static(Block::control, Part::adders, "x", {}), std::logic_error);
  meter_.sram_read(Block::weight_unit, "stash", 8192, 64);
  EXPECT_THROW(meter_.sram_write(Block::weight_unit, "stash", 4096, 64), std::logic_error);
  EXPECT_THROW(meter_.add_static(Block::weight_unit, Part::sram_leakage, "stash", {}),
               std::logic_error);
  meter_.count(add, 1, 50.0);
  EXPECT_THROW(meter_.finish(49.0), std::logic_error);
  EXPECT_THROW(meter_.finish(0.0), std::logic_error);
  EXPECT_THROW((EnergyMeter(pack_, {"hbm9", 1, 10.0})), InputError);
}

// Breaks one number of a good report and returns what the check says.
class BrokenReport : public Meter {
 protected:
  std::string verdict(const std::function<void(EnergyReport&)>& damage) {
    const Handle add = meter_.operation(Block::value_gather, Operation::add_int, 16);
    const Handle byte = meter_.dram_read_byte();
    meter_.count(add, 100, 10.0);
    meter_.count(byte, 100, 120.0);
    EnergyReport report = meter_.finish(200.0);
    damage(report);
    try {
      check_report(report);
    } catch (const VerificationError& error) {
      return error.what();
    }
    return "passed";
  }
};

TEST_F(BrokenReport, GoodReportPasses) {
  EXPECT_EQ(verdict([](EnergyReport&) {}), "passed");
  // Within the tolerance: 1e-10 of the total.
  EXPECT_EQ(verdict([](EnergyReport& r) { r.total_pj.mid *= 1.0 + 1e-10; }), "passed");
}

TEST_F(BrokenReport, WrongPartFails) {
  EXPECT_THAT(verdict([](EnergyReport& r) { r.parts_pj[index_of(Part::adders)].mid *= 1.001; }),
              HasSubstr("energy check failed: the sum of the parts is"));
  EXPECT_THAT(verdict([](EnergyReport& r) { r.parts_pj[index_of(Part::adders)].low = 0.0; }),
              HasSubstr("(low value)"));
}

TEST_F(BrokenReport, WrongBlockFails) {
  EXPECT_THAT(verdict([](EnergyReport& r) { r.blocks_pj[index_of(Block::memory)].high += 1.0; }),
              HasSubstr("the sum of the blocks is"));
}

TEST_F(BrokenReport, WrongLineFails) {
  EXPECT_THAT(verdict([](EnergyReport& r) { r.operations.pop_back(); }),
              HasSubstr("the sum of the lines is"));
  EXPECT_THAT(verdict([](EnergyReport& r) { r.statics[0].total_pj.mid = 1.0; }),
              HasSubstr("the sum of the lines is"));
}

TEST_F(BrokenReport, WrongPowerFails) {
  EXPECT_THAT(verdict([](EnergyReport& r) { r.windows[1].power_mw *= 1.00001; }),
              HasSubstr("the sum of power x duration over the windows is"));
  // The classic fault of the clock: durations in cycles instead of nanoseconds.
  EXPECT_THAT(verdict([](EnergyReport& r) {
                for (Window& window : r.windows) window.duration_ns *= 0.8;
              }),
              HasSubstr("the sum of power x duration over the windows is"));
}

TEST_F(BrokenReport, NotANumberFails) {
  EXPECT_THAT(verdict([](EnergyReport& r) { r.total_pj.mid = std::nan(""); }),
              HasSubstr("energy check failed"));
}

}  // namespace
}  // namespace santa::energy
