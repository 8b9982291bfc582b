// The rules of AXI4 and of docs/rtl.md on the unit's side of the memory port.
#pragma once

#include <cstdint>
#include <string>

#include "santa/cosim/byte_memory.hpp"
#include "santa/cosim/findings.hpp"
#include "santa/cosim/pins.hpp"

namespace santa::cosim {

class AxiRules {
 public:
  AxiRules(std::uint32_t port_bytes, const ByteMemory& memory, Findings& findings)
      : port_bytes_(port_bytes), memory_(memory), findings_(findings) {}

  // One cycle as the edge at its end sees it: nothing is withdrawn or changed before it is taken,
  // nothing is valid in or right after reset.
  void observe(const AxiFromUnit& unit, const AxiToUnit& to_unit, bool reset, std::uint64_t cycle);

  // An address that was taken: a burst of whole aligned words inside 4 KiB and one region, under
  // the region's id. True if the memory can serve it.
  bool check_burst(const AxiAddress& address, bool write, std::uint64_t cycle);

  // One data word of a write that was taken: every strobed byte lies in the burst's region, and
  // WLAST is on the last word alone.
  void check_word(const AxiAddress& burst, std::uint32_t word, bool last, const BusStrobes& strobes,
                  std::uint64_t cycle);

  std::uint64_t checked() const { return checked_; }
  void report(std::uint64_t cycle, const std::string& sentence);

 private:
  template <typename Payload>
  void check_stable(const char* channel, bool was_waiting, bool valid, const Payload& before,
                    const Payload& now, std::uint64_t cycle);

  std::uint32_t port_bytes_;
  const ByteMemory& memory_;
  Findings& findings_;
  std::uint64_t checked_ = 0;
  AxiFromUnit before_;
  AxiToUnit ready_before_;
  bool reset_before_ = true;
  bool started_ = false;
};

}  // namespace santa::cosim
