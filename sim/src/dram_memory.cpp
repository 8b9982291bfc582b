#include "dram_memory.hpp"

#include <algorithm>
#include <limits>

namespace santa::sim {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kFsPerPs = 1000;

std::uint64_t now_fs() {
  return time_now().value();
}

std::uint64_t latency_fs(const config::HardwareConfig& hardware) {
  return static_cast<std::uint64_t>(std::llround(hardware.memory.latency_ns * 1e6));
}

std::uint64_t clock_fs(const config::DramConfig& dram) {
  return static_cast<std::uint64_t>(dram.clock_ps) * kFsPerPs;
}

}  // namespace

std::uint64_t on_chip_latency_fs(const config::HardwareConfig& hardware) {
  const config::DramConfig& dram = *hardware.dram;
  return latency_fs(hardware) -
         static_cast<std::uint64_t>(dram.closed_read_cycles()) * clock_fs(dram);
}

std::uint64_t first_data_fs(const config::HardwareConfig& hardware) {
  if (!hardware.dram) return latency_fs(hardware);
  return on_chip_latency_fs(hardware) +
         static_cast<std::uint64_t>(hardware.dram->cl_cycles) * clock_fs(*hardware.dram);
}

DramMemory::DramMemory(const sc_core::sc_module_name& name, const config::HardwareConfig& hardware,
                       energy::EnergyMeter& meter, DramObserver observer)
    : sc_core::sc_module(name),
      socket("socket"),
      memory_(hardware.memory),
      meter_(meter),
      activate_(meter.dram_activate()),
      refresh_(meter.dram_refresh()),
      read_byte_(meter.dram_read_byte()),
      write_byte_(meter.dram_write_byte()),
      observer_(std::move(observer)),
      map_(hardware),
      channels_(static_cast<std::size_t>(hardware.memory.channels), DramChannel(*hardware.dram)),
      due_fs_(channels_.size(), kNever),
      clock_fs_(clock_fs(*hardware.dram)),
      on_chip_fs_(on_chip_latency_fs(hardware)),
      lookahead_fs_(channels_.front().shortest_access_cycles() * clock_fs_ + on_chip_fs_),
      burst_bytes_(static_cast<std::uint64_t>(hardware.dram->burst_bytes)),
      peak_gb_per_s_(hardware.dram->peak_gb_per_s() * static_cast<double>(channels_.size())),
      wake_fs_(kNever) {
  socket.register_nb_transport_fw(this, &DramMemory::nb_transport_fw);
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.set_sensitivity(&wake_);
  options.dont_initialize();
  sc_core::sc_spawn([this] { wake(); }, sc_core::sc_gen_unique_name("wake"), &options);
}

tlm::tlm_sync_enum DramMemory::nb_transport_fw(tlm::tlm_generic_payload& payload,
                                               tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) {
    SC_REPORT_FATAL("memory", "unexpected phase: the initiator answers BEGIN_RESP at once");
  }
  if (in_flight_ >= static_cast<std::uint64_t>(memory_.max_outstanding)) {
    stalled_ = &payload;
    return tlm::TLM_ACCEPTED;
  }
  accept(payload, now_fs() + delay.value());
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

std::uint32_t DramMemory::take_tag() {
  if (free_tags_.empty()) {
    requests_.emplace_back();
    return static_cast<std::uint32_t>(requests_.size() - 1);
  }
  const std::uint32_t tag = free_tags_.back();
  free_tags_.pop_back();
  return tag;
}

void DramMemory::accept(tlm::tlm_generic_payload& payload, std::uint64_t arrival_fs) {
  const bool is_write = payload.is_write();
  const std::uint64_t cycle = divide_up(arrival_fs, clock_fs_);
  const std::uint64_t first = payload.get_address() / burst_bytes_ * burst_bytes_;
  const std::uint64_t end =
      divide_up(payload.get_address() + payload.get_data_length(), burst_bytes_) * burst_bytes_;
  const std::uint32_t tag = take_tag();
  Request& request = requests_[tag];
  request = {&payload, arrival_fs, 0, 0};
  std::uint64_t due_fs = kNever;
  for (std::uint64_t address = first; address < end;) {
    const std::uint64_t stop =
        std::min(end, (address / map_.piece_bytes() + 1) * map_.piece_bytes());
    const DramPlace place = map_.place(address);
    DramRun run{place.bank, place.row, static_cast<std::uint32_t>((stop - address) / burst_bytes_),
                tag, is_write};
    DramChannel& channel = channels_[place.channel];
    channel.push(run, cycle);
    due_fs_[place.channel] =
        std::min(due_fs_[place.channel], channel.next_cycle() * clock_fs_ + lookahead_fs_);
    due_fs = std::min(due_fs, due_fs_[place.channel]);
    ++request.runs_left;
    for (; observer_ && address < stop; address += burst_bytes_) {
      observer_({address, is_write, cycle});
    }
    address = stop;
  }
  ++in_flight_;
  counters_.peak_outstanding =
      std::max(counters_.peak_outstanding, static_cast<double>(in_flight_));
  bytes_moved_ += end - first;
  ++(is_write ? counters_.write_requests : counters_.read_requests);
  meter_.count(is_write ? write_byte_ : read_byte_, end - first,
               static_cast<double>(arrival_fs) * 1e-6);
  wake_at(due_fs);
}

