#include "santa/cosim/bench.hpp"

#include <fmt/format.h>

namespace santa::cosim {
namespace {

bool any_event(const Monitors& m) {
  return m.coefficient_valid || m.score_valid || m.weight_valid || m.tile_valid || m.draw_valid ||
         m.row_valid || m.value_valid || m.output_valid;
}

bool any_transfer(const AxiFromUnit& unit, const AxiToUnit& memory) {
  return (unit.ar.valid && memory.arready) || (unit.aw.valid && memory.awready) ||
         (unit.wvalid && memory.wready) || (memory.rvalid && unit.rready) ||
         (memory.bvalid && unit.bready);
}

}  // namespace

void Bench::fail(const std::string& kind, const std::string& text) {
  if (!failure_) failure_ = Failure{kind, text};
}

// The unit's side of AXI4-Lite: an answer stays until it is taken, and none outlives a reset.
void Bench::check_lite(const LiteFromUnit& now) {
  const auto complain = [&](const char* what) {
    fail("protocol", fmt::format("register port, cycle {}: {}", cycle_, what));
  };
  if (after_reset_ && (now.bvalid || now.rvalid)) complain("an answer is valid after reset");
  if (!after_reset_ && write_waits_ && (!now.bvalid || now.bresp != lite_before_.bresp)) {
    complain("the answer of a write changed before it was taken");
  }
  if (!after_reset_ && read_waits_ &&
      (!now.rvalid || now.rresp != lite_before_.rresp || now.rdata != lite_before_.rdata)) {
    complain("the answer of a read changed before it was taken");
  }
  lite_before_ = now;
  write_waits_ = now.bvalid && !lite_.bready;
  read_waits_ = now.rvalid && !lite_.rready;
}

void Bench::look_for_failures() {
  if (any_rtl_failure()) {
    for (const RtlFailure& failure : take_rtl_failures()) {
      fail("assertion", fmt::format("RTL, cycle {}: {}:{}: {}", cycle_, failure.file, failure.line,
                                    failure.message));
    }
  }
  if (scoreboard_.first()) fail("mismatch", "");
  if (!memory_.findings().empty()) fail("protocol", memory_.findings().sentences().front());
  if (cycle_ - last_progress_ > stall_limit_) {
    fail("hang",
         fmt::format("attention_unit: nothing has happened since cycle {}", last_progress_));
  }
}

void Bench::cycle() {
  UnitInputs& inputs = model_.inputs();
  inputs.rst_n = !in_reset_;
  inputs.axi = axi_;
  inputs.lite = lite_;
  model_.eval();
  const UnitOutputs& outputs = model_.outputs();
  if (in_reset_ || any_event(model_.monitors()) || any_transfer(outputs.axi, axi_)) {
    last_progress_ = cycle_;
  }
  check_lite(outputs.lite);
  if (!in_reset_) scoreboard_.observe(model_.monitors(), cycle_);
  memory_.clock(outputs.axi, axi_, in_reset_);
  model_.tick();
  after_reset_ = in_reset_;
  look_for_failures();
  ++cycle_;
}

void Bench::reset(unsigned cycles) {
  lite_ = LiteToUnit{};
  in_reset_ = true;
  // Registers have no value before the first edge in reset: nothing they do counts yet.
  write_waits_ = read_waits_ = false;
  for (unsigned i = 0; i < cycles; ++i) cycle();
  in_reset_ = false;
}

}  // namespace santa::cosim
