// The unit's memory port: one TLM-2.0 initiator socket that all streams share.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <array>
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

// In the order in which a request to the unit needs them.
enum class Stream : std::uint8_t {
  kAppendKey,
  kAppendValue,
  kQuery,
  kKey,
  kValue,
  kStash,
  kOutput
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
// Of one time, writes go before reads, and else a Stream before those behind it: in which order
// processes run at one time is SystemC's affair, and must not show in the cycles. Streams limit
// what they have in flight through their own credits, so the queue stays short.
//
// Data crosses the port in words of `unit.port_bytes`, one a cycle for reads and one for writes. A
// request that touches w words starts to cross when the words of the requests before it, in the
// order of the memory's answers, have crossed; a read not before first_data_fs() after its issue
// (`memory.latency_ns`, unless the model is dram), a write not before its issue. It ends w cycles
// later, or with the memory's answer if that comes later, and two registers behind that.
//
// Targets may answer ahead of time, with a delay. A request costs one event, its completion: no
// later request is answered before that, so what crosses in front of it is known by then.
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
    sc_core::sc_time submitted;
    bool goes_before(const Request& other) const {
      if (submitted != other.submitted) return submitted < other.submitted;
      if (command != other.command) return command == tlm::TLM_WRITE_COMMAND;
      return stream < other.stream;
    }
  };
  // A pooled payload that knows its transfer, its origin, when it was issued and answered.
  struct Payload : tlm::tlm_generic_payload {
    explicit Payload(tlm::tlm_mm_interface* manager) : tlm_generic_payload(manager) {
      set_extension(&origin);
    }
    ~Payload() override { clear_extension(&origin); }
    RequestOrigin origin;
    Transfer* transfer = nullptr;
    sc_core::sc_time issued;
    sc_core::sc_time answered;
    std::uint64_t order = 0;  // of the answers; equal times keep it
    bool answered_before(const Payload& other) const {
      return answered != other.answered ? answered < other.answered : order < other.order;
    }
  };
  // One direction of the port. No later answer can come in front of one that has completed.
  struct Direction {
    std::deque<Payload*> answers;     // by time
    sc_core::sc_time words_end;       // of all that have completed
    sc_core::sc_time next_words_end;  // of the first answer
  };

  void submit(tlm::tlm_command command, Stream stream, std::uint64_t address, std::uint64_t bytes,
              Completion done);
  void enqueue(const Request& request);
  // Sends in the next delta cycle: every process has submitted by then what it does at this time.
  void send_soon() { sending_.notify(sc_core::SC_ZERO_TIME); }
  void send_pending();
  void send(const Request& request);
  // The memory answers a request after `delay`.
  void answer(Payload& payload, const sc_core::sc_time& delay);
  void book_first(Direction& direction);
  void complete_due();
  void complete(Payload& payload);
  Direction* next_to_complete();
  void spawn_method(const sc_core::sc_event& event, void (MemoryPort::*action)());
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
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
  sc_core::sc_event sending_;
  std::uint64_t in_flight_ = 0;  // requests issued and not completed
  sc_core::sc_time next_issue_;
  std::vector<std::unique_ptr<Payload>> payloads_;
  std::vector<Payload*> free_payloads_;
  std::deque<Transfer> transfers_;
  std::vector<Transfer*> free_transfers_;
  std::vector<unsigned char> scratch_;   // targets may write it; nobody reads it
  std::array<Direction, 2> directions_;  // reads, writes
  std::uint64_t answers_ = 0;
  sc_core::sc_event completion_due_;
  Traffic traffic_;
};

}  // namespace santa::sim
