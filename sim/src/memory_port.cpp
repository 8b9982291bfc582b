#include "memory_port.hpp"

#include <algorithm>
#include <iterator>

#include "dram_memory.hpp"
#include "pipeline.hpp"

namespace santa::sim {
namespace {

constexpr std::uint64_t kRequestBytes = 4096;

// The traffic counter of each Stream, in its order.
constexpr std::uint64_t Traffic::*kStreamCounters[] = {
    &Traffic::append_bytes, &Traffic::append_bytes, &Traffic::query_bytes, &Traffic::key_bytes,
    &Traffic::value_bytes,  &Traffic::stash_bytes,  &Traffic::output_bytes};

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
      scratch_(kRequestBytes) {
  socket.register_nb_transport_bw(this, &MemoryPort::nb_transport_bw);
  spawn_method(sending_, &MemoryPort::send_pending);
  spawn_method(completion_due_, &MemoryPort::complete_due);
}

void MemoryPort::spawn_method(const sc_core::sc_event& event, void (MemoryPort::*action)()) {
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.set_sensitivity(&event);
  options.dont_initialize();
  sc_core::sc_spawn([this, action] { (this->*action)(); }, sc_core::sc_gen_unique_name("method"),
                    &options);
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
    enqueue({command, stream, address, stop - address, transfer, time_now()});
    address = stop;
  }
  send_soon();
}

void MemoryPort::enqueue(const Request& request) {
  auto place = pending_.end();
  while (place != pending_.begin() && request.goes_before(*std::prev(place))) --place;
  pending_.insert(place, request);
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
  while (!pending_.empty() && waiting_for_accept_ == nullptr && in_flight_ < max_in_flight_) {
    const Request request = pending_.front();
    pending_.pop_front();
    send(request);
  }
}

void MemoryPort::send(const Request& request) {
  ++in_flight_;
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

  const sc_core::sc_time now = time_now();
  payload.issued = std::max(now, next_issue_);
  next_issue_ = payload.issued + clock_.cycles(1);
  sc_core::sc_time delay = payload.issued - now;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  waiting_for_accept_ = &payload;
  const tlm::tlm_sync_enum status = socket->nb_transport_fw(payload, phase, delay);
  if (status == tlm::TLM_ACCEPTED) return;
  waiting_for_accept_ = nullptr;
  if (status == tlm::TLM_COMPLETED || phase == tlm::BEGIN_RESP) answer(payload, delay);
}

tlm::tlm_sync_enum MemoryPort::nb_transport_bw(tlm::tlm_generic_payload& payload,
                                               tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  // END_REQ, or a response that implies it, frees the request channel.
  if (waiting_for_accept_ == &payload) {
    waiting_for_accept_ = nullptr;
    if (!pending_.empty()) send_soon();
    if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
  }
  answer(static_cast<Payload&>(payload), delay);
  return tlm::TLM_COMPLETED;
}

void MemoryPort::answer(Payload& payload, const sc_core::sc_time& delay) {
  payload.answered = time_now() + delay;
  payload.order = answers_++;
  Direction& direction = directions_[payload.is_read() ? 0 : 1];
  auto place = direction.answers.end();
  while (place != direction.answers.begin() && payload.answered < (*std::prev(place))->answered) {
    --place;
  }
  const bool is_first = place == direction.answers.begin();
  direction.answers.insert(place, &payload);
  if (is_first) book_first(direction);
}

// When the words of the direction's first answer will have crossed, unless another one comes in
// front of it.
void MemoryPort::book_first(Direction& direction) {
  const Payload& payload = *direction.answers.front();
  const std::uint64_t words =
      divide_up(payload.get_address() + payload.get_data_length(), port_bytes_) -
      payload.get_address() / port_bytes_;
  const sc_core::sc_time first = payload.is_read() ? payload.issued + latency_ : payload.issued;
  direction.next_words_end =
      std::max(payload.answered, std::max(direction.words_end, first) + clock_.cycles(words));
  completion_due_.notify(direction.next_words_end + clock_.cycles(pipeline::kPort) - time_now());
}

void MemoryPort::complete_due() {
  const sc_core::sc_time registers = clock_.cycles(pipeline::kPort);
  Direction* next = next_to_complete();
  for (; next != nullptr && next->next_words_end + registers <= time_now();
       next = next_to_complete()) {
    Payload& payload = *next->answers.front();
    next->answers.pop_front();
    next->words_end = next->next_words_end;
    if (!next->answers.empty()) book_first(*next);
    complete(payload);
  }
  if (next != nullptr) {
    completion_due_.notify(next->next_words_end + registers - time_now());
  }
}

// The direction whose first answer completes first; in the order of answers at one time.
MemoryPort::Direction* MemoryPort::next_to_complete() {
  auto& [reads, writes] = directions_;
  if (reads.answers.empty()) return writes.answers.empty() ? nullptr : &writes;
  if (writes.answers.empty()) return &reads;
  if (reads.next_words_end != writes.next_words_end) {
    return reads.next_words_end < writes.next_words_end ? &reads : &writes;
  }
  return reads.answers.front()->answered_before(*writes.answers.front()) ? &reads : &writes;
}

void MemoryPort::complete(Payload& payload) {
  if (payload.is_response_error()) {
    SC_REPORT_FATAL("memory_port", payload.get_response_string().c_str());
  }
  Transfer* transfer = payload.transfer;
  payload.release();
  --in_flight_;
  if (!pending_.empty()) send_soon();
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
