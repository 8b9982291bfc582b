#include "bandwidth_memory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace santa::sim {
namespace {

constexpr std::uint64_t kNoRow = std::numeric_limits<std::uint64_t>::max();

// The configuration allows powers of two only.
unsigned log2_of(std::int64_t power) {
  return static_cast<unsigned>(std::ilogb(power));
}

std::uint64_t now_fs() {
  return time_now().value();
}

}  // namespace

BandwidthMemory::BandwidthMemory(const sc_core::sc_module_name& name,
                                 const config::MemoryConfig& memory, energy::EnergyMeter& meter)
    : sc_core::sc_module(name),
      socket("socket"),
      memory_(memory),
      meter_(meter),
      activate_(meter.dram_activate()),
      read_byte_(meter.dram_read_byte()),
      write_byte_(meter.dram_write_byte()),
      fs_per_kibibyte_(static_cast<std::uint64_t>(std::llround(1024e6 / memory.channel_gb_per_s))),
      latency_fs_(static_cast<std::uint64_t>(std::llround(memory.latency_ns * 1e6))),
      interleave_log2_(log2_of(memory.interleave_bytes)),
      row_log2_(log2_of(memory.row_bytes)),
      banks_log2_(log2_of(memory.banks_per_channel)),
      piece_log2_(std::min(interleave_log2_, row_log2_)),
      channel_free_fs_(static_cast<std::size_t>(memory.channels), 0),
      open_row_(static_cast<std::size_t>(memory.channels * memory.banks_per_channel), kNoRow) {
  socket.register_nb_transport_fw(this, &BandwidthMemory::nb_transport_fw);
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.set_sensitivity(&room_);
  options.dont_initialize();
  sc_core::sc_spawn([this] { admit_stalled(); }, sc_core::sc_gen_unique_name("admit"), &options);
}

std::uint64_t BandwidthMemory::accesses_of(const tlm::tlm_generic_payload& payload) const {
  const auto granule = static_cast<std::uint64_t>(memory_.access_bytes);
  const std::uint64_t first = payload.get_address() / granule;
  const std::uint64_t last = (payload.get_address() + payload.get_data_length() - 1) / granule;
  return last - first + 1;
}

tlm::tlm_sync_enum BandwidthMemory::nb_transport_fw(tlm::tlm_generic_payload& payload,
                                                    tlm::tlm_phase& phase,
                                                    sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) SC_REPORT_FATAL("memory", "unexpected phase: only requests begin");
  forget_answered();
  if (answers_fs_.size() >= static_cast<std::size_t>(memory_.max_outstanding)) {
    stalled_ = &payload;
    room_.notify(sc_core::sc_time::from_value(answers_fs_.top() - now_fs()));
    return tlm::TLM_ACCEPTED;
  }
  delay = accept(payload, now_fs() + delay.value());
  return tlm::TLM_COMPLETED;
}

void BandwidthMemory::admit_stalled() {
  forget_answered();
  tlm::tlm_generic_payload& payload = *stalled_;
  stalled_ = nullptr;
  sc_core::sc_time delay = accept(payload, now_fs());
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  if (socket->nb_transport_bw(payload, phase, delay) != tlm::TLM_COMPLETED) {
    SC_REPORT_FATAL("memory", "the initiator must answer BEGIN_RESP with TLM_COMPLETED");
  }
}

void BandwidthMemory::forget_answered() {
  while (!answers_fs_.empty() && answers_fs_.top() <= now_fs()) answers_fs_.pop();
}

