#include "interconnect.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace santa::sim {

Interconnect::Interconnect(const sc_core::sc_module_name& name, std::size_t ports,
                           std::size_t memories, Route memory_of)
    : sc_core::sc_module(name), memory_of_(std::move(memory_of)), arrivals_("arrivals") {
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.set_sensitivity(&arrivals_.get_event());
  options.dont_initialize();
  sc_core::sc_spawn([this] { send_due(); }, sc_core::sc_gen_unique_name("send_due"), &options);
  for (std::size_t i = 0; i < ports; ++i) {
    ports_.push_back(std::make_unique<PortSocket>(("port" + std::to_string(i)).c_str()));
    ports_.back()->register_nb_transport_fw(this, &Interconnect::forward, static_cast<int>(i));
  }
  for (std::size_t i = 0; i < memories; ++i) {
    memories_.push_back(std::make_unique<MemorySocket>(("memory" + std::to_string(i)).c_str()));
    memories_.back()->register_nb_transport_bw(this, &Interconnect::answer, static_cast<int>(i));
  }
}

tlm::tlm_sync_enum Interconnect::forward(int port, tlm::tlm_generic_payload& payload,
                                         tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  payload.get_extension<RequestOrigin>()->port = static_cast<std::size_t>(port);
  arrivals_.notify(payload, delay);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void Interconnect::send_due() {
  const auto origin_of = [](tlm::tlm_generic_payload* payload) -> const RequestOrigin& {
    return *payload->get_extension<RequestOrigin>();
  };
  due_.clear();
  while (tlm::tlm_generic_payload* payload = arrivals_.get_next_transaction()) {
    due_.push_back(payload);
  }
  std::stable_sort(due_.begin(), due_.end(),
                   [&](auto* a, auto* b) { return origin_of(a).port < origin_of(b).port; });
  for (tlm::tlm_generic_payload* payload : due_) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    MemorySocket& memory = *memories_[memory_of_(origin_of(payload))];
    const tlm::tlm_sync_enum status = memory->nb_transport_fw(*payload, phase, delay);
    if (status == tlm::TLM_COMPLETED) {
      phase = tlm::BEGIN_RESP;
      answer(0, *payload, phase, delay);
    } else if (status != tlm::TLM_UPDATED || phase != tlm::END_REQ) {
      SC_REPORT_FATAL("interconnect", "a memory must accept a request at once");
    }
  }
}

tlm::tlm_sync_enum Interconnect::answer(int /*memory*/, tlm::tlm_generic_payload& payload,
                                        tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const auto* origin = payload.get_extension<RequestOrigin>();
  return (*ports_[origin->port])->nb_transport_bw(payload, phase, delay);
}

}  // namespace santa::sim
