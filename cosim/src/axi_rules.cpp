#include "santa/cosim/axi_rules.hpp"

#include <fmt/format.h>

#include <tuple>

namespace santa::cosim {
namespace {

constexpr std::uint64_t kBoundary = 4096;

auto fields(const AxiAddress& a) {
  return std::tie(a.id, a.length, a.size, a.burst, a.address);
}

unsigned log2_of(std::uint32_t power) {
  unsigned log2 = 0;
  while ((1U << log2) < power) ++log2;
  return log2;
}

}  // namespace

void AxiRules::report(std::uint64_t cycle, const std::string& sentence) {
  findings_.add(fmt::format("memory port, cycle {}: {}", cycle, sentence));
}

template <typename Payload>
void AxiRules::check_stable(const char* channel, bool was_waiting, bool valid,
                            const Payload& before, const Payload& now, std::uint64_t cycle) {
  ++checked_;
  if (!was_waiting) return;
  if (!valid) {
    report(cycle, fmt::format("{} was withdrawn before it was accepted", channel));
  } else if (before != now) {
    report(cycle, fmt::format("{} changed before it was accepted", channel));
  }
}

void AxiRules::observe(const AxiFromUnit& unit, const AxiToUnit& to_unit, bool reset,
                       std::uint64_t cycle) {
  const bool settled = started_ && !reset && !reset_before_;
  if (settled) {
    const AxiFromUnit& old = before_;
    check_stable("read address", old.ar.valid && !ready_before_.arready, unit.ar.valid,
                 fields(old.ar), fields(unit.ar), cycle);
    check_stable("write address", old.aw.valid && !ready_before_.awready, unit.aw.valid,
                 fields(old.aw), fields(unit.aw), cycle);
    check_stable("write data", old.wvalid && !ready_before_.wready, unit.wvalid,
                 std::tie(old.wlast, old.wstrb, old.wdata),
                 std::tie(unit.wlast, unit.wstrb, unit.wdata), cycle);
  } else if (started_ && reset_before_) {
    // The edge before this cycle was a reset: every valid is low.
    const std::pair<const char*, bool> valids[] = {
        {"ARVALID", unit.ar.valid}, {"AWVALID", unit.aw.valid}, {"WVALID", unit.wvalid}};
    for (const auto& [name, high] : valids) {
      ++checked_;
      if (high) report(cycle, fmt::format("{} is high after reset", name));
    }
  }
  before_ = unit;
  ready_before_ = to_unit;
  reset_before_ = reset;
  started_ = true;
}

bool AxiRules::check_burst(const AxiAddress& a, bool write, std::uint64_t cycle) {
  ++checked_;
  const char* what = write ? "write" : "read";
  const auto fail = [&](const std::string& why) {
    report(cycle, fmt::format("{} of {} words at 0x{:x}, id {}: {}", what, a.length + 1, a.address,
                              a.id, why));
    return false;
  };
  if (a.burst != kBurstIncrement) return fail(fmt::format("burst type {} is not INCR", a.burst));
  if (a.size != log2_of(port_bytes_)) {
    return fail(fmt::format("size {} is not the port's {}", a.size, log2_of(port_bytes_)));
  }
  if (a.address % port_bytes_ != 0) {
    return fail(fmt::format("address is no multiple of {}", port_bytes_));
  }
  const std::uint64_t bytes = (std::uint64_t{a.length} + 1) * port_bytes_;
  if (a.address % kBoundary + bytes > kBoundary) return fail("crosses a 4 KiB boundary");
  const Region* region = memory_.find(a.address);
  if (region == nullptr) return fail("the address is in no region");
  if (a.address + bytes > region->end) {
    return fail(fmt::format("runs beyond the end 0x{:x} of the {} of request {}", region->end,
                            name_of(region->kind), region->request));
  }
  const int id = write ? write_id_of(region->kind) : read_id_of(region->kind);
  if (id != a.id) {
    return fail(id < 0 ? fmt::format("{} of {}", what, name_of(region->kind))
                       : fmt::format("{} belong to id {}", name_of(region->kind), id));
  }
  return true;
}

void AxiRules::check_word(const AxiAddress& burst, std::uint32_t word, bool last,
                          const BusStrobes& strobes, std::uint64_t cycle) {
  ++checked_;
  const bool is_last = word == burst.length;
  if (last != is_last) {
    report(cycle, fmt::format("write of {} words at 0x{:x}: WLAST is {} on word {}",
                              burst.length + 1, burst.address, last ? "high" : "low", word + 1));
  }
  for (std::uint32_t byte = port_bytes_; byte < kMaxPortBytes; ++byte) {
    if ((strobes[byte / 8] >> (byte % 8) & 1) != 0) {
      report(cycle, "a byte beyond the port is strobed");
      return;
    }
  }
}

}  // namespace santa::cosim
