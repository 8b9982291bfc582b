// One DRAM channel alone: bandwidth of streams and gathers, what limits them, fairness, refresh.
#include "dram_channel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "santa/config/dram.hpp"

namespace santa::sim {
namespace {

constexpr std::uint64_t kForever = 1U << 30;

class Channel {
 public:
  explicit Channel(const config::DramConfig& dram) : dram_(dram), channel_(dram) {}

  void push(const DramRun& run, std::uint64_t cycle = 0) { channel_.push(run, cycle); }
  // Cycle in which the last data has crossed.
  std::uint64_t finish() {
    channel_.advance(kForever, completions_);
    std::uint64_t end = 0;
    for (const DramCompletion& completion : completions_) {
      end = std::max(end, completion.data_end_cycle);
    }
    return end;
  }
  const DramSums& sums() const { return channel_.sums(); }
  const std::vector<DramCompletion>& completions() const { return completions_; }

 private:
  config::DramConfig dram_;
  DramChannel channel_;
  std::vector<DramCompletion> completions_;
};

// Fraction of the peak that `rows` random rows of `bytes` each reach.
double gather_fraction(const config::DramConfig& dram, std::uint64_t bytes, unsigned rows,
                       DramSums* sums = nullptr) {
  Channel channel(dram);
  std::mt19937_64 random(7);
  const auto bursts =
      static_cast<std::uint32_t>(bytes / static_cast<std::uint64_t>(dram.burst_bytes));
  for (unsigned i = 0; i < rows; ++i) {
    const auto bank =
        static_cast<std::uint32_t>(random() % static_cast<std::uint64_t>(dram.banks()));
    const auto row =
        static_cast<std::uint32_t>(random() % static_cast<std::uint64_t>(dram.rows_per_bank));
    channel.push({bank, row, bursts, i, false});
  }
  const auto cycles = static_cast<double>(channel.finish());
  EXPECT_EQ(channel.completions().size(), rows);
  if (sums != nullptr) *sums = channel.sums();
  return static_cast<double>(rows) * bursts * static_cast<double>(dram.burst_cycles) / cycles;
}

// The bytes of a row at which activates and the data bus take the same time: measured as the time
// of an activate in a gather of single bursts times the bandwidth of a gather of 256-byte rows.
double measured_knee(const config::DramConfig& dram) {
  const auto burst = static_cast<std::uint64_t>(dram.burst_bytes);
  return static_cast<double>(burst) * gather_fraction(dram, 256, 20000) /
         gather_fraction(dram, burst, 40000);
}

double formula_knee(const config::DramConfig& dram) {
  const double cycles = std::max(
      {static_cast<double>(dram.tfaw_cycles) / 4.0, static_cast<double>(dram.trrd_s_cycles),
       static_cast<double>(dram.trc_cycles) / static_cast<double>(dram.banks())});
  return cycles * static_cast<double>(dram.clock_ps) * 1e-3 * dram.peak_gb_per_s();
}

TEST(DramChannel, RandomGathersShowTheKnee) {
  // Of docs/dram.md. For HBM2E the published 45 bytes are those of 16 banks; its set has 32.
  const std::map<std::string, double> knees = {
      {"ddr4-3200", 136.0}, {"lpddr5-6400", 64.0}, {"hbm2", 64.0}, {"hbm2e", 36.0}, {"hbm3", 96.0}};
  for (const auto& [preset, expected] : knees) {
    const config::DramConfig dram = config::load_dram(preset);
    EXPECT_NEAR(formula_knee(dram), expected, 0.01 * expected) << preset;
    const double knee = measured_knee(dram);
    std::printf("%-12s knee %.1f B, formula %.1f B\n", preset.c_str(), knee, expected);
    EXPECT_NEAR(knee, expected, 0.1 * expected) << preset;
  }
  // Only a long window finds work for every bank at every time.
  const config::DramConfig sixteen =
      config::load_dram("hbm2e", {{"bank_groups", "4"},
                                  {"address_map", "row:15 bank:2 column:2 group:2 column:3"},
                                  {"window_bursts", "256"}});
  EXPECT_NEAR(formula_knee(sixteen), 45.0, 0.5);
  EXPECT_NEAR(measured_knee(sixteen), 45.0, 4.5);
}

TEST(DramChannel, GathersNameTheirLimit) {
  struct Case {
    const char* preset;
    std::vector<config::Override> changes;
    std::uint64_t bytes;
    DramLimit limit;
  };
  const Case cases[] = {
      {"ddr4-3200", {}, 64, DramLimit::kFaw},
      {"hbm2", {}, 32, DramLimit::kRrd},
      {"hbm2", {{"tfaw_cycles", "30"}}, 32, DramLimit::kFaw},
      {"hbm3", {}, 32, DramLimit::kFaw},
      {"hbm2", {{"trc_cycles", "160"}}, 32, DramLimit::kRowCycle},
      {"hbm3", {}, 256, DramLimit::kBus},
      {"hbm2", {{"trfc_cycles", "3000"}}, 256, DramLimit::kRefresh},
  };
  for (const Case& each : cases) {
    DramSums sums;
    gather_fraction(config::load_dram(each.preset, each.changes), each.bytes, 20000, &sums);
    EXPECT_EQ(kDramLimitNames[index_of(binding_limit(sums))], kDramLimitNames[index_of(each.limit)])
        << each.preset << " " << each.bytes;
  }
}

// Random rows on a channel of HBM2 that is not divided into pseudo-channels: what DRAMsim3 gives
// with its HBM2 preset, for two values of tFAW.
TEST(DramChannel, AgreesWithDramsim3OnRandomRows) {
  struct Point {
    const char* tfaw;
    std::uint64_t bytes;
    double dramsim3;
  };
  const Point points[] = {{"30", 64, 0.246},  {"30", 128, 0.492}, {"30", 256, 0.917},
                          {"30", 512, 0.919}, {"15", 64, 0.457},  {"15", 128, 0.892},
                          {"15", 256, 0.918}};
  for (const Point& point : points) {
    const config::DramConfig dram = config::load_dram("hbm2", {{"burst_bytes", "64"},
                                                               {"row_bytes", "2048"},
                                                               {"trfc_cycles", "260"},
                                                               {"tfaw_cycles", point.tfaw}});
    EXPECT_NEAR(gather_fraction(dram, point.bytes, 20000), point.dramsim3, 0.02 * point.dramsim3)
        << point.tfaw << " " << point.bytes;
  }
}

// One bank, another row each time.
TEST(DramChannel, ABankTakesTrcForARow) {
  const config::DramConfig dram = config::load_dram("hbm3", {{"trefi_cycles", "0"}});
  Channel channel(dram);
  for (std::uint32_t row = 0; row < 100; ++row) channel.push({0, row, 1, row, false});
  EXPECT_EQ(channel.finish(),
            static_cast<std::uint64_t>(99 * dram.trc_cycles + dram.trcd_read_cycles +
                                       dram.cl_cycles + dram.burst_cycles));
  EXPECT_EQ(channel.sums().activates, 100U);
  EXPECT_EQ(channel.sums().limited_bursts[index_of(DramLimit::kRowCycle)], 99U);
}

// A row of one bank: bursts of one bank group follow one another every tCCD_L.
TEST(DramChannel, ARowOfOneBankTakesTccdLForABurst) {
  const config::DramConfig dram = config::load_dram("ddr4-3200");
  Channel channel(dram);
  channel.push({0, 0, 100, 0, false});
  EXPECT_EQ(channel.finish(),
            static_cast<std::uint64_t>(99 * dram.tccd_l_cycles + dram.trcd_read_cycles +
                                       dram.cl_cycles + dram.burst_cycles));
  EXPECT_EQ(channel.sums().limited_bursts[index_of(DramLimit::kBankGroup)], 99U);
  EXPECT_EQ(channel.sums().limited_bursts[index_of(DramLimit::kLatency)], 1U);
}

// A write, then a read of the same row: data of the read follows that of the write after tWTR_L and
// CL; and the other way round two cycles lie between the data of both.
TEST(DramChannel, TheBusTurnsRound) {
  const config::DramConfig dram = config::load_dram("lpddr5-6400", {{"trefi_cycles", "0"}});
  const auto latency = [&](bool write_first) {
    Channel channel(dram);
    channel.push({0, 0, 1, 0, write_first});
    channel.push({0, 0, 1, 1, !write_first});
    const std::uint64_t end = channel.finish();
    EXPECT_EQ(channel.sums().limited_bursts[index_of(DramLimit::kTurnaround)], 1U);
    return static_cast<std::int64_t>(end - channel.completions().front().data_end_cycle);
  };
  EXPECT_EQ(latency(true), dram.twtr_l_cycles + dram.cl_cycles + dram.burst_cycles);
  EXPECT_EQ(latency(false), 2 + dram.burst_cycles);
}

// The window lets a burst for an open row pass one that needs another row, and the next row of the
// first bank waits until nobody wants the open one.
TEST(DramChannel, TheFirstReadyBurstGoesFirst) {
  for (const bool wide : {true, false}) {
    const config::DramConfig dram =
        config::load_dram("hbm2", {{"window_bursts", wide ? "64" : "1"}});
    Channel channel(dram);
    channel.push({0, 0, 1, 0, false});
    channel.push({0, 1, 1, 1, false});
    channel.push({0, 0, 1, 2, false});
    channel.finish();
    std::vector<std::uint32_t> order;
    for (const DramCompletion& completion : channel.completions()) order.push_back(completion.tag);
    EXPECT_EQ(order,
              wide ? (std::vector<std::uint32_t>{0, 2, 1}) : (std::vector<std::uint32_t>{0, 1, 2}));
    EXPECT_EQ(channel.sums().activates, wide ? 2U : 3U);
    EXPECT_EQ(channel.sums().row_hits, wide ? 1U : 0U);
  }
}

// An endless stream of hits in one bank does not starve a burst for another row of it.
TEST(DramChannel, NobodyIsOvertakenForEver) {
  const config::DramConfig dram = config::load_dram("hbm2", {{"trefi_cycles", "0"}});
  Channel channel(dram);
  channel.push({0, 0, 1, 0, false});
  channel.push({0, 1, 1, 1, false});
  for (std::uint32_t i = 2; i < 2000; ++i) channel.push({0, 0, 1, i, false});
  channel.finish();
  std::size_t place = 0;
  while (channel.completions()[place].tag != 1) ++place;
  EXPECT_GT(place, 64U);
  EXPECT_LE(place, 4U * 64 + 2);
}

// Idle channels refresh on time, busy ones postpone, and the count never falls behind.
TEST(DramChannel, RefreshesKeepTheirPace) {
  for (const char* postponed : {"0", "1", "8"}) {
    const config::DramConfig dram = config::load_dram("hbm3", {{"refresh_postponed", postponed}});
    DramChannel channel(dram);
    std::vector<DramCompletion> completions;
    const auto trefi = static_cast<std::uint64_t>(dram.trefi_cycles);
    channel.advance(100 * trefi, completions);
    EXPECT_EQ(channel.sums().refreshes, 100U);
    // A second of work that takes about as long as 50 intervals.
    for (std::uint32_t i = 0; i < 50 * trefi / 2 / 8; ++i) {
      channel.push({(i % 8) * 4, i / 128, 8, i, false}, 100 * trefi + 1);
    }
    for (std::uint64_t n = 101; n < 150; ++n) {
      channel.advance(n * trefi, completions);
      // Where the channel is: it goes on while arrivals wait.
      std::uint64_t cycle = n * trefi;
      for (const DramCompletion& each : completions) cycle = std::max(cycle, each.data_end_cycle);
      EXPECT_LE(channel.sums().refreshes, cycle / trefi);
      EXPECT_GE(channel.sums().refreshes + static_cast<std::uint64_t>(dram.refresh_postponed),
                n - 1);
    }
    channel.advance(400 * trefi, completions);
    EXPECT_EQ(channel.sums().refreshes, 400U);
    EXPECT_EQ(completions.size(), 50 * trefi / 2 / 8);
  }
}

// All of the bus's time is accounted for, and every burst has one limit.
TEST(DramChannel, TimeAndBurstsAddUp) {
  for (const char* preset : {"ddr4-3200", "lpddr5-6400", "hbm2", "hbm2e", "hbm3"}) {
    const config::DramConfig dram = config::load_dram(preset);
    Channel channel(dram);
    std::mt19937_64 random(3);
    std::uint64_t cycle = 0;
    for (std::uint32_t i = 0; i < 5000; ++i) {
      cycle += random() % 40 == 0 ? 2000 : random() % 20;
      channel.push(
          {static_cast<std::uint32_t>(random() % 16), static_cast<std::uint32_t>(random() % 3),
           static_cast<std::uint32_t>(1 + random() % 8), i, random() % 4 == 0},
          cycle);
    }
    const std::uint64_t end = channel.finish();
    std::uint64_t time = 0;
    std::uint64_t bursts = 0;
    for (std::size_t i = 0; i < kDramLimitCount; ++i) {
      time += channel.sums().time_cycles[i];
      bursts += channel.sums().limited_bursts[i];
    }
    EXPECT_EQ(time, end) << preset;
    EXPECT_EQ(bursts, channel.sums().bursts) << preset;
    EXPECT_EQ(channel.completions().size(), 5000U);
    EXPECT_GT(channel.sums().time_cycles[index_of(DramLimit::kTurnaround)], 0U);
    EXPECT_GT(channel.sums().time_cycles[index_of(DramLimit::kNoRequest)], 0U);
  }
}

// The same bursts give the same times and counts however often somebody looks: cycle by cycle, the
// channel issues one burst at a time, else it takes what it can at once.
TEST(DramChannel, StepsDoNotChangeTheResult) {
  struct Load {
    unsigned banks;
    unsigned rows;
    unsigned writes_in_sixteen;
    unsigned pause;
  };
  const Load loads[] = {{32, 4, 2, 12}, {16, 2, 0, 4}, {4, 1, 8, 20}, {0, 0, 0, 1}, {0, 0, 1, 30}};
  for (const char* preset : {"ddr4-3200", "lpddr5-6400", "hbm2", "hbm2e", "hbm3"}) {
    for (const char* window : {"5", "64"}) {
      const config::DramConfig dram = config::load_dram(preset, {{"window_bursts", window}});
      for (const Load& load : loads) {
        const auto run = [&](std::uint64_t step) {
          DramChannel channel(dram);
          std::vector<DramCompletion> completions;
          std::mt19937_64 random(5);
          const auto below = [&](std::uint64_t end) {
            return static_cast<std::uint32_t>(end == 0 ? 0 : random() % end);
          };
          std::uint64_t now = 0;
          std::uint64_t cycle = 0;
          for (std::uint32_t i = 0; i < 1500; ++i) {
            cycle += below(load.pause);
            for (; step > 0 && now + step < cycle; now += step) channel.advance(now, completions);
            DramRun each{below(std::min<std::uint64_t>(load.banks, channel.banks())),
                         below(load.rows), 1 + below(8), i, below(16) < load.writes_in_sixteen};
            // A stream that goes round the bank groups.
            if (load.banks == 0) {
              each.bank = i * static_cast<std::uint32_t>(dram.banks_per_group) %
                          static_cast<std::uint32_t>(dram.banks());
              each.row = i / 256;
              each.bursts = 8;
            }
            channel.push(each, cycle);
          }
          const std::uint64_t end = cycle + 200000;
          for (; step > 0 && now < end; now += step) channel.advance(now, completions);
          channel.advance(end, completions);
          std::vector<std::uint64_t> result(1500);
          for (const DramCompletion& each : completions) {
            result[each.tag] = each.data_end_cycle;
          }
          const DramSums& sums = channel.sums();
          result.insert(result.end(), {sums.bursts, sums.activates, sums.precharges, sums.refreshes,
                                       sums.row_hits});
          result.insert(result.end(), sums.limited_bursts.begin(), sums.limited_bursts.end());
          result.insert(result.end(), sums.time_cycles.begin(), sums.time_cycles.end());
          return result;
        };
        const std::vector<std::uint64_t> expected = run(0);
        for (const std::uint64_t step : {1U, 3U, 100U}) {
          EXPECT_EQ(run(step), expected) << preset << " " << window << " " << load.banks << " "
                                         << load.pause << ", step " << step;
        }
      }
    }
  }
}

}  // namespace
}  // namespace santa::sim
