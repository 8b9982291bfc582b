// The DRAM model behind its socket: unloaded latency, streams, refusals, counters.
#include "dram_memory.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "memory_port.hpp"
#include "pipeline.hpp"
#include "santa/config/hardware.hpp"
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
      const std::uint64_t bytes = 1 << 20;
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

}  // namespace
}  // namespace santa::sim
