#include "control_registers_bench.hpp"

#include "santa/rtl/failures.hpp"

namespace santa::rtl {
namespace {

constexpr unsigned kPatience = 32;  // cycles after which an access counts as hanging

}  // namespace

ControlRegisters::ControlRegisters() {
  set_failure_handler([this](const SimulationFailure& failure) {
    ++assertions_failed_;
    if (!assertion_expected_) {
      ADD_FAILURE() << failure.file << ":" << failure.line << ": " << failure.message;
    }
  });
  // Registers start with random values, and so would inputs.
  context->randReset(2);
  context->randSeed(1);
  dut = std::make_unique<Vcontrol_registers_rtl>(context.get());
  dut->clk_i = 0;
  dut->s_axil_awvalid_i = 0;
  dut->s_axil_wvalid_i = 0;
  dut->s_axil_bready_i = 0;
  dut->s_axil_arvalid_i = 0;
  dut->s_axil_rready_i = 0;
  dut->free_slots_i = 4;
  dut->busy_i = 0;
  dut->completion_valid_i = 0;
  dut->completion_event_i = 0;
  dut->completion_error_i = 0;
  dut->counter_event_i = 0;
  reset();
}

ControlRegisters::~ControlRegisters() {
  dut->final();
  set_failure_handler(nullptr);
}

void ControlRegisters::reset() {
  dut->rst_ni = 0;
  ticks(2);
  dut->rst_ni = 1;
}

void ControlRegisters::tick() {
  dut->clk_i = 0;
  dut->eval();
  if (dut->rst_ni != 0 && dut->submit_valid_o != 0) submitted.push_back(dut->submit_address_o);
  if (dut->rst_ni != 0 && dut->completion_pop_o != 0) ++popped;
  dut->clk_i = 1;
  dut->eval();
}

void ControlRegisters::ticks(unsigned count) {
  for (unsigned i = 0; i < count; ++i) tick();
}

unsigned ControlRegisters::write(std::uint32_t address, std::uint32_t data, unsigned strobe,
                                 WriteDelays delays) {
  bool address_done = false;
  bool data_done = false;
  unsigned held_response = 0;
  bool response_seen = false;
  for (unsigned cycle = 0; cycle < kPatience; ++cycle) {
    dut->s_axil_awvalid_i = !address_done && cycle >= delays.address;
    dut->s_axil_awaddr_i = dut->s_axil_awvalid_i != 0 ? address & 0xfffU : 0xfff;
    dut->s_axil_wvalid_i = !data_done && cycle >= delays.data;
    dut->s_axil_wdata_i = dut->s_axil_wvalid_i != 0 ? data : ~data;
    dut->s_axil_wstrb_i = dut->s_axil_wvalid_i != 0 ? strobe & 0xfU : 0xf;
    dut->s_axil_bready_i = cycle >= delays.response;
    dut->clk_i = 0;
    dut->eval();
    const bool takes_address = dut->s_axil_awvalid_i != 0 && dut->s_axil_awready_o != 0;
    const bool takes_data = dut->s_axil_wvalid_i != 0 && dut->s_axil_wready_o != 0;
    const bool response = dut->s_axil_bvalid_o != 0;
    if (response) {
      EXPECT_TRUE(address_done && data_done) << "response before address and data";
      EXPECT_TRUE(!response_seen || dut->s_axil_bresp_o == held_response) << "response changed";
      held_response = dut->s_axil_bresp_o;
    }
    EXPECT_TRUE(response || !response_seen) << "response taken back";
    response_seen = response;
    const bool finished = response && dut->s_axil_bready_i != 0;
    tick();
    address_done = address_done || takes_address;
    data_done = data_done || takes_data;
    if (finished) {
      dut->s_axil_bready_i = 0;
      return held_response;
    }
  }
  ADD_FAILURE() << "write of " << address << " hangs";
  return ~0U;
}

ReadResult ControlRegisters::read(std::uint32_t address, unsigned response_delay) {
  bool address_done = false;
  for (unsigned cycle = 0; cycle < kPatience; ++cycle) {
    dut->s_axil_arvalid_i = !address_done;
    dut->s_axil_araddr_i = address_done ? 0xfff : address & 0xfffU;
    dut->s_axil_rready_i = cycle >= response_delay;
    dut->clk_i = 0;
    dut->eval();
    const bool takes_address = dut->s_axil_arvalid_i != 0 && dut->s_axil_arready_o != 0;
    const bool finished = dut->s_axil_rvalid_o != 0 && dut->s_axil_rready_i != 0;
    const ReadResult result{dut->s_axil_rdata_o, dut->s_axil_rresp_o};
    EXPECT_TRUE(address_done || dut->s_axil_rvalid_o == 0) << "answer before the question";
    tick();
    address_done = address_done || takes_address;
    if (finished) {
      dut->s_axil_rready_i = 0;
      return result;
    }
  }
  ADD_FAILURE() << "read of " << address << " hangs";
  return {0, ~0U};
}

std::uint32_t ControlRegisters::value(std::uint32_t address) {
  const ReadResult result = read(address);
  EXPECT_EQ(result.response, kOkay) << "address " << address;
  return result.data;
}

void ControlRegisters::expect_assertion(const std::function<void()>& action) {
  assertion_expected_ = true;
  assertions_failed_ = 0;
  action();
  EXPECT_GT(assertions_failed_, 0U) << "no assertion failed";
  assertion_expected_ = false;
}

}  // namespace santa::rtl
