// The unit's memory port: one TLM-2.0 initiator socket that all streams share.
#pragma once

#include <tlm_utils/peq_with_get.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <tlm>
#include <vector>

#include "santa/config/hardware.hpp"
#include "santa/sim/simulation.hpp"
#include "timing.hpp"

namespace santa::sim {

enum class Stream : std::uint8_t {
  kQuery,
  kKey,
  kValue,
  kStash,
  kOutput,
  kAppendKey,
  kAppendValue
};

// Travels with a request: who asks, and what for. An interconnect routes by it.
struct RequestOrigin : tlm::tlm_extension<RequestOrigin> {
  std::size_t port = 0;  // set by the interconnect
  Stream stream = Stream::kQuery;
  tlm_extension_base* clone() const override { return new RequestOrigin(*this); }
  void copy_from(const tlm_extension_base& other) override {
    *this = static_cast<const RequestOrigin&>(other);
  }
};

// Splits transfers at 4 KiB boundaries, which an AXI4 burst never crosses, sends at most one
// request a cycle in order of submission, and calls back when the last byte of a transfer is there.
// Streams limit what they have in flight through their own credits, so the queue stays short.
//
// Data crosses the port in words of `unit.port_bytes`, one a cycle for reads and one for writes. A
// request that touches w words starts to cross when the words of the requests before it, in the
// order of the memory's answers, have crossed; a read not before first_data_fs() after its issue
// (`memory.latency_ns`, unless the model is dram), a write not before its issue. It ends w cycles
// later, or with the memory's answer if that comes later, and two registers behind that.
class MemoryPort : public sc_core::sc_module, public tlm::tlm_mm_interface {
 public:
  tlm_utils::simple_initiator_socket<MemoryPort> socket;

  // `base` is added to every address; a multiple of 4 KiB.
  MemoryPort(const sc_core::sc_module_name& name, const config::HardwareConfig& hardware,
             const Clock& clock, std::uint64_t base = 0);

  using Completion = std::function<void()>;
  // Never waits. `bytes` >= 1.
  void read(Stream stream, std::uint64_t address, std::uint64_t bytes, Completion done) {
    submit(tlm::TLM_READ_COMMAND, stream, address, bytes, std::move(done));
  }
  void write(Stream stream, std::uint64_t address, std::uint64_t bytes, Completion done) {
    submit(tlm::TLM_WRITE_COMMAND, stream, address, bytes, std::move(done));
  }

  // Reads and waits for the data; only from a thread.
  void read_and_wait(Stream stream, std::uint64_t address, std::uint64_t bytes);

  const Traffic& traffic() const { return traffic_; }

 private:
  // One transfer that waits for all its requests.
  struct Transfer {
    std::uint64_t requests_left = 0;
    Completion done;
  };
  struct Request {
    tlm::tlm_command command = tlm::TLM_READ_COMMAND;
    Stream stream = Stream::kQuery;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    Transfer* transfer = nullptr;
  };
  // A pooled payload that knows its transfer, its origin and when it was issued.
  struct Payload : tlm::tlm_generic_payload {
    explicit Payload(tlm::tlm_mm_interface* manager) : tlm_generic_payload(manager) {
      set_extension(&origin);
    }
    ~Payload() override { clear_extension(&origin); }
    RequestOrigin origin;
    Transfer* transfer = nullptr;
    sc_core::sc_time issued;
  };

  void submit(tlm::tlm_command command, Stream stream, std::uint64_t address, std::uint64_t bytes,
              Completion done);
  void send_pending();
  // The memory has answered: books the request's words on the port.
  void cross(tlm::tlm_generic_payload& payload);
  void complete(tlm::tlm_generic_payload& payload);
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  void spawn_drain(tlm_utils::peq_with_get<tlm::tlm_generic_payload>& queue,
                   void (MemoryPort::*action)(tlm::tlm_generic_payload&));
  void free(tlm::tlm_generic_payload* payload) override;
  Payload& take_payload();
  Transfer* take_transfer();

  std::uint64_t base_;
  std::uint64_t access_bytes_;
  std::uint64_t port_bytes_;
  std::uint64_t max_in_flight_;
  sc_core::sc_time latency_;
  const Clock& clock_;
  std::deque<Request> pending_;
  tlm::tlm_generic_payload* waiting_for_accept_ = nullptr;
  bool sending_ = false;
  std::uint64_t in_flight_ = 0;  // requests issued and not completed
  sc_core::sc_time next_issue_;
  std::vector<std::unique_ptr<Payload>> payloads_;
  std::vector<Payload*> free_payloads_;
  std::deque<Transfer> transfers_;
  std::vector<Transfer*> free_transfers_;
  std::vector<unsigned char> scratch_;  // targets may write it; nobody reads it
  tlm_utils::peq_with_get<tlm::tlm_generic_payload> late_responses_;
  tlm_utils::peq_with_get<tlm::tlm_generic_payload> crossing_;
  sc_core::sc_time read_words_end_;  // of all words booked so far
  sc_core::sc_time write_words_end_;
  Traffic traffic_;
};

}  // namespace santa::sim
