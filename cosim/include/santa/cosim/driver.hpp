// Software on the AXI4-Lite port: docs/rtl.md, "Programming sequence".
#pragma once

#include <cstdint>
#include <optional>

#include "santa/cosim/bench.hpp"
#include "santa/cosim/random.hpp"

namespace santa::cosim {

struct DriverOptions {
  double idle = 0.0;      // chance of another idle cycle before each transfer
  bool interrupt = true;  // else it polls
};

// Ends the driver where it stands: something has failed, or a reset is due.
struct Stopped {};

struct Completion {
  std::uint32_t code = 0;
  std::uint32_t tag = 0;
};

class Driver {
 public:
  Driver(Bench& bench, const DriverOptions& options, std::uint64_t seed)
      : bench_(bench), options_(options), random_(seed) {}

  // From this cycle on, the next step throws Stopped.
  void stop_at(std::uint64_t cycle) { stop_at_ = cycle; }
  bool reset_due() const { return bench_.now() >= stop_at_; }

  struct ReadAnswer {
    std::uint32_t data = 0;
    std::uint8_t response = 0;
  };
  ReadAnswer read_any(std::uint32_t offset);
  std::uint8_t write_any(std::uint32_t offset, std::uint32_t data, std::uint8_t strobes = 0xF);
  // The same where only OKAY will do.
  std::uint32_t read(std::uint32_t offset);
  void write(std::uint32_t offset, std::uint32_t data);
  std::uint64_t read_counter(std::uint32_t offset);

  // Identity against the parameters of the model; a difference is a failure at time 0.
  void check_identity();
  // What software finds after a reset.
  void check_reset_values();
  // INTERRUPT_STATE.error, which this driver never clears: whether a completion carried an error.
  void check_error_event(bool expected);
  // Everything that software can write and read back, and what is refused; before CONTROL.enable.
  void check_registers();
  void enable();
  // False if there was no slot.
  bool submit(std::uint64_t descriptor);
  std::uint32_t free_slots();
  bool busy();
  // Waits until there is a completion, and takes it.
  Completion wait_for_completion();
  std::optional<Completion> take_completion();

  // Cycle in which the last submission was accepted.
  std::uint64_t submitted_at() const { return submitted_at_; }
  // Cycle in which the interrupt that announced the last completion rose; 0 when polling.
  std::uint64_t announced_at() const { return announced_at_; }

 private:
  void step();
  void idle();
  void expect(const char* what, std::uint64_t rtl, std::uint64_t expected);

  Bench& bench_;
  DriverOptions options_;
  Random random_;
  std::uint64_t stop_at_ = UINT64_MAX;
  std::uint64_t submitted_at_ = 0;
  std::uint64_t announced_at_ = 0;
  bool drained_ = true;  // no completion was left when software last looked
};

}  // namespace santa::cosim
