// The register block against a model of it: random accesses on both directions at once, random
// handshakes, random events.
#include <deque>
#include <random>

#include "control_registers_bench.hpp"

namespace santa::rtl {
namespace {

struct Write {
  std::uint32_t address = 0;
  std::uint32_t data = 0;
  unsigned strobe = 0;
};

// What software sees of the block, a write at a time.
class Model {
 public:
  // Returns the response.
  unsigned write(const Write& access, bool free_slot, bool completion) {
    std::uint32_t mask = 0;
    for (unsigned b = 0; b < 4; ++b) mask |= (access.strobe >> b & 1U) != 0 ? 0xffU << 8 * b : 0U;
    const std::uint32_t bits = access.data & mask;
    switch (access.address & ~3U) {
      case registers::kControlOffset:
        enable = (enable & ~mask) | (bits & 1U);
        return kOkay;
      case registers::kSubmitLoOffset:
        submit_lo = (submit_lo & ~mask) | bits;
        return kOkay;
      case registers::kSubmitHiOffset:
        if (mask != 0 && free_slot) {
          submitted.push_back(static_cast<std::uint64_t>(bits) << 32 | submit_lo);
        }
        return mask == 0 || free_slot ? kOkay : kSlverr;
      case registers::kCompletionPopOffset:
        popped += mask != 0 && completion ? 1 : 0;
        return mask == 0 || completion ? kOkay : kSlverr;
      case registers::kInterruptStateOffset:
        state &= ~bits;
        return kOkay;
      case registers::kInterruptEnableOffset:
        interrupt_enable = (interrupt_enable & ~mask) | (bits & 3U);
        return kOkay;
      case registers::kInterruptTestOffset:
        state |= bits & 3U;
        return kOkay;
      case registers::kCounterClearOffset:
        cleared = mask != 0;
        return kOkay;
      default:
        return kSlverr;
    }
  }

  std::uint32_t enable = 0;
  std::uint32_t submit_lo = 0;
  std::uint32_t state = 0;
  std::uint32_t interrupt_enable = 0;
  std::vector<std::uint64_t> submitted;
  unsigned popped = 0;
  bool cleared = false;
};

class ControlRegistersRandom : public ControlRegisters,
                               public testing::WithParamInterface<unsigned> {
 protected:
  bool chance(unsigned of_sixteen) { return random_() % 16 < of_sixteen; }

  Write random_write() {
    // Mostly registers, sometimes anything.
    std::uint32_t address = static_cast<std::uint32_t>(random_()) & 0x7fU;
    if (chance(1)) address = static_cast<std::uint32_t>(random_()) & 0xfffU;
    const auto strobe = chance(8) ? 0xfU : static_cast<unsigned>(random_()) & 0xfU;
    return {address, static_cast<std::uint32_t>(random_()), strobe};
  }

  std::mt19937 random_{GetParam()};
};

TEST_P(ControlRegistersRandom, MatchesTheModel) {
  Model model;
  std::deque<Write> addresses;  // accepted, waiting for their data
  std::deque<Write> data;
  std::deque<unsigned> responses;
  std::uint64_t count = 0;  // of counter 5
  unsigned writes_done = 0;
  Write next = random_write();
  bool address_sent = false;
  bool data_sent = false;
  for (unsigned cycle = 0; cycle < 20000; ++cycle) {
    // A manager may not take valid back.
    if (dut->s_axil_awvalid_i == 0 && !address_sent) dut->s_axil_awvalid_i = chance(8);
    if (dut->s_axil_wvalid_i == 0 && !data_sent) dut->s_axil_wvalid_i = chance(8);
    dut->s_axil_awaddr_i = next.address & 0xfffU;
    dut->s_axil_wdata_i = next.data;
    dut->s_axil_wstrb_i = next.strobe & 0xfU;
    dut->s_axil_bready_i = chance(8);
    dut->free_slots_i = chance(8) ? 0 : 3;
    dut->completion_valid_i = chance(8);
    dut->completion_event_i = chance(1);
    dut->completion_error_i = chance(1);
    dut->counter_event_i = chance(8) ? 0x20 : 0;
    dut->clk_i = 0;
    dut->eval();
    ASSERT_EQ(dut->enable_o, model.enable) << "cycle " << cycle;
    ASSERT_EQ(dut->irq_o != 0, (model.state & model.interrupt_enable) != 0) << "cycle " << cycle;
    // A write takes effect in the cycle after both halves came, when no response waits.
    if (!addresses.empty() && !data.empty() && dut->s_axil_bvalid_o == 0) {
      responses.push_back(
          model.write(addresses.front(), dut->free_slots_i != 0, dut->completion_valid_i != 0));
      addresses.pop_front();
      data.pop_front();
      ++writes_done;
    }
    model.state |= (dut->completion_error_i != 0 ? 2U : 0U) + dut->completion_event_i;
    count = model.cleared ? 0 : count + (dut->counter_event_i != 0 ? 1 : 0);
    model.cleared = false;
    if (dut->s_axil_bvalid_o != 0 && dut->s_axil_bready_i != 0) {
      ASSERT_FALSE(responses.empty()) << "cycle " << cycle;
      ASSERT_EQ(dut->s_axil_bresp_o, responses.front()) << "cycle " << cycle;
      responses.pop_front();
    }
    const bool takes_address = dut->s_axil_awvalid_i != 0 && dut->s_axil_awready_o != 0;
    const bool takes_data = dut->s_axil_wvalid_i != 0 && dut->s_axil_wready_o != 0;
    tick();
    if (takes_address) {
      addresses.push_back(next);
      address_sent = true;
      dut->s_axil_awvalid_i = 0;
    }
    if (takes_data) {
      data.push_back(next);
      data_sent = true;
      dut->s_axil_wvalid_i = 0;
    }
    if (address_sent && data_sent) {
      next = random_write();
      address_sent = false;
      data_sent = false;
    }
  }
  EXPECT_EQ(submitted, model.submitted);
  EXPECT_EQ(popped, model.popped);
  EXPECT_GT(writes_done, 2000U);
  EXPECT_GT(submitted.size(), 20U);
  EXPECT_GT(popped, 20U);
  dut->s_axil_awvalid_i = 0;
  dut->s_axil_wvalid_i = 0;
  dut->counter_event_i = 0;
  EXPECT_EQ(value(registers::kSubmitLoOffset), model.submit_lo);
  EXPECT_EQ(value(registers::kCounters[5].offset), count);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ControlRegistersRandom, testing::Values(1U, 2U, 3U, 4U));

}  // namespace
}  // namespace santa::rtl
