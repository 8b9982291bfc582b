// The default pack gives the published numbers back, and its interpolations behave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "pack_fixture.hpp"
#include "santa/config/dram.hpp"

namespace santa::energy {
namespace {

using ::testing::HasSubstr;

// Energy per bit in pJ (mid) when every row of the DRAM that is opened gives `bytes`.
double gather_pj_per_bit(const DramCosts& dram, double bytes) {
  return dram.activate.points[0].value.mid / (8.0 * bytes) + dram.read.points[0].value.mid +
         dram.io.points[0].value.mid;
}

std::string rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

TEST_F(DefaultPack, HorowitzOperationsAreExact) {
  EXPECT_EQ(mid(Operation::add_int, 8), 0.03);
  EXPECT_EQ(mid(Operation::add_int, 16), 0.05);
  EXPECT_EQ(mid(Operation::add_int, 32), 0.1);
  EXPECT_EQ(mid(Operation::multiply_int, 8), 0.2);
  EXPECT_EQ(mid(Operation::multiply_int, 32), 3.1);
  EXPECT_EQ(mid(Operation::add_fp16, 16), 0.4);
  EXPECT_EQ(mid(Operation::add_fp32, 32), 0.9);
  EXPECT_EQ(mid(Operation::multiply_fp16, 16), 1.1);
  EXPECT_EQ(mid(Operation::multiply_fp32, 32), 3.7);
}

TEST_F(DefaultPack, PaperComparesMultiplyAndAddAtThesePrices) {
  // Value stage of the paper at equal budgets: (3.7 + 0.9) pJ against 0.9 pJ an element.
  const double ratio = (mid(Operation::multiply_fp32, 32) + mid(Operation::add_fp32, 32)) /
                       mid(Operation::add_fp32, 32);
  EXPECT_NEAR(ratio, 5.1, 0.05);
}

// A 64-bit access of 1300 pJ and a 32-bit access of 640 pJ are one memory, not two.
TEST_F(DefaultPack, HorowitzDramIsPer64Bits) {
  const DramCosts& dram = pack_.dram("horowitz-dram");
  EXPECT_EQ(dram.read.points[0].value.low * 64.0, 1300.0);
  EXPECT_EQ(dram.read.points[0].value.high * 64.0, 2600.0);
  EXPECT_NEAR(dram.read.points[0].value.low * 32.0, 640.0, 0.02 * 640.0);
}

TEST_F(DefaultPack, WidthsBetweenPointsAreLinearAndLabelled) {
  EXPECT_NEAR(mid(Operation::add_int, 24), 0.075, 1e-15);
  EXPECT_NEAR(mid(Operation::add_int, 4), 0.015, 1e-15);
  EXPECT_NEAR(mid(Operation::add_int, 64), 0.2, 1e-15);
  EXPECT_NEAR(mid(Operation::multiply_int, 16), 0.2 + 2.9 * (256.0 - 64.0) / (1024.0 - 64.0),
              1e-12);
  EXPECT_EQ(mid(Operation::multiply_int, 16, 8), mid(Operation::multiply_int, 8, 16));
  EXPECT_EQ(pack_.operation(Operation::add_int, 16).rule, "table point");
  EXPECT_EQ(pack_.operation(Operation::add_int, 16).confidence, Confidence::primary);
  EXPECT_EQ(pack_.operation(Operation::add_int, 24).rule, "linear in width");
  EXPECT_EQ(pack_.operation(Operation::add_int, 24).confidence, Confidence::derived);
  EXPECT_EQ(pack_.operation(Operation::add_int, 64).confidence, Confidence::estimate);
  EXPECT_EQ(pack_.operation(Operation::multiply_int, 16).confidence, Confidence::derived);
}

TEST_F(DefaultPack, EveryOperationCostsMoreWhenItIsWider) {
  for (const Operation operation :
       {Operation::add_int, Operation::multiply_int, Operation::shift, Operation::compare,
        Operation::divide_int, Operation::register_write, Operation::table_read}) {
    Range narrower;
    for (unsigned width = 1; width <= 128; ++width) {
      const Range cost = pack_.operation(operation, width).value;
      EXPECT_GT(cost.low, narrower.low) << name_of(operation) << " " << width;
      EXPECT_GT(cost.mid, narrower.mid) << name_of(operation) << " " << width;
      EXPECT_GT(cost.high, narrower.high) << name_of(operation) << " " << width;
      narrower = cost;
    }
  }
}

TEST_F(DefaultPack, EstimatesFollowTheirNotes) {
  EXPECT_NEAR(mid(Operation::register_write, 16), 0.144, 1e-12);
  EXPECT_NEAR(mid(Operation::exp_fp32, 32), 5 * 3.7 + 5 * 0.9 + 0.03, 1e-12);
  EXPECT_NEAR(mid(Operation::divide_fp32, 32), 5 * 3.7 + 2 * 0.9, 1e-12);
  EXPECT_NEAR(mid(Operation::divide_int, 32), 32 * mid(Operation::add_int, 32), 1e-12);
  EXPECT_NEAR(pack_.operation(Operation::divide_int, 32).value.high, 32 * (0.1 + 64 * 0.009),
              1e-12);
  EXPECT_NEAR(mid(Operation::lfsr_leap, 64), 64 * 0.009 + 264 * 0.00057, 1e-12);
  EXPECT_NEAR(mid(Operation::table_read, 16), 2.34 / 4, 1e-12);
  for (const unsigned width : {8U, 16U, 32U}) {
    EXPECT_EQ(mid(Operation::shift, width), mid(Operation::add_int, width));
    EXPECT_EQ(mid(Operation::compare, width), mid(Operation::add_int, width));
  }
}

TEST_F(DefaultPack, OnlyPrintedNumbersArePrimary) {
  const std::set<std::string> unprinted = {
      "operations.shift",       "operations.compare",          "operations.table_read",
      "operations.lfsr_leap",   "operations.divide_int",       "operations.exp_fp32",
      "operations.divide_fp32", "overheads.control_and_clock", "static.logic_leakage"};
  for (const ConstantRow& row : pack_.rows()) {
    if (unprinted.count(row.constant) != 0) {
      EXPECT_EQ(row.confidence, "estimate") << row.constant;
    }
  }
}

TEST_F(DefaultPack, ScratchpadTablePointsAreExact) {
  const std::vector<double> performance = {2.92, 5.29, 9.99, 14.9, 29.0,
                                           33.0, 40.6, 52.0, 67.7, 90.0};
  const std::vector<double> low_power = {2.34, 3.16, 6.03, 7.23, 13.1,
                                         15.5, 20.3, 27.7, 41.8, 49.7};
  for (std::size_t i = 0; i < performance.size(); ++i) {
    const Cost cost = pack_.sram_read(4096ULL << i, 64);
    EXPECT_EQ(cost.value.mid, low_power[i]);
    EXPECT_NEAR(cost.value.low, 0.7 * low_power[i], 1e-9);
    EXPECT_NEAR(cost.value.high, 1.3 * performance[i], 1e-9);
    EXPECT_EQ(cost.confidence, Confidence::primary);
  }
}

TEST_F(DefaultPack, ScratchpadWritesAndPortsAreThePrintedOnes) {
  // High-performance cells are the high end less 30 %.
  const auto write = [&](std::uint64_t bytes) {
    return pack_.sram_write(bytes, 64).value.high / 1.3;
  };
  EXPECT_NEAR(write(8192), 6.5, 1e-4);
  EXPECT_NEAR(write(32768), 12.7, 1e-4);
  EXPECT_NEAR(write(1048576), 55.9, 1e-4);
  const auto read = [&](std::uint64_t bytes, unsigned bits) {
    return pack_.sram_read(bytes, bits).value.high / 1.3;
  };
  EXPECT_NEAR(read(32768, 256), 21.7, 1e-4);
  EXPECT_NEAR(read(32768, 512), 30.7, 1e-4);
  EXPECT_NEAR(read(131072, 256), 56.3, 1e-4);
  EXPECT_NEAR(read(131072, 512), 77.8, 1e-4);
  EXPECT_NEAR(read(1048576, 256), 180.0, 1e-3);
  EXPECT_NEAR(read(1048576, 512), 311.0, 1e-3);
}

TEST_F(DefaultPack, ScratchpadsCostMoreWhenTheyAreLargerOrWider) {
  for (const unsigned port : {8U, 32U, 64U, 100U, 128U, 256U, 384U, 512U}) {
    double smaller = 0.0;
    for (std::uint64_t bytes = 256; bytes <= (16U << 20); bytes += bytes / 16) {
      const Range cost = pack_.sram_read(bytes, port).value;
      EXPECT_GT(cost.mid, smaller) << bytes << " bytes, " << port << " bits";
      EXPECT_LE(cost.low, cost.mid);
      EXPECT_LE(cost.mid, cost.high);
      smaller = cost.mid;
    }
  }
  for (const std::uint64_t bytes : {1024U, 20000U, 65536U, 3U << 20}) {
    double narrower = 0.0;
    for (unsigned port = 8; port <= 512; ++port) {
      const double cost = pack_.sram_read(bytes, port).value.mid;
      EXPECT_GT(cost, narrower) << bytes << " bytes, " << port << " bits";
      narrower = cost;
    }
  }
}

TEST_F(DefaultPack, PortsWiderThanTheTableAreBanks) {
  const Cost wide = pack_.sram_read(131072, 1024);
  EXPECT_EQ(wide.value.mid, 2.0 * pack_.sram_read(65536, 512).value.mid);
  EXPECT_THAT(wide.rule, HasSubstr("2 banks side by side"));
}

TEST_F(DefaultPack, EveryCapacityHasAPrice) {
  const Cost deep = pack_.sram_read(4 * 16777216ULL, 64);
  EXPECT_EQ(deep.value.mid, pack_.sram_read(16777216, 64).value.mid);
  EXPECT_THAT(deep.rule, HasSubstr("one of 4 banks"));
  const Cost tiny = pack_.sram_read(16, 64);
  EXPECT_EQ(tiny.value.mid, pack_.sram_read(256, 64).value.mid);
  EXPECT_THAT(tiny.rule, HasSubstr("priced as the smallest scratchpad"));
  EXPECT_EQ(pack_.sram_leakage(16).value.mid, pack_.sram_leakage(256).value.mid);
}

TEST_F(DefaultPack, ScratchpadLeakageIsTheTable) {
  EXPECT_EQ(pack_.sram_leakage(8192).value.high, 4.3);
  EXPECT_EQ(pack_.sram_leakage(32768).value.high, 16.2);
  EXPECT_EQ(pack_.sram_leakage(1048576).value.high, 470.0);
  EXPECT_NEAR(pack_.sram_leakage(32768).value.mid, 0.162, 1e-12);
  EXPECT_GT(pack_.sram_leakage(65536).value.mid, 0.162);
}

TEST_F(DefaultPack, Hbm2RandomRowsCostThePrintedDigits) {
  const DramCosts& dram = pack_.dram("hbm2");
  EXPECT_EQ(dram.activated_bytes, 1024U);
  EXPECT_EQ(rounded(gather_pj_per_bit(dram, 32)), "7.03");
  EXPECT_EQ(rounded(gather_pj_per_bit(dram, 64)), "5.26");
  EXPECT_EQ(rounded(gather_pj_per_bit(dram, 128)), "4.37");
  EXPECT_EQ(rounded(gather_pj_per_bit(dram, 256)), "3.92");
  EXPECT_EQ(rounded(gather_pj_per_bit(dram, 1024)), "3.59");
}

TEST_F(DefaultPack, RandomRowsOf64Bytes) {
  EXPECT_EQ(rounded(gather_pj_per_bit(pack_.dram("hbm2e"), 64)), "5.96");
  EXPECT_EQ(rounded(gather_pj_per_bit(pack_.dram("hbm3"), 64)), "5.66");
  EXPECT_EQ(rounded(gather_pj_per_bit(pack_.dram("lpddr5-6400"), 64)), "9.07");
  EXPECT_EQ(rounded(gather_pj_per_bit(pack_.dram("horowitz-dram"), 64)), "30.47");
}

// 8192 refreshes cover all rows of the channel that configs/dram describes.
TEST_F(DefaultPack, ARefreshCostsTheRowsThatItRestores) {
  for (const char* kind : {"ddr4-3200", "lpddr5-6400", "hbm2", "hbm2e", "hbm3"}) {
    const config::DramConfig dram = config::load_dram(kind);
    const auto rows = static_cast<double>(dram.banks() * dram.rows_per_bank) / 8192.0;
    const DramCosts& costs = pack_.dram(kind);
    const Range activate = costs.activate.points[0].value;
    const Range refresh = costs.refresh.points[0].value;
    EXPECT_NEAR(refresh.mid, rows * activate.mid, 1e-5 * refresh.mid) << kind;
    EXPECT_NEAR(refresh.low, rows * activate.mid / 2.0, 1e-5 * refresh.mid) << kind;
    EXPECT_NEAR(refresh.high, rows * activate.mid * 1.3, 1e-5 * refresh.mid) << kind;
    EXPECT_EQ(static_cast<std::int64_t>(costs.activated_bytes), dram.row_bytes) << kind;
  }
  EXPECT_EQ(pack_.dram("horowitz-dram").refresh.points[0].value.high, 0.0);
}

TEST_F(DefaultPack, DerivedSplitsGiveTheirTotalsBack) {
  EXPECT_NEAR(gather_pj_per_bit(pack_.dram("ddr4-3200"), 8192), 12.5, 1e-4);
  EXPECT_NEAR(gather_pj_per_bit(pack_.dram("ddr4-3200"), 64), 21.0, 1e-4);
  EXPECT_NEAR(gather_pj_per_bit(pack_.dram("lpddr5-6400"), 2048), 7.0, 1e-4);
  EXPECT_NEAR(gather_pj_per_bit(pack_.dram("hbm2e"), 1024), 4.3, 1e-4);
  EXPECT_NEAR(gather_pj_per_bit(pack_.dram("hbm3"), 1024), 4.0, 1e-4);
  const auto total = [&](const std::string& kind, double Range::*end) {
    const DramCosts& dram = pack_.dram(kind);
    return dram.activate.points[0].value.*end / (8.0 * static_cast<double>(dram.activated_bytes)) +
           dram.read.points[0].value.*end + dram.io.points[0].value.*end;
  };
  EXPECT_NEAR(total("ddr4-3200", &Range::low), 12.0, 1e-4);
  EXPECT_NEAR(total("ddr4-3200", &Range::high), 13.0, 1e-4);
  EXPECT_NEAR(total("lpddr5-6400", &Range::low), 4.0, 1e-4);
  EXPECT_NEAR(total("lpddr5-6400", &Range::high), 20.0, 1e-4);
  EXPECT_NEAR(total("hbm2e", &Range::low), 3.9, 1e-4);
  EXPECT_NEAR(total("hbm2e", &Range::high), 7.03, 1e-4);
  EXPECT_NEAR(total("hbm3", &Range::low), 3.9, 1e-4);
  EXPECT_NEAR(total("hbm3", &Range::high), 9.0, 1e-4);
}

TEST_F(DefaultPack, ImpossiblePricesAreRefused) {
  const auto message = [](auto call) -> std::string {
    try {
      call();
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message([&] { pack_.operation(Operation::add_int, 0); }),
              HasSubstr("operations.add_int: width of 0 bits; allowed: 1 to 1024 bits"));
  EXPECT_THAT(
      message([&] { pack_.operation(Operation::add_fp16, 32); }),
      HasSubstr("operations.add_fp16: width of 32 bits; allowed: the width in the pack only"));
  EXPECT_THAT(message([&] { pack_.operation(Operation::add_int, 8, 16); }),
              HasSubstr("multiply_int and divide_int only"));
  EXPECT_THAT(message([&] { pack_.sram_read(4096, 4); }), HasSubstr("allowed: 8 to 65536 bits"));
  EXPECT_THAT(message([&] { pack_.dram("hbm9"); }),
              HasSubstr("dram: got 'hbm9'; allowed: one of ddr4-3200 hbm2 hbm2e hbm3"));
}

TEST_F(DefaultPack, RowsDescribeEveryConstantCompletely) {
  const std::vector<ConstantRow> rows = pack_.rows();
  EXPECT_GT(rows.size(), 70U);
  std::set<std::string> places;
  for (const ConstantRow& row : rows) {
    EXPECT_TRUE(places.insert(row.constant + row.at).second) << row.constant << row.at;
    for (const std::string* text : {&row.unit, &row.process, &row.supply, &row.source,
                                    &row.confidence, &row.interpolation, &row.note}) {
      EXPECT_FALSE(text->empty()) << row.constant;
    }
  }
}

}  // namespace
}  // namespace santa::energy
