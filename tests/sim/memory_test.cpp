// The memory port and the bandwidth memory, and the seam between them: any TLM-2.0 target works.
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <functional>
#include <vector>

#include "bandwidth_memory.hpp"
#include "memory_port.hpp"
#include "pipeline.hpp"
#include "santa/config/hardware.hpp"
#include "workload.hpp"

namespace santa::sim {
namespace {

config::HardwareConfig test_hardware() {
  return config::load_hardware("edge-lpddr5");
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
  // SystemC's time resolution must be set before its first time value.
  static Clock make_clock() {
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    return Clock(1000.0);
  }
  Clock clock;
  energy::EnergyMeter meter{default_pack(), {"lpddr5-6400", 1, 1000.0}};
  MemoryPort port;
  BandwidthMemory memory;
  explicit System(const config::HardwareConfig& hardware)
      : clock(make_clock()),
        port("port", hardware, clock),
        memory("memory", hardware.memory, meter) {
    port.socket.bind(memory.socket);
  }
};

TEST(BandwidthMemory, UnloadedReadTakesLatencyPlusTransfer) {
  in_child("unloaded", [] {
    System system(test_hardware());
    double ns = 0.0;
    Driver driver("driver", [&] {
      system.port.read_and_wait(Stream::kKey, 0, 32);
      ns = now_ns();
    });
    sc_core::sc_start();
    check(std::abs(ns - (100.0 + 32 / 12.8 + pipeline::kPort)) < 1e-6, std::to_string(ns));
    check_equal(system.memory.counters(sc_core::sc_time_stamp()).activates, 1U, "activates");
  });
}

TEST(BandwidthMemory, StreamReachesPeakAndCountsRows) {
  in_child("stream", [] {
    System system(test_hardware());
    const std::uint64_t bytes = 1 << 20;
    double ns = 0.0;
    Driver driver("driver", [&] {
      system.port.read_and_wait(Stream::kKey, 0, bytes);
      ns = now_ns();
    });
    sc_core::sc_start();
    const double ideal_ns = static_cast<double>(bytes) / (4 * 12.8);
    check(ns >= ideal_ns && ns <= ideal_ns * 1.02 + 100.0, std::to_string(ns / ideal_ns));
    const MemoryCounters counters = system.memory.counters(sc_core::sc_time_stamp());
    check_equal(counters.activates, bytes / 2048, "one activate a row");
    check_equal(counters.read_requests, bytes / 4096, "requests of 4 KiB");
    check_equal(system.port.traffic().key_bytes, bytes, "traffic");
  });
}

TEST(BandwidthMemory, UnalignedReadsMoveWholeAccesses) {
  in_child("unaligned", [] {
    System system(test_hardware());
    Driver driver("driver", [&] { system.port.read_and_wait(Stream::kValue, 31, 34); });
    sc_core::sc_start();
    check_equal(system.port.traffic().value_bytes, 96U, "three accesses of 32 bytes");
  });
}

// A foreign memory: answers in one of the ways the base protocol allows.
class ForeignMemory : public sc_core::sc_module {
 public:
  enum class Style { kCompleted, kResponseOnFirstCall, kLateAccept, kResponseImpliesAccept };
  tlm_utils::simple_target_socket<ForeignMemory> socket;

