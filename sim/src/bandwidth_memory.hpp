// Memory behind a TLM-2.0 socket, approximately timed: bandwidth per channel, latency, a limit on
// requests in flight, and open rows for the count of activates. Row misses cost energy here, no
// time: a detailed DRAM model takes this one's place behind the same socket.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <deque>
#include <queue>
#include <tlm>
#include <vector>

#include "santa/config/hardware.hpp"
#include "santa/energy/meter.hpp"
#include "santa/sim/simulation.hpp"
#include "timing.hpp"

namespace santa::sim {

// Protocol: base protocol with two phases visible to the initiator. BEGIN_REQ is answered with
// END_REQ at once while requests in flight stay below the limit, later otherwise; BEGIN_RESP comes
// when the last byte has arrived and must be answered with TLM_COMPLETED. Timing only: the
// payload's data pointer is not used.
class BandwidthMemory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<BandwidthMemory> socket;

  BandwidthMemory(const sc_core::sc_module_name& name, const config::MemoryConfig& memory,
                  energy::EnergyMeter& meter);

  // Counters up to now; `busy_fraction` is of the peak bandwidth over `run`.
  MemoryCounters counters(const sc_core::sc_time& run) const;

 private:
  struct Response {
    std::uint64_t time_fs = 0;
    std::uint64_t order = 0;  // equal times answer in the order of acceptance
    tlm::tlm_generic_payload* payload = nullptr;
    bool operator>(const Response& other) const {
      return time_fs != other.time_fs ? time_fs > other.time_fs : order > other.order;
    }
  };

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  void respond();
  std::uint64_t accesses_of(const tlm::tlm_generic_payload& payload) const;
  bool has_room() const;
  void accept(tlm::tlm_generic_payload& payload, std::uint64_t arrival_fs);
  // Books one run inside one channel and row; returns when its data is out.
  std::uint64_t serve(std::uint64_t address, std::uint64_t bytes, std::uint64_t arrival_fs);

  config::MemoryConfig memory_;
  energy::EnergyMeter& meter_;
  energy::Handle activate_;
  energy::Handle read_byte_;
  energy::Handle write_byte_;
  std::uint64_t fs_per_kibibyte_;  // of one channel
  std::uint64_t latency_fs_;
  unsigned interleave_log2_;
  unsigned row_log2_;
  unsigned banks_log2_;
  unsigned piece_log2_;  // pieces of this size lie on one channel and in one row
  std::vector<std::uint64_t> channel_free_fs_;
  std::vector<std::uint64_t> open_row_;  // [channel][bank]
  std::priority_queue<Response, std::vector<Response>, std::greater<>> responses_;
  sc_core::sc_event response_due_;
  tlm::tlm_generic_payload* stalled_ = nullptr;  // the one request not accepted yet
  std::uint64_t in_flight_ = 0;                  // requests
  std::uint64_t order_ = 0;
  std::uint64_t bytes_moved_ = 0;
  std::uint64_t latency_sum_fs_ = 0;
  MemoryCounters counters_;
};

}  // namespace santa::sim
