// DRAM behind a TLM-2.0 socket: channels with banks, timing constraints, refresh and a scheduler
// each (DramChannel). Takes the place of BandwidthMemory, and another DRAM simulator can take its:
// the protocol is the same.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <functional>
#include <queue>
#include <tlm>
#include <vector>

#include "dram_address.hpp"
#include "dram_channel.hpp"
#include "santa/config/hardware.hpp"
#include "santa/energy/meter.hpp"
#include "santa/sim/simulation.hpp"
#include "timing.hpp"

namespace santa::sim {

// Part of `memory.latency_ns` that is spent outside the DRAM: what precharge, activate and read of
// the timing leave of it. Femtoseconds.
std::uint64_t on_chip_latency_fs(const config::HardwareConfig& hardware);
// From the issue of a read to the first data that any memory of the description can give: of an
// open row with MemoryModel::kDram, `memory.latency_ns` else. Femtoseconds.
std::uint64_t first_data_fs(const config::HardwareConfig& hardware);

// Protocol as BandwidthMemory's: BEGIN_REQ is answered with END_REQ at once while fewer than
// `memory.max_outstanding` requests are in flight, later otherwise; BEGIN_RESP comes when the last
// byte has arrived, and must be answered with TLM_COMPLETED. Timing only: data is not stored.
//
// A request arrives at its channels in the first clock cycle of the DRAM that begins at its issue
// or later, in bursts that belong to the bytes asked for. It is answered when its last data has
// crossed the bus and on_chip_latency_fs() has passed.
class DramMemory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<DramMemory> socket;

  // `observer`, if there is one, sees every burst in the order of arrival.
  DramMemory(const sc_core::sc_module_name& name, const config::HardwareConfig& hardware,
             energy::EnergyMeter& meter, DramObserver observer = nullptr);

  // Counters up to `run`, the end of the simulated time. Books what is left of activates and
  // refreshes: call it once, before EnergyMeter::finish.
  MemoryCounters finish(const sc_core::sc_time& run);

 private:
  struct Request {
    tlm::tlm_generic_payload* payload = nullptr;
    std::uint64_t arrival_fs = 0;
    std::uint64_t data_end_cycle = 0;
    std::uint64_t runs_left = 0;
  };
  struct Response {
    std::uint64_t time_fs = 0;
    std::uint64_t order = 0;  // equal times answer in the order of their last command
    std::uint32_t tag = 0;
    bool operator>(const Response& other) const {
      return time_fs != other.time_fs ? time_fs > other.time_fs : order > other.order;
    }
  };

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  void accept(tlm::tlm_generic_payload& payload, std::uint64_t arrival_fs);
  std::uint32_t take_tag();
  void wake();
  void advance(std::size_t channel, std::uint64_t time_fs);
  void collect();
  void respond();
  void wake_at(std::uint64_t time_fs);
  void count_energy(double time_ns);

  config::MemoryConfig memory_;
  energy::EnergyMeter& meter_;
  energy::Handle activate_;
  energy::Handle refresh_;
  energy::Handle read_byte_;
  energy::Handle write_byte_;
  DramObserver observer_;
  DramAddressMap map_;
  std::vector<DramChannel> channels_;
  std::vector<std::uint64_t> due_fs_;  // by channel: no answer can come of it before
  std::uint64_t clock_fs_;
  std::uint64_t on_chip_fs_;
  std::uint64_t lookahead_fs_;  // from a command to the earliest response it can cause
  std::uint64_t burst_bytes_;
  double peak_gb_per_s_;           // of all channels
  std::vector<Request> requests_;  // by tag
  std::vector<std::uint32_t> free_tags_;
  std::vector<DramCompletion> completions_;  // scratch
  std::priority_queue<Response, std::vector<Response>, std::greater<>> responses_;
  sc_core::sc_event wake_;
  std::uint64_t wake_fs_;                        // when `wake_` is due
  tlm::tlm_generic_payload* stalled_ = nullptr;  // the one request not accepted yet
  std::uint64_t in_flight_ = 0;                  // requests
  std::uint64_t order_ = 0;
  std::uint64_t bytes_moved_ = 0;
  std::uint64_t latency_sum_fs_ = 0;
  std::uint64_t activates_ = 0;  // not priced yet
  std::uint64_t refreshes_ = 0;
  MemoryCounters counters_;
};

}  // namespace santa::sim