sc_core::sc_time BandwidthMemory::accept(tlm::tlm_generic_payload& payload,
                                         std::uint64_t arrival_fs) {
  const auto granule = static_cast<std::uint64_t>(memory_.access_bytes);
  const std::uint64_t accesses = accesses_of(payload);
  std::uint64_t address = payload.get_address() / granule * granule;
  const std::uint64_t end = address + accesses * granule;
  const std::uint64_t bytes = end - address;
  std::uint64_t data_out_fs = arrival_fs;
  const std::uint64_t activates = serve(address, end, data_out_fs);
  const std::uint64_t done_fs = data_out_fs + latency_fs_;
  answers_fs_.push(done_fs);
  counters_.peak_outstanding =
      std::max(counters_.peak_outstanding, static_cast<double>(answers_fs_.size()));
  bytes_moved_ += bytes;
  latency_sum_fs_ += done_fs - arrival_fs;
  const double time_ns = static_cast<double>(arrival_fs) * 1e-6;
  meter_.count(activate_, activates, time_ns);
  if (payload.is_read()) {
    ++counters_.read_requests;
    meter_.count(read_byte_, bytes, time_ns);
  } else {
    ++counters_.write_requests;
    meter_.count(write_byte_, bytes, time_ns);
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  return sc_core::sc_time::from_value(done_fs - now_fs());
}

// Piece after piece: channels take turns every interleave_bytes.
std::uint64_t BandwidthMemory::serve(std::uint64_t address, std::uint64_t end,
                                     std::uint64_t& time_fs) {
  const std::uint64_t channels = channel_free_fs_.size();
  const std::uint64_t interleave_mask = (std::uint64_t{1} << interleave_log2_) - 1;
  const std::uint64_t bank_mask = (std::uint64_t{1} << banks_log2_) - 1;
  const std::uint64_t arrival_fs = time_fs;
  // Local, or each write of a time or a row has them read again.
  const unsigned interleave_log2 = interleave_log2_;
  const unsigned row_log2 = row_log2_;
  const std::uint64_t piece_bytes = std::uint64_t{1} << piece_log2_;
  const std::uint64_t piece_fs = piece_bytes * fs_per_kibibyte_ / 1024;
  std::uint64_t* const open_rows = open_row_.data();
  std::uint64_t* const free_fs = channel_free_fs_.data();
  const unsigned banks_log2 = banks_log2_;
  std::uint64_t end_fs = arrival_fs;
  std::uint64_t stripe = (address >> interleave_log2_) / channels;
  std::uint64_t channel = (address >> interleave_log2_) - stripe * channels;
  std::uint64_t activates = 0;
  std::uint64_t pieces = 0;
  while (address < end) {
    const std::uint64_t stop = std::min(end, (address & ~(piece_bytes - 1)) + piece_bytes);
    const std::uint64_t bytes = stop - address;
    const std::uint64_t row =
        ((stripe << interleave_log2) + (address & interleave_mask)) >> row_log2;
    std::uint64_t& open = open_rows[(channel << banks_log2) + (row & bank_mask)];
    activates += open != row ? 1 : 0;
    open = row;
    std::uint64_t& free = free_fs[channel];
    free = std::max(free, arrival_fs) +
           (bytes == piece_bytes ? piece_fs : bytes * fs_per_kibibyte_ / 1024);
    end_fs = std::max(end_fs, free);
    ++pieces;
    address = stop;
    if ((address & interleave_mask) == 0 && ++channel == channels) {
      channel = 0;
      ++stripe;
    }
  }
  time_fs = end_fs;
  counters_.activates += activates;
  counters_.row_hits += pieces - activates;
  return activates;
}

MemoryCounters BandwidthMemory::counters(const sc_core::sc_time& run) const {
  MemoryCounters result = counters_;
  const double run_ns = to_ns(run);
  const double peak_bytes_per_ns = static_cast<double>(memory_.channels) * memory_.channel_gb_per_s;
  if (run_ns > 0.0) {
    result.busy_fraction = static_cast<double>(bytes_moved_) / (run_ns * peak_bytes_per_ns);
  }
  const std::uint64_t requests = result.read_requests + result.write_requests;
  if (requests > 0) {
    result.mean_latency_ns =
        static_cast<double>(latency_sum_fs_) * 1e-6 / static_cast<double>(requests);
  }
  return result;
}

}  // namespace santa::sim
