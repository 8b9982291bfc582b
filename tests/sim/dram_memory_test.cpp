// The DRAM model behind its socket: unloaded latency, streams, refusals, counters.
#include "dram_memory.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "memory_port.hpp"
#include "pipeline.hpp"
#include "santa/config/hardware.hpp"
#include "santa/error.hpp"
#include "workload.hpp"

namespace santa::sim {
namespace {

const std::vector<std::string> kPresets = {"ddr4-3200", "lpddr5-6400", "hbm2", "hbm2e", "hbm3"};

// A description whose memory is `channels` channels of a preset.
config::HardwareConfig dram_hardware(const std::string& preset, int channels = 1,
                                     const std::vector<config::Override>& more = {}) {
  const config::DramConfig dram = config::load_dram(preset);
  std::vector<config::Override> overrides = {
      {"memory.model", "dram"},
      {"memory.timing", preset},
      {"memory.kind", preset},
      {"memory.channels", std::to_string(channels)},
      {"memory.channel_gb_per_s", std::to_string(dram.peak_gb_per_s())},
      {"memory.latency_ns", "100"},
      {"memory.access_bytes", std::to_string(dram.burst_bytes)},
      {"memory.row_bytes", std::to_string(dram.row_bytes)},
      {"memory.banks_per_channel", std::to_string(dram.banks())},
      {"memory.max_outstanding", "256"}};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return config::load_hardware("edge-lpddr5", overrides);
}

// A thread that drives a port.
class Driver : public sc_core::sc_module {
 public:
  Driver(const sc_core::sc_module_name& name, std::function<void()> body)
      : sc_core::sc_module(name) {
    sc_core::sc_spawn(std::move(body), sc_core::sc_gen_unique_name("drive"));
  }
};

struct System {
  static Clock make_clock() {
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    return Clock(1000.0);
  }
  config::HardwareConfig hardware;
  Clock clock;
  energy::EnergyMeter meter;
  MemoryPort port;
  DramMemory memory;
  explicit System(config::HardwareConfig description, const DramObserver& observer = nullptr)
      : hardware(std::move(description)),
        clock(make_clock()),
        meter(default_pack(), {config::name_of(hardware.memory.kind), 1, 1000.0}),
        port("port", hardware, clock),
        memory("memory", hardware, meter, observer) {
    port.socket.bind(memory.socket);
  }
  double cycles_ns(std::int64_t cycles) const {
    return static_cast<double>(cycles * hardware.dram->clock_ps) * 1e-3;
  }
  // What precharge, activate and read leave of the description's latency.
  double on_chip_ns() const {
    return hardware.memory.latency_ns - cycles_ns(hardware.dram->closed_read_cycles());
  }
};

// A read of one burst into a closed bank, the open row, and another row of the same bank.
TEST(DramMemory, UnloadedLatencyEqualsTheFormula) {
  for (const std::string& preset : kPresets) {
    in_child(preset, [&] {
      System system(dram_hardware(preset));
      const config::DramConfig& dram = *system.hardware.dram;
      const auto burst = static_cast<std::uint64_t>(dram.burst_bytes);
      const auto bank_bytes =
          static_cast<std::uint64_t>(dram.row_bytes) * static_cast<std::uint64_t>(dram.banks());
      std::vector<double> latency_ns;
      Driver driver("driver", [&] {
        for (const std::uint64_t address : {std::uint64_t{0}, burst, bank_bytes}) {
          // In step with the memory's clock, long after the access before and before a refresh.
          const auto cycle = static_cast<std::int64_t>(1000 * latency_ns.size());
          wait(sc_core::sc_time(system.cycles_ns(cycle), sc_core::SC_NS) -
               sc_core::sc_time_stamp());
          const double start = now_ns();
          system.port.read_and_wait(Stream::kKey, address, burst);
          latency_ns.push_back(now_ns() - start);
        }
      });
      sc_core::sc_start();
      const double rest = system.cycles_ns(dram.cl_cycles + dram.burst_cycles) +
                          system.on_chip_ns() + static_cast<double>(pipeline::kPort);
      const double expected[] = {system.cycles_ns(dram.trcd_read_cycles) + rest, rest,
                                 system.cycles_ns(dram.trp_cycles + dram.trcd_read_cycles) + rest};
      for (std::size_t i = 0; i < 3; ++i) {
        check(std::abs(latency_ns[i] - expected[i]) < 1e-6,
              preset + " " + std::to_string(latency_ns[i]) + " against " +
                  std::to_string(expected[i]));
      }
    });
  }
}

TEST(DramMemory, StreamingReadsReachNineTenthsOfThePeak) {
  for (const std::string& preset : kPresets) {
    in_child(preset, [&] {
      System system(dram_hardware(preset));
      const std::uint64_t bytes = 4 << 20;
      double ns = 0.0;
      Driver driver("driver", [&] {
        system.port.read_and_wait(Stream::kKey, 0, bytes);
        ns = now_ns();
      });
      sc_core::sc_start();
      const double fraction =
          static_cast<double>(bytes) / ns / system.hardware.dram->peak_gb_per_s();
      std::printf("%s: %.4f of the peak\n", preset.c_str(), fraction);
      check(fraction >= 0.9 && fraction <= 1.0, preset + " " + std::to_string(fraction));
    });
  }
}

// All channels at once: a stack of 32 pseudo-channels behind a port of 1024 bytes a cycle.
TEST(DramMemory, StreamsOverManyChannelsReachNineTenths) {
  in_child("server", [] {
    System system(config::load_hardware("server-hbm3", {{"memory.model", "dram"}}));
    const std::uint64_t bytes = 128 << 20;
    double ns = 0.0;
    Driver driver("driver", [&] {
      system.port.read_and_wait(Stream::kKey, 0, bytes);
      ns = now_ns();
    });
    sc_core::sc_start();
    const double fraction = static_cast<double>(bytes) / ns / (32 * 25.6);
    check(fraction >= 0.9 && fraction <= 1.0, std::to_string(fraction));
    const MemoryCounters counters = system.memory.finish(sc_core::sc_time_stamp());
    check_equal(counters.dram->sums.bursts, bytes / 32, "bursts");
    check(binding_limit(counters.dram->sums) == DramLimit::kBus, "limit");
    check(std::abs(counters.busy_fraction - fraction) < 1e-9, "busy fraction");
  });
}

// Every burst is seen in the order of arrival, and the counters and prices add up.
TEST(DramMemory, CountsPricesAndObservesEveryBurst) {
  in_child("counters", [] {
    std::vector<DramAccess> seen;
    System system(dram_hardware("hbm2", 2),
                  [&seen](const DramAccess& access) { seen.push_back(access); });
    Driver driver("driver", [&] {
      system.port.write(Stream::kOutput, 65536, 100, nullptr);
      system.port.read(Stream::kKey, 0, 20000, nullptr);
      wait(sc_core::sc_time(20, sc_core::SC_US));
      system.port.read_and_wait(Stream::kValue, 31, 34);
    });
    sc_core::sc_start();
    const sc_core::sc_time end = sc_core::sc_time_stamp();
    const MemoryCounters counters = system.memory.finish(end);
    const DramSums& sums = counters.dram->sums;
    check_equal(seen.size(), 4U + 625U + 3U, "bursts seen");
    check_equal(sums.bursts, seen.size(), "bursts");
    for (std::size_t i = 0; i < seen.size(); ++i) {
      check(seen[i].is_write == (i < 4) && seen[i].address % 32 == 0, "access");
      check(i == 0 || seen[i].cycle >= seen[i - 1].cycle, "order");
    }
    check_equal(seen.front().address, 65536U, "first");
    check_equal(seen.back().address, 64U, "last");
    check_equal(counters.write_requests, 1U, "writes");
    check_equal(counters.read_requests, 6U, "reads");
    check_equal(sums.refreshes, 2U * 5U, "both channels are refreshed every 3.9 us");
    std::uint64_t time = 0;
    for (const std::uint64_t cycles : sums.time_cycles) time += cycles;
    const double channels_ns = 2.0 * to_ns(end);
    check(std::abs(static_cast<double>(time) - channels_ns) <= 2.0 * 20.0, "time of the buses");
    const energy::EnergyReport report = system.meter.finish(to_ns(end));
    const energy::DramCosts& costs = default_pack().dram("hbm2");
    const auto part = [&](energy::Part which) {
      return report.parts_pj[energy::index_of(which)].mid;
    };
    const auto price = [](const energy::Table& table) { return table.points.front().value.mid; };
    const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-9 * b; };
    using energy::Part;
    check(near(part(Part::dram_activate),
               static_cast<double>(counters.activates) * price(costs.activate)),
          "activates");
    check(near(part(Part::dram_refresh), 10.0 * price(costs.refresh)), "refreshes");
    check(near(part(Part::dram_read), 628 * 32 * 8.0 * price(costs.read)), "reads");
    check(near(part(Part::dram_write), 4 * 32 * 8.0 * price(costs.write)), "writes");
    check(near(part(Part::dram_io), 632 * 32 * 8.0 * price(costs.io)), "interface");
  });
}

// A whole unit on both models of memory: the same values, other times; one request at a time works.
TEST(DramMemory, UnitsComputeTheSameOnIt) {
  const Shape shape{{8, 2, 128, 3000}, {}};
  for (const char* outstanding : {"1", "256"}) {
    in_child(outstanding, [&] {
      const std::string limit = std::string("memory.max_outstanding=") + outstanding;
      const config::HardwareConfig hardware = config::load_hardware("edge-lpddr5");
      const Workload workload =
          make_workload(shape, static_cast<std::uint32_t>(hardware.unit.tile_keys), 11);
      attention::DecodeWorkspace workspace;
      const auto reports =
          simulate_preset("edge-lpddr5", {"memory.model=dram", limit}, shape,
                          {UnitKind::kSampled, UnitKind::kDenseInt8, UnitKind::kTopK});
      for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
        const Job& job = workload.jobs[j];
        const auto golden = attention::decode(*job.cache, job.cache->context, job.request,
                                              shape.options, workspace);
        check(reports.front().outputs[j] == golden.output, "output");
      }
      for (const UnitReport& report : reports) {
        check(report.memory.dram->sums.bursts == report.traffic.total_bytes() / 32, "bursts");
        check(report.memory.peak_outstanding <= std::stod(outstanding), "outstanding");
        check(report.energy.parts_pj[energy::index_of(energy::Part::dram_refresh)].mid > 0.0,
              "refresh energy");
      }
    });
  }
}