  ForeignMemory(const sc_core::sc_module_name& name, Style style)
      : sc_core::sc_module(name), socket("socket"), style_(style) {
    socket.register_nb_transport_fw(this, &ForeignMemory::nb_transport_fw);
    sc_core::sc_spawn([this] { serve(); }, sc_core::sc_gen_unique_name("serve"));
  }
  unsigned requests = 0;

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
    ++requests;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (style_ == Style::kCompleted) {
      delay += sc_core::sc_time(50, sc_core::SC_NS);
      return tlm::TLM_COMPLETED;
    }
    if (style_ == Style::kResponseOnFirstCall) {
      delay += sc_core::sc_time(50, sc_core::SC_NS);
      phase = tlm::BEGIN_RESP;
      return tlm::TLM_UPDATED;
    }
    check(pending_ == nullptr, "no request before the last one is accepted");
    pending_ = &payload;
    arrived_.notify();
    return tlm::TLM_ACCEPTED;
  }
  void serve() {
    for (;;) {
      while (pending_ == nullptr) wait(arrived_);
      wait(sc_core::sc_time(20, sc_core::SC_NS));
      tlm::tlm_generic_payload* payload = pending_;
      pending_ = nullptr;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      if (style_ == Style::kLateAccept) {
        tlm::tlm_phase phase = tlm::END_REQ;
        socket->nb_transport_bw(*payload, phase, delay);
        wait(sc_core::sc_time(30, sc_core::SC_NS));
      } else {
        delay = sc_core::sc_time(30, sc_core::SC_NS);  // annotated, not waited for
      }
      tlm::tlm_phase phase = tlm::BEGIN_RESP;
      check(socket->nb_transport_bw(*payload, phase, delay) == tlm::TLM_COMPLETED, "response");
    }
  }
  Style style_;
  tlm::tlm_generic_payload* pending_ = nullptr;
  sc_core::sc_event arrived_;
};

TEST(MemoryPort, WorksWithEveryStyleOfTarget) {
  using Style = ForeignMemory::Style;
  for (const Style style : {Style::kCompleted, Style::kResponseOnFirstCall, Style::kLateAccept,
                            Style::kResponseImpliesAccept}) {
    in_child("style " + std::to_string(static_cast<int>(style)), [&] {
      sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
      const Clock clock(1000.0);
      MemoryPort port("port", test_hardware(), clock);
      ForeignMemory memory("memory", style);
      port.socket.bind(memory.socket);
      unsigned finished = 0;
      double last_ns = 0.0;
      Driver driver("driver", [&] {
        for (std::uint64_t i = 0; i < 10; ++i) {
          port.read(Stream::kKey, i * 8192, 8192, [&] { ++finished; });
        }
        port.read_and_wait(Stream::kValue, 0, 64);
        last_ns = now_ns();
      });
      sc_core::sc_start();
      check_equal(finished, 10U, "transfers");
      check_equal(memory.requests, 21U, "requests");
      check(last_ns >= 50.0, "at least one latency");
    });
  }
}

// A memory that answers after 50 ns leaves the port as the bottleneck: every word of a direction
// takes a cycle, and the directions do not disturb one another.
TEST(MemoryPort, WordsCrossOneACycle) {
  in_child("words", [] {
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    const Clock clock(1000.0);
    config::HardwareConfig hardware = test_hardware();
    hardware.unit.port_bytes = 16;
    hardware.memory.latency_ns = 20.0;
    MemoryPort port("port", hardware, clock);
    ForeignMemory memory("memory", ForeignMemory::Style::kCompleted);
    port.socket.bind(memory.socket);
    std::vector<double> reads;
    std::vector<double> writes;
    Driver driver("driver", [&] {
      port.read(Stream::kKey, 0, 4096, [&] { reads.push_back(now_ns()); });
      port.write(Stream::kOutput, 0, 2048, [&] { writes.push_back(now_ns()); });
      port.read(Stream::kKey, 4096, 4096, [&] { reads.push_back(now_ns()); });
      port.read(Stream::kValue, 15, 2, [&] { reads.push_back(now_ns()); });
      wait(sc_core::sc_time(1000, sc_core::SC_NS));
      port.read(Stream::kValue, 0, 64, [&] { reads.push_back(now_ns()); });
      port.write(Stream::kOutput, 0, 64, [&] { writes.push_back(now_ns()); });
    });
    sc_core::sc_start();
    // Issued a cycle apart, of one time the write first. Reads: 256 words from 21 ns on, 256, then
    // 2 words for the 2 bytes; each two cycles later behind the registers of the port.
    const std::vector<double> expected_reads = {279.0, 535.0, 537.0, 1053.0};
    // Writes: 128 words from the issue on; 4 words that the memory answers later.
    const std::vector<double> expected_writes = {130.0, 1052.0};
    check(reads == expected_reads, "reads");
    check(writes == expected_writes, "writes");
  });
}

}  // namespace
}  // namespace santa::sim
