// Drives the register block: AXI4-Lite accesses with chosen delays, and what came out meanwhile.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "Vcontrol_registers_rtl.h"
#include "santa/rtl/registers.hpp"

namespace santa::rtl {

constexpr unsigned kOkay = 0;
constexpr unsigned kSlverr = 2;

struct ReadResult {
  std::uint32_t data = 0;
  unsigned response = 0;
};

// Cycles after the start of a write in which each channel becomes valid or ready.
struct WriteDelays {
  unsigned address = 0;
  unsigned data = 0;
  unsigned response = 0;
};

// A fresh block after its reset: four free slots, no completion, no event. A failing assertion of
// the RTL fails the test, unless expect_assertion() says that one must fail.
class ControlRegisters : public testing::Test {
 public:
  ControlRegisters();
  ~ControlRegisters() override;

  void reset();
  // One rising edge; inputs are what `dut` holds.
  void tick();
  void ticks(unsigned count);

  // Both fail the test when the block does not answer.
  unsigned write(std::uint32_t address, std::uint32_t data, unsigned strobe = 0xf,
                 WriteDelays delays = {});
  ReadResult read(std::uint32_t address, unsigned response_delay = 0);
  // The data of a read that must be answered with OKAY.
  std::uint32_t value(std::uint32_t address);

  // Runs `action`, in which at least one assertion must fail.
  void expect_assertion(const std::function<void()>& action);

  std::unique_ptr<VerilatedContext> context = std::make_unique<VerilatedContext>();
  std::unique_ptr<Vcontrol_registers_rtl> dut;
  std::vector<std::uint64_t> submitted;  // addresses, a pulse each
  unsigned popped = 0;                   // cycles with completion_pop_o

 private:
  unsigned assertions_failed_ = 0;
  bool assertion_expected_ = false;
};

}  // namespace santa::rtl
