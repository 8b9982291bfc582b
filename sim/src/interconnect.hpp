// Several ports on several memories: a request goes on at its time, to the memory that it lies in.
#pragma once

#include <tlm_utils/peq_with_get.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <functional>
#include <memory>
#include <tlm>
#include <vector>

#include "memory_port.hpp"

namespace santa::sim {

// Requests carry a RequestOrigin, as MemoryPort's do. No time is spent here. A port may send a
// request ahead of its time, with a delay; memories get all requests in the order of their times,
// those of one time by port. A memory must accept at once whatever is sent: its limit on
// requests in flight is that of all ports together.
class Interconnect : public sc_core::sc_module {
 public:
  // `memory_of` says by port and stream which memory a request goes to.
  using Route = std::function<std::size_t(const RequestOrigin&)>;
  Interconnect(const sc_core::sc_module_name& name, std::size_t ports, std::size_t memories,
               Route memory_of);

  using PortSocket = tlm_utils::simple_target_socket_tagged<Interconnect>;
  using MemorySocket = tlm_utils::simple_initiator_socket_tagged<Interconnect>;
  PortSocket& port(std::size_t index) { return *ports_[index]; }
  MemorySocket& memory(std::size_t index) { return *memories_[index]; }

 private:
  tlm::tlm_sync_enum forward(int port, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  void send_due();
  tlm::tlm_sync_enum answer(int memory, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                            sc_core::sc_time& delay);

  Route memory_of_;
  std::vector<std::unique_ptr<PortSocket>> ports_;
  std::vector<std::unique_ptr<MemorySocket>> memories_;
  tlm_utils::peq_with_get<tlm::tlm_generic_payload> arrivals_;
  std::vector<tlm::tlm_generic_payload*> due_;  // scratch
};

}  // namespace santa::sim
