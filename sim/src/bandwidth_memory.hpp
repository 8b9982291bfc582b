// Memory behind a TLM-2.0 socket, approximately timed: bandwidth per channel, latency, a limit on
// requests in flight, and open rows for the count of activates. Row misses cost energy here, no
// time: a detailed DRAM model takes this one's place behind the same socket.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <functional>
#include <queue>
#include <tlm>
#include <vector>

#include "santa/config/hardware.hpp"
#include "santa/energy/meter.hpp"
#include "santa/sim/simulation.hpp"
#include "timing.hpp"

namespace santa::sim {

// Protocol: base protocol. When the last byte will arrive is known with the request, so BEGIN_REQ
// is answered with TLM_COMPLETED and that delay while fewer than `memory.max_outstanding` requests
// are in flight; else with TLM_ACCEPTED, and BEGIN_RESP comes, with a delay, as soon as there is
// room. Timing only: the payload's data pointer is not used.
class BandwidthMemory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<BandwidthMemory> socket;

  BandwidthMemory(const sc_core::sc_module_name& name, const config::MemoryConfig& memory,
                  energy::EnergyMeter& meter);

  // Counters up to now; `busy_fraction` is of the peak bandwidth over `run`.
  MemoryCounters counters(const sc_core::sc_time& run) const;

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  void admit_stalled();
  void forget_answered();
  std::uint64_t accesses_of(const tlm::tlm_generic_payload& payload) const;
  // Books a request; returns after which time it is answered.
  sc_core::sc_time accept(tlm::tlm_generic_payload& payload, std::uint64_t arrival_fs);
  // Moves whole accesses from `address` up to `end`, from `time_fs` on, and sets it to when all
  // data is out. Returns how many rows were activated for it.
  std::uint64_t serve(std::uint64_t address, std::uint64_t end, std::uint64_t& time_fs);

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
  // When those in flight are answered, the first on top.
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> answers_fs_;
  tlm::tlm_generic_payload* stalled_ = nullptr;  // the one request not accepted yet
  sc_core::sc_event room_;                       // for it
  std::uint64_t bytes_moved_ = 0;
  std::uint64_t latency_sum_fs_ = 0;
  MemoryCounters counters_;
};

}  // namespace santa::sim
