// The unit, its memory and its scoreboard, cycle by cycle.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "santa/cosim/axi_memory.hpp"
#include "santa/cosim/pins.hpp"
#include "santa/cosim/rtl_model.hpp"
#include "santa/cosim/scoreboard.hpp"

namespace santa::cosim {

// What went wrong first, whoever found it.
struct Failure {
  std::string kind;  // "mismatch", "protocol", "assertion", "hang", "registers", "checks"
  std::string text;
};

class Bench {
 public:
  // `stall_limit`: cycles without any transfer or event after which the unit is taken for hung.
  Bench(RtlModel& model, AxiMemory& memory, Scoreboard& scoreboard, std::uint64_t stall_limit)
      : model_(model), memory_(memory), scoreboard_(scoreboard), stall_limit_(stall_limit) {}

  void cycle();
  void reset(unsigned cycles);

  // What is driven from the next cycle on, and what the unit answered in the last one.
  LiteToUnit& lite() { return lite_; }
  const LiteFromUnit& answer() const { return model_.outputs().lite; }
  bool irq() const { return model_.outputs().irq; }
  std::uint64_t now() const { return cycle_; }
  RtlModel& model() { return model_; }
  AxiMemory& memory() { return memory_; }
  Scoreboard& scoreboard() { return scoreboard_; }

  void fail(const std::string& kind, const std::string& text);
  const std::optional<Failure>& failure() const { return failure_; }
  // Nothing is expected to happen: the driver waits on purpose.
  void rest() { last_progress_ = cycle_; }

 private:
  void look_for_failures();
  void check_lite(const LiteFromUnit& now);

  RtlModel& model_;
  AxiMemory& memory_;
  Scoreboard& scoreboard_;
  std::uint64_t stall_limit_;
  AxiToUnit axi_;
  LiteToUnit lite_;
  LiteFromUnit lite_before_;
  bool write_waits_ = false;  // the last cycle's answer was not taken
  bool read_waits_ = false;
  bool in_reset_ = false;
  bool after_reset_ = false;
  std::uint64_t cycle_ = 0;
  std::uint64_t last_progress_ = 0;
  std::optional<Failure> failure_;
};

}  // namespace santa::cosim
