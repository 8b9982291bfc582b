#include "memory_port.hpp"

#include <algorithm>

#include "dram_memory.hpp"
#include "pipeline.hpp"

namespace santa::sim {
namespace {

constexpr std::uint64_t kRequestBytes = 4096;

// The traffic counter of each Stream, in its order.
constexpr std::uint64_t Traffic::*kStreamCounters[] = {
    &Traffic::query_bytes,  &Traffic::key_bytes,    &Traffic::value_bytes, &Traffic::stash_bytes,
    &Traffic::output_bytes, &Traffic::append_bytes, &Traffic::append_bytes};

}  // namespace

MemoryPort::MemoryPort(const sc_core::sc_module_name& name, const config::HardwareConfig& hardware,
                       const Clock& clock, std::uint64_t base)
    : sc_core::sc_module(name),
      socket("socket"),
      base_(base),
      access_bytes_(static_cast<std::uint64_t>(hardware.memory.access_bytes)),
      port_bytes_(static_cast<std::uint64_t>(hardware.unit.port_bytes)),
      max_in_flight_(static_cast<std::uint64_t>(hardware.memory.max_outstanding)),
      latency_(sc_core::sc_time::from_value(first_data_fs(hardware))),
      clock_(clock),
      scratch_(kRequestBytes),
      late_responses_("late_responses"),
      crossing_("crossing") {
  socket.register_nb_transport_bw(this, &MemoryPort::nb_transport_bw);
  spawn_drain(late_responses_, &MemoryPort::cross);
  spawn_drain(crossing_, &MemoryPort::complete);
}

void MemoryPort::spawn_drain(tlm_utils::peq_with_get<tlm::tlm_generic_payload>& queue,
                             void (MemoryPort::*action)(tlm::tlm_generic_payload&)) {
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.set_sensitivity(&queue.get_event());
  options.dont_initialize();
  sc_core::sc_spawn(
      [this, &queue, action] {
        while (tlm::tlm_generic_payload* payload = queue.get_next_transaction()) {
          (this->*action)(*payload);
        }
      },
      sc_core::sc_gen_unique_name("drain"), &options);
}

void MemoryPort::submit(tlm::tlm_command command, Stream stream, std::uint64_t address,
                        std::uint64_t bytes, Completion done) {
  address += base_;
  const std::uint64_t end = address + bytes;
  const std::uint64_t moved =
      divide_up(end, access_bytes_) * access_bytes_ - address / access_bytes_ * access_bytes_;
  traffic_.*kStreamCounters[static_cast<std::size_t>(stream)] += moved;
  const std::uint64_t requests = divide_up(end, kRequestBytes) - address / kRequestBytes;
  Transfer* transfer = take_transfer();
  *transfer = {requests, std::move(done)};
  while (address < end) {
    const std::uint64_t stop = std::min(end, (address / kRequestBytes + 1) * kRequestBytes);
    pending_.push_back({command, stream, address, stop - address, transfer});
    address = stop;
  }
  send_pending();
}

void MemoryPort::read_and_wait(Stream stream, std::uint64_t address, std::uint64_t bytes) {
  bool done = false;
  sc_core::sc_event arrived;
  read(stream, address, bytes, [&] {
    done = true;
    arrived.notify();
  });
  while (!done) sc_core::wait(arrived);
}

void MemoryPort::send_pending() {
  if (sending_) return;  // a target that answers at once calls back into here
  sending_ = true;
  while (!pending_.empty() && waiting_for_accept_ == nullptr && in_flight_ < max_in_flight_) {
    ++in_flight_;
    const Request request = pending_.front();
    pending_.pop_front();
    Payload& payload = take_payload();
    payload.acquire();
    payload.transfer = request.transfer;
    payload.origin.stream = request.stream;
    payload.set_command(request.command);
    payload.set_address(request.address);
    payload.set_data_ptr(scratch_.data());
    payload.set_data_length(static_cast<unsigned>(request.bytes));
    payload.set_streaming_width(static_cast<unsigned>(request.bytes));
    payload.set_byte_enable_ptr(nullptr);
    payload.set_dmi_allowed(false);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);

    const sc_core::sc_time now = sc_core::sc_time_stamp();
    const sc_core::sc_time start = std::max(now, next_issue_);
    next_issue_ = start + clock_.cycles(1);
    payload.issued = start;
    sc_core::sc_time delay = start - now;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    waiting_for_accept_ = &payload;
    const tlm::tlm_sync_enum status = socket->nb_transport_fw(payload, phase, delay);
    if (status == tlm::TLM_COMPLETED) {
      waiting_for_accept_ = nullptr;
      late_responses_.notify(payload, delay);
    } else if (status == tlm::TLM_UPDATED) {
      waiting_for_accept_ = nullptr;
      if (phase == tlm::BEGIN_RESP) late_responses_.notify(payload, delay);
    }
  }
  sending_ = false;
}

tlm::tlm_sync_enum MemoryPort::nb_transport_bw(tlm::tlm_generic_payload& payload,
                                               tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  // END_REQ, or a response that implies it, frees the request channel.
  if (waiting_for_accept_ == &payload) {
    waiting_for_accept_ = nullptr;
    if (phase == tlm::END_REQ) {
      send_pending();
      return tlm::TLM_ACCEPTED;
    }
  }
  if (delay == sc_core::SC_ZERO_TIME) {
    cross(payload);
  } else {
    late_responses_.notify(payload, delay);
  }
  send_pending();
  return tlm::TLM_COMPLETED;
}

void MemoryPort::cross(tlm::tlm_generic_payload& payload) {
  const sc_core::sc_time issued = static_cast<Payload&>(payload).issued;
  const std::uint64_t words =
      divide_up(payload.get_address() + payload.get_data_length(), port_bytes_) -
      payload.get_address() / port_bytes_;
  const bool is_read = payload.is_read();
  sc_core::sc_time& words_end = is_read ? read_words_end_ : write_words_end_;
  const sc_core::sc_time start = std::max(words_end, is_read ? issued + latency_ : issued);
  const sc_core::sc_time now = sc_core::sc_time_stamp();
  words_end = std::max(now, start + clock_.cycles(words));
  crossing_.notify(payload, words_end - now + clock_.cycles(pipeline::kPort));
}

void MemoryPort::complete(tlm::tlm_generic_payload& payload) {
  if (payload.is_response_error()) {
    SC_REPORT_FATAL("memory_port", payload.get_response_string().c_str());
  }
  Transfer* transfer = static_cast<Payload&>(payload).transfer;
  payload.release();
  --in_flight_;
  send_pending();
  if (--transfer->requests_left > 0) return;
  const Completion done = std::move(transfer->done);
  free_transfers_.push_back(transfer);
  if (done) done();
}

void MemoryPort::free(tlm::tlm_generic_payload* payload) {
  payload->reset();
  free_payloads_.push_back(static_cast<Payload*>(payload));
}

MemoryPort::Transfer* MemoryPort::take_transfer() {
  if (free_transfers_.empty()) {
    transfers_.emplace_back();
    return &transfers_.back();
  }
  Transfer* transfer = free_transfers_.back();
  free_transfers_.pop_back();
  return transfer;
}

MemoryPort::Payload& MemoryPort::take_payload() {
  if (free_payloads_.empty()) {
    payloads_.push_back(std::make_unique<Payload>(this));
    return *payloads_.back();
  }
  Payload* payload = free_payloads_.back();
  free_payloads_.pop_back();
  return *payload;
}

}  // namespace santa::sim
