// Cycles: bounds that hold by construction, counters that add up, spans that do not overlap.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "pipeline.hpp"
#include "santa/config/hardware.hpp"
#include "workload.hpp"

namespace santa::sim {
namespace {

const std::vector<UnitKind> kAllUnits = {UnitKind::kSampled, UnitKind::kDenseInt8,
                                         UnitKind::kDenseFp16, UnitKind::kTopK};

TEST(Timing, LatencyIsAboveTheMemoryAndTheComputeBound) {
  for (const char* preset : {"edge-lpddr5", "server-hbm3", "tiny-test"}) {
    in_child(preset, [&] {
      const bool tiny = std::string(preset) == "tiny-test";
      const Shape shape{{4, 2, tiny ? 16U : 128U, 5000}, {}};
      const config::HardwareConfig hardware = config::load_hardware(preset);
      const double bytes_per_ns =
          static_cast<double>(hardware.memory.channels) * hardware.memory.channel_gb_per_s;
      for (const UnitReport& report : simulate_preset(preset, {}, shape, kAllUnits)) {
        const std::string name = to_string(report.kind);
        const double memory_ns = static_cast<double>(report.traffic.total_bytes()) / bytes_per_ns;
        check(report.latency_ns >= memory_ns, name + " memory bound");
        check(report.memory.busy_fraction <= 1.0, name + " busy fraction");
        check(report.memory.mean_latency_ns >= hardware.memory.latency_ns, name + " latency");
        for (const BlockCounters& block : report.blocks) {
          check(block.busy_cycles + block.starved_cycles + block.blocked_cycles <=
                    report.latency_cycles,
                name + " " + block.block);
        }
        check(report.latency_cycles >=
                  static_cast<std::uint64_t>(report.latency_ns * hardware.clock_mhz * 1e-3 - 1),
              name + " cycles");
      }
    });
  }
}

// A long exact-score stream on a memory-bound design keeps the memory busy.
TEST(Timing, KeyStreamKeepsTheMemoryBusy) {
  in_child("edge", [] {
    const Shape shape{{16, 4, 128, 8192}, {}};
    // The top-k unit is left out: nothing overlaps the selection of its last request.
    for (const UnitReport& report :
         simulate_preset("edge-lpddr5", {}, shape,
                         {UnitKind::kSampled, UnitKind::kDenseInt8, UnitKind::kDenseFp16})) {
      check(report.memory.busy_fraction > 0.95,
            to_string(report.kind) + " " + std::to_string(report.memory.busy_fraction));
    }
  });
}

// One request at a time: latency plus transfer for each 4 KiB burst and nothing in parallel.
TEST(Timing, OneOutstandingRequestSerialises) {
  in_child("one outstanding", [] {
    const Shape shape{{1, 1, 128, 4096}, {}};
    const auto report =
        simulate_preset("edge-lpddr5", {"memory.max_outstanding=1"}, shape, {UnitKind::kDenseInt8})
            .front();
    const config::HardwareConfig hardware = config::load_hardware("edge-lpddr5");
    const double bursts = 2.0 * 4096 * 128 / 4096;
    const double burst_ns = 4096 / (4 * 12.8) + hardware.memory.latency_ns;
    check(report.latency_ns >= bursts * burst_ns, "lower bound");
    check(report.latency_ns <= bursts * burst_ns * 1.02, "upper bound");
    check_equal(report.memory.peak_outstanding, 1.0, "outstanding");
  });
}

// The dependencies of one short request, added up by hand: nothing overlaps when there is one tile.
TEST(Timing, UnloadedLatencyEqualsTheFormula) {
  in_child("one tile", [] {
    Shape shape{{1, 1, 128, 128}, {}};
    shape.options.samples = 1;
    const auto report =
        simulate_preset("edge-lpddr5", {}, shape, {UnitKind::kSampled}, true).front();
    const double latency = 100.0;
    const auto transfer = [](double bytes) { return bytes / 12.8; };  // on its busiest channel
    std::map<std::string, double> busy;
    for (const BlockCounters& block : report.blocks) {
      busy[block.block] = static_cast<double>(block.busy_cycles);
    }
    // Cycles are nanoseconds here. Descriptor 256 B on one channel; query 512 B on 2 of 4 channels,
    // which is encoded while it arrives; a tile of 16 KiB evenly on all, in requests issued a cycle
    // apart that the channels serve back to back: its last two are answered at the same time, so
    // the 256 B of the last cross the port 4 cycles later. The gather keeps up with it and ends
    // with the passes of the last word. A row of 128 B; an output of 256 B.
    const auto access = [&](double bytes) { return latency + transfer(bytes) + pipeline::kPort; };
    const double arriving = std::ceil(512 / 51.2);
    const double last_word = std::ceil(busy["ternary_gather"] / (16384.0 / 64));
    const double expected =
        pipeline::kSubmit + access(256) + pipeline::kDescriptor + access(256) + pipeline::kEncode +
        (busy["query_encoder"] - arriving) + pipeline::kKeys + access(16384.0 / 4) + 256.0 / 64 +
        pipeline::kKeyFifo + last_word + pipeline::kScores + busy["weight_unit"] +
        pipeline::kWeighed + pipeline::kTotal + pipeline::kWalk + pipeline::kEnter +
        busy["systematic_sampler"] + access(128) + pipeline::kRow + busy["value_gather"] +
        pipeline::kNormalize + busy["normalizer"] + access(256) + pipeline::kComplete;
    check(std::abs(report.latency_ns - expected) < 1e-3,
          std::to_string(report.latency_ns) + " against " + std::to_string(expected));
    check_equal(busy["weight_unit"], 2.0 * 128 / 4 + pipeline::kWeigh, "weight unit");
    check_equal(busy["query_encoder"], 128.0, "encoder");
    check_equal(busy["normalizer"], 128.0 / 16, "normalizer");
  });
}

// Four operands a cycle: eight heads take two cycles a feature, one to four heads one.
TEST(Timing, EncoderTakesFourOperandsACycle) {
  for (const std::uint32_t group : {1U, 4U, 5U, 8U}) {
    in_child("group of " + std::to_string(group), [&] {
      const Shape shape{{group, 1, 64, 300}, {}};
      const auto report = simulate_preset("edge-lpddr5", {}, shape, {UnitKind::kSampled}).front();
      check(report.blocks.front().block == "query_encoder", "block");
      check_equal(report.blocks.front().busy_cycles, 64U * (group > 4 ? 2U : 1U), "cycles");
    });
  }
}

TEST(Timing, WeightsThatDoNotFitTheStashGoToMemory) {
  in_child("spill", [] {
    Shape shape{{4, 1, 128, 4096}, {}};
    const auto report =
        simulate_preset("edge-lpddr5", {"unit.stash_kib=16"}, shape, {UnitKind::kSampled}).front();
    // A half of 8 KiB holds 8 tiles of 128 keys x 4 heads x 2 bytes; 24 of 32 are spilled: written
    // with 64 bytes of statistics each, the statistics read back for the total and for the walk,
    // and scanned tiles read back.
    const std::uint64_t tile_bytes = 128 * 4 * 2;
    check(report.traffic.stash_bytes >= 24 * (tile_bytes + 3 * 64), "lower bound");
    check(report.traffic.stash_bytes <= 24 * (2 * tile_bytes + 3 * 64), "upper bound");
    const std::uint64_t written_and_statistics = 24 * (tile_bytes + 3 * 64);
    check_equal((report.traffic.stash_bytes - written_and_statistics) % tile_bytes, 0U,
                "whole tiles read back");
  });
  in_child("fits", [] {
    Shape shape{{4, 1, 128, 4096}, {}};
    check_equal(
        simulate_preset("edge-lpddr5", {}, shape, {UnitKind::kSampled}).front().traffic.stash_bytes,
        0U, "stash bytes");
  });
}

TEST(Timing, SpansOfABlockDoNotOverlapAndAddUpToBusyCycles) {
  in_child("spans", [] {
    const Shape shape{{8, 2, 64, 2000}, {}};
    for (const UnitReport& report : simulate_preset("edge-lpddr5", {}, shape, kAllUnits, true)) {
      std::vector<double> end(report.blocks.size(), 0.0);
      std::vector<double> busy_ns(report.blocks.size(), 0.0);
      for (const Span& span : report.spans) {
        check(span.start_ns >= end[span.block] && span.end_ns > span.start_ns &&
                  span.end_ns <= report.latency_ns,
              to_string(report.kind) + " " + span.name);
        end[span.block] = span.end_ns;
        busy_ns[span.block] += span.end_ns - span.start_ns;
      }
      for (std::size_t b = 0; b < report.blocks.size(); ++b) {
        check(std::abs(busy_ns[b] - static_cast<double>(report.blocks[b].busy_cycles)) < 1e-3,
              report.blocks[b].block + " busy");
      }
    }
  });
}

// More lanes, more bandwidth or less latency never slow a run down by more than scheduling noise.
TEST(Timing, FasterHardwareIsNotSlower) {
  const Shape shape{{8, 2, 128, 4000}, {}};
  std::map<std::string, double> latency_ns;
  for (const char* change :
       {"unit.digit_lanes=1", "unit.digit_lanes=2", "unit.digit_lanes=4",
        "memory.channel_gb_per_s=6.4", "memory.channel_gb_per_s=25.6", "memory.latency_ns=400"}) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    in_child(change, [&] {
      const double ns =
          simulate_preset("edge-lpddr5", {change}, shape, {UnitKind::kSampled}).front().latency_ns;
      check(write(ends[1], &ns, sizeof ns) == static_cast<ssize_t>(sizeof ns), "pipe");
    });
    double ns = 0.0;
    ASSERT_EQ(read(ends[0], &ns, sizeof ns), static_cast<ssize_t>(sizeof ns));
    close(ends[0]);
    close(ends[1]);
    latency_ns[change] = ns;
  }
  EXPECT_GT(latency_ns["unit.digit_lanes=1"], latency_ns["unit.digit_lanes=2"]);
  EXPECT_GE(latency_ns["unit.digit_lanes=2"] * 1.001, latency_ns["unit.digit_lanes=4"]);
  EXPECT_GT(latency_ns["memory.channel_gb_per_s=6.4"], latency_ns["unit.digit_lanes=2"]);
  EXPECT_GT(latency_ns["unit.digit_lanes=2"], latency_ns["memory.channel_gb_per_s=25.6"]);
  EXPECT_GT(latency_ns["memory.latency_ns=400"], latency_ns["unit.digit_lanes=2"]);
}

// Cycles of the sampled unit and its blocks, simulated in a process of its own beside `others`.
std::vector<std::uint64_t> sampled_cycles(const std::vector<std::string>& overrides,
                                          const Shape& shape, std::vector<UnitKind> others) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  in_child("cycles", [&] {
    others.insert(others.begin(), UnitKind::kSampled);
    const UnitReport report = simulate_preset("edge-lpddr5", overrides, shape, others).front();
    std::vector<std::uint64_t> cycles{report.latency_cycles};
    for (const BlockCounters& block : report.blocks) {
      cycles.insert(cycles.end(), {block.busy_cycles, block.starved_cycles, block.blocked_cycles});
    }
    const auto bytes = static_cast<ssize_t>(cycles.size() * sizeof cycles[0]);
    check_equal(write(ends[1], cycles.data(), static_cast<std::size_t>(bytes)), bytes, "written");
  });
  close(ends[1]);
  std::vector<std::uint64_t> cycles(1);
  while (read(ends[0], &cycles.back(), sizeof cycles[0]) > 0) cycles.emplace_back();
  close(ends[0]);
  return cycles;
}

// Processes that run at one time run in an order that depends on all events of a simulation.
TEST(Timing, DoesNotDependOnWhatElseIsSimulated) {
  Shape shape{{3, 3, 64, 283}, {}};
  for (const char* placement : {"interleaved", "keys-values"}) {
    for (const char* latency : {"10", "100", "150"}) {
      const std::vector<std::string> overrides = {"system.units=3",
                                                  "system.placement=" + std::string(placement),
                                                  "memory.latency_ns=" + std::string(latency)};
      EXPECT_EQ(sampled_cycles(overrides, shape, {}),
                sampled_cycles(overrides, shape, {UnitKind::kDenseInt8, UnitKind::kTopK}))
          << placement << ", " << latency << " ns";
    }
  }
}

}  // namespace
}  // namespace santa::sim