void DramMemory::wake_at(std::uint64_t time_fs) {
  if (time_fs >= wake_fs_) return;
  wake_fs_ = time_fs;
  wake_.notify(sc_core::sc_time::from_value(time_fs - now_fs()));
}

void DramMemory::wake() {
  wake_fs_ = kNever;
  const std::uint64_t now = now_fs();
  for (std::size_t channel = 0; channel < channels_.size(); ++channel) {
    if (due_fs_[channel] <= now) advance(channel, now);
  }
  collect();
  count_energy(static_cast<double>(now) * 1e-6);
  respond();
  std::uint64_t next = responses_.empty() ? kNever : responses_.top().time_fs;
  for (const std::uint64_t due : due_fs_) next = std::min(next, due);
  if (next != kNever) wake_at(next);
}

// Issues what a channel can up to a time; commands that come later cause no answer before
// `due_fs_`.
void DramMemory::advance(std::size_t channel, std::uint64_t time_fs) {
  DramChannel& each = channels_[channel];
  const std::uint64_t activates = each.sums().activates;
  const std::uint64_t refreshes = each.sums().refreshes;
  each.advance(time_fs / clock_fs_, completions_);
  activates_ += each.sums().activates - activates;
  refreshes_ += each.sums().refreshes - refreshes;
  const std::uint64_t next = each.next_cycle();
  due_fs_[channel] = next == DramChannel::kNever ? kNever : next * clock_fs_ + lookahead_fs_;
}

// Books the answers of requests whose last run was completed.
void DramMemory::collect() {
  for (const DramCompletion& completion : completions_) {
    Request& request = requests_[completion.tag];
    request.data_end_cycle = std::max(request.data_end_cycle, completion.data_end_cycle);
    if (--request.runs_left > 0) continue;
    const std::uint64_t done_fs = request.data_end_cycle * clock_fs_ + on_chip_fs_;
    latency_sum_fs_ += done_fs - request.arrival_fs;
    responses_.push({done_fs, order_++, completion.tag});
  }
  completions_.clear();
}

void DramMemory::respond() {
  while (!responses_.empty() && responses_.top().time_fs <= now_fs()) {
    const std::uint32_t tag = responses_.top().tag;
    responses_.pop();
    --in_flight_;
    tlm::tlm_generic_payload& payload = *requests_[tag].payload;
    free_tags_.push_back(tag);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (socket->nb_transport_bw(payload, phase, delay) != tlm::TLM_COMPLETED) {
      SC_REPORT_FATAL("memory", "the initiator must answer BEGIN_RESP with TLM_COMPLETED");
    }
    if (stalled_ != nullptr) {
      tlm::tlm_generic_payload* next = stalled_;
      stalled_ = nullptr;
      accept(*next, now_fs());
      phase = tlm::END_REQ;
      socket->nb_transport_bw(*next, phase, delay);
    }
  }
}

void DramMemory::count_energy(double time_ns) {
  if (activates_ > 0) meter_.count(activate_, activates_, time_ns);
  if (refreshes_ > 0) meter_.count(refresh_, refreshes_, time_ns);
  activates_ = 0;
  refreshes_ = 0;
}

MemoryCounters DramMemory::finish(const sc_core::sc_time& run) {
  for (std::size_t channel = 0; channel < channels_.size(); ++channel)
    advance(channel, run.value());
  collect();
  count_energy(to_ns(run));
  DramSums sums;
  for (const DramChannel& channel : channels_) {
    sums += channel.sums_until(divide_up(run.value(), clock_fs_));
  }
  MemoryCounters result = counters_;
  result.activates = sums.activates;
  result.row_hits = sums.row_hits;
  const double run_ns = to_ns(run);
  if (run_ns > 0.0) {
    result.busy_fraction = static_cast<double>(bytes_moved_) / (run_ns * peak_gb_per_s_);
  }
  const std::uint64_t requests = result.read_requests + result.write_requests;
  if (requests > 0) {
    result.mean_latency_ns =
        static_cast<double>(latency_sum_fs_) * 1e-6 / static_cast<double>(requests);
  }
  DramCounters dram;
  dram.sums = sums;
  dram.clock_ns = static_cast<double>(clock_fs_) * 1e-6;
  result.dram = dram;
  return result;
}

}  // namespace santa::sim