TEST(DramMemory, RefusesWorkThatItCannotHold) {
  in_child("capacity", [] {
    std::string message;
    try {
      simulate_preset("tiny-test",
                      {"memory.model=dram", "dram.rows_per_bank=2",
                       "dram.address_map=row:1 bank:2 column:5 group:2 column:2"},
                      {{4, 2, 64, 8000}, {}}, {UnitKind::kSampled});
    } catch (const InputError& error) {
      message = error.what();
    }
    check(message.find("memory.channels: the request needs ") != std::string::npos &&
              message.find("at most 524288, which these channels of this timing hold") !=
                  std::string::npos,
          message);
  });
}

// Every burst of a small memory has a place of its own.
TEST(DramAddressMap, CoversTheMemoryOnce) {
  for (const char* map :
       {"row:2 stack:1 bank:1 column:2 group:2 column:3", "column:5 group:2 bank:1 stack:1 row:2",
        "stack:1 column:1 row:1 group:1 column:4 bank:1 row:1 group:1"}) {
    const config::HardwareConfig hardware = dram_hardware("hbm3", 3,
                                                          {{"dram.rows_per_bank", "4"},
                                                           {"dram.banks_per_group", "2"},
                                                           {"memory.banks_per_channel", "16"},
                                                           {"dram.address_map", map}});
    const DramAddressMap places(hardware);
    EXPECT_EQ(places.capacity_bytes(), 3U * 16 * 4 * 1024);
    std::vector<unsigned> bursts(3 * 16 * 4, 0);
    for (std::uint64_t address = 0; address < places.capacity_bytes(); address += 32) {
      const DramPlace place = places.place(address);
      ASSERT_LT(place.channel, 3U);
      ASSERT_LT(place.bank, 16U);
      ASSERT_LT(place.row, 4U);
      ++bursts[(place.channel * 16 + place.bank) * 4 + place.row];
      const DramPlace first = places.place(address / places.piece_bytes() * places.piece_bytes());
      EXPECT_TRUE(first.channel == place.channel && first.bank == place.bank &&
                  first.row == place.row);
    }
    for (const unsigned count : bursts) EXPECT_EQ(count, 32U) << map;
  }
}

}  // namespace
}  // namespace santa::sim
