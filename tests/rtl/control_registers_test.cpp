// The register block: every register, every order of the write channels, refusals, back-pressure.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "Vcontrol_registers_rtl___024root.h"
#include "control_registers_bench.hpp"

namespace santa::rtl {
namespace {

using registers::Access;
using registers::Register;

const Register* register_at(std::uint32_t address) {
  const auto* found =
      std::find_if(std::begin(registers::kRegisters), std::end(registers::kRegisters),
                   [&](const Register& entry) { return entry.offset == (address & ~3U); });
  return found == std::end(registers::kRegisters) ? nullptr : found;
}

bool is_counter(std::uint32_t address) {
  const std::uint32_t first = registers::kCounters[0].offset;
  return address >= first && address < first + 8 * registers::kNumCounters;
}

TEST_F(ControlRegisters, ReadsResetValuesAndParameters) {
  for (const Register& entry : registers::kRegisters) {
    if (entry.access == Access::kWriteOnly || !entry.has_reset) continue;
    EXPECT_EQ(value(entry.offset), entry.reset) << entry.name;
  }
  EXPECT_EQ(value(registers::kIdOffset), 0x53414e54U);
  EXPECT_EQ(value(registers::kConfigHashLoOffset), 0x89abcdefU);
  EXPECT_EQ(value(registers::kConfigHashHiOffset), 0x01234567U);
  EXPECT_EQ(value(registers::kGroupHeadsOffset), 4U);
  EXPECT_EQ(value(registers::kMaxHeadDimensionOffset), 64U);
  EXPECT_EQ(value(registers::kTileKeysOffset), 16U);
  EXPECT_EQ(value(registers::kPortBytesOffset), 32U);
  EXPECT_EQ(value(registers::kStatusOffset), 0x400U);
  for (const auto& counter : registers::kCounters) {
    EXPECT_EQ(value(counter.offset), 0U) << counter.name;
    EXPECT_EQ(value(counter.offset + 4), 0U) << counter.name;
  }
}

TEST_F(ControlRegisters, EveryAddressIsReadOrRefused) {
  for (std::uint32_t address = 0; address < 0x1000; ++address) {
    const Register* entry = register_at(address);
    const bool readable =
        entry != nullptr ? entry->access != Access::kWriteOnly : is_counter(address);
    const ReadResult result = read(address);
    EXPECT_EQ(result.response, readable ? kOkay : kSlverr) << address;
    EXPECT_TRUE(readable || result.data == 0) << address;
  }
}

TEST_F(ControlRegisters, EveryAddressIsWrittenOrRefused) {
  dut->completion_valid_i = 1;
  for (std::uint32_t address = 0; address < 0x1000; ++address) {
    const Register* entry = register_at(address);
    const bool writable = entry != nullptr && entry->access != Access::kReadOnly;
    EXPECT_EQ(write(address, 0), writable ? kOkay : kSlverr) << address;
  }
  // Bits 1:0 of the address do not count: four writes each.
  EXPECT_EQ(submitted.size(), 4U);
  EXPECT_EQ(popped, 4U);
}

TEST_F(ControlRegisters, RefusedWritesChangeNothing) {
  ASSERT_EQ(write(registers::kSubmitLoOffset, 0x12345678), kOkay);
  for (std::uint32_t address = 0; address < 0x1000; address += 4) {
    const Register* entry = register_at(address);
    if (entry == nullptr || entry->access == Access::kReadOnly) {
      EXPECT_EQ(write(address, 0xffffffff), kSlverr);
    }
  }
  EXPECT_EQ(value(registers::kSubmitLoOffset), 0x12345678U);
  EXPECT_EQ(value(registers::kControlOffset), 0U);
  EXPECT_EQ(value(registers::kInterruptStateOffset), 0U);
  EXPECT_EQ(value(registers::kInterruptEnableOffset), 0U);
  EXPECT_EQ(dut->enable_o, 0);
  EXPECT_TRUE(submitted.empty());
  EXPECT_EQ(popped, 0U);
}

TEST_F(ControlRegisters, WritableBitsAreThoseOfTheFieldsByteByByte) {
  for (const Register& entry : registers::kRegisters) {
    if (entry.access != Access::kReadWrite) continue;
    for (unsigned strobe = 0; strobe < 16; ++strobe) {
      std::uint32_t bytes = 0;
      for (unsigned b = 0; b < 4; ++b) bytes |= (strobe >> b & 1U) != 0 ? 0xffU << 8 * b : 0U;
      for (const std::uint32_t before : {0U, ~0U}) {
        ASSERT_EQ(write(entry.offset, before), kOkay);
        ASSERT_EQ(write(entry.offset, ~before, strobe), kOkay);
        EXPECT_EQ(value(entry.offset), (before ^ bytes) & entry.mask) << entry.name << strobe;
      }
    }
  }
  write(registers::kControlOffset, 1);
  EXPECT_EQ(dut->enable_o, 1);
  write(registers::kControlOffset, 0);
  EXPECT_EQ(dut->enable_o, 0);
}

TEST_F(ControlRegisters, AddressAndDataComeInAnyOrder) {
  std::uint32_t data = 1;
  for (unsigned address = 0; address < 5; ++address) {
    for (unsigned words = 0; words < 5; ++words) {
      for (unsigned response = 0; response < 9; response += 2) {
        data = data * 2654435761U + 1;
        EXPECT_EQ(write(registers::kSubmitLoOffset, data, 0xf, {address, words, response}), kOkay);
        EXPECT_EQ(value(registers::kSubmitLoOffset), data);
        EXPECT_EQ(write(registers::kIdOffset, data, 0xf, {address, words, response}), kSlverr);
      }
    }
  }
}

// The next address and data are taken while a response waits, and answered after it.
TEST_F(ControlRegisters, WritesQueueBehindAHeldResponse) {
  dut->s_axil_awaddr_i = registers::kSubmitLoOffset;
  dut->s_axil_wdata_i = 1;
  dut->s_axil_wstrb_i = 0xf;
  dut->s_axil_awvalid_i = 1;
  dut->s_axil_wvalid_i = 1;
  ticks(3);  // accepted, in effect; the second is accepted
  dut->s_axil_awaddr_i = registers::kIdOffset;
  ticks(3);
  EXPECT_EQ(dut->s_axil_bvalid_o, 1);
  EXPECT_EQ(dut->s_axil_awready_o, 0);
  EXPECT_EQ(dut->s_axil_wready_o, 0);
  dut->s_axil_awvalid_i = 0;
  dut->s_axil_wvalid_i = 0;
  dut->s_axil_bready_i = 1;
  unsigned responses = 0;
  for (unsigned cycle = 0; cycle < 10; ++cycle) {
    responses += dut->s_axil_bvalid_o;
    tick();
  }
  EXPECT_EQ(responses, 2U);
}

TEST_F(ControlRegisters, ReadDataIsHeldUntilTaken) {
  dut->busy_i = 1;
  for (unsigned delay = 0; delay < 8; ++delay) {
    EXPECT_EQ(read(registers::kStatusOffset, delay).data, 0x401U);
  }
  dut->s_axil_arvalid_i = 1;
  dut->s_axil_araddr_i = registers::kStatusOffset;
  ticks(1);
  dut->s_axil_arvalid_i = 0;
  for (std::uint8_t cycle = 0; cycle < 6; ++cycle) {
    dut->busy_i = cycle % 2;
    dut->free_slots_i = cycle;
    EXPECT_EQ(dut->s_axil_rvalid_o, 1);
    EXPECT_EQ(dut->s_axil_rdata_o, 0x401U);
    EXPECT_EQ(dut->s_axil_arready_o, 0);
    tick();
  }
  dut->s_axil_rready_i = 1;
  ticks(1);
  EXPECT_EQ(dut->s_axil_rvalid_o, 0);
}

TEST_F(ControlRegisters, SubmissionIsOnePulseWithTheWholeAddress) {
  EXPECT_EQ(write(registers::kSubmitLoOffset, 0x89abcd00), kOkay);
  EXPECT_EQ(write(registers::kSubmitHiOffset, 0x01234567, 0xf, {3, 0, 4}), kOkay);
  EXPECT_EQ(write(registers::kSubmitHiOffset, 0xffffffff, 0x5), kOkay);  // other bytes are 0
  EXPECT_EQ(write(registers::kSubmitHiOffset, 0xffffffff, 0x0), kOkay);  // no byte: no effect
  const std::vector<std::uint64_t> expected = {0x0123456789abcd00u, 0x00ff00ff89abcd00u};
  EXPECT_EQ(submitted, expected);
}

TEST_F(ControlRegisters, SubmissionNeedsAFreeSlot) {
  for (std::uint8_t slots = 0; slots < 16; ++slots) {
    submitted.clear();
    dut->free_slots_i = slots;
    EXPECT_EQ(write(registers::kSubmitHiOffset, slots), slots == 0 ? kSlverr : kOkay);
    EXPECT_EQ(submitted.size(), slots == 0 ? 0U : 1U);
    EXPECT_EQ(registers::kStatusFreeSlots.of(value(registers::kStatusOffset)), slots);
  }
  dut->free_slots_i = 0;
  EXPECT_EQ(write(registers::kSubmitHiOffset, 0, 0x0), kOkay);
}

TEST_F(ControlRegisters, CompletionIsReadAndPopped) {
  dut->completion_tag_i = 0xcafe1234;
  dut->completion_status_i = 5;
  EXPECT_EQ(value(registers::kCompletionStatusOffset), 0U);
  EXPECT_EQ(value(registers::kCompletionTagOffset), 0U);
  EXPECT_EQ(write(registers::kCompletionPopOffset, 1), kSlverr);
  EXPECT_EQ(popped, 0U);
  dut->completion_valid_i = 1;
  EXPECT_EQ(value(registers::kCompletionStatusOffset), 0x80000005U);
  EXPECT_EQ(value(registers::kCompletionTagOffset), 0xcafe1234U);
  EXPECT_EQ(write(registers::kCompletionPopOffset, 0, 0x0), kOkay);
  EXPECT_EQ(popped, 0U);
  EXPECT_EQ(write(registers::kCompletionPopOffset, 0), kOkay);
  EXPECT_EQ(popped, 1U);
  EXPECT_EQ(write(registers::kCompletionPopOffset, 1, 0x8, {0, 3, 5}), kOkay);
  EXPECT_EQ(popped, 2U);
}

TEST_F(ControlRegisters, EventsRaiseTheInterruptUntilTheyAreCleared) {
  const std::uint32_t state = registers::kInterruptStateOffset;
  dut->completion_event_i = 1;
  ticks(1);
  dut->completion_event_i = 0;
  EXPECT_EQ(value(state), 1U);
  EXPECT_EQ(dut->irq_o, 0);
  write(registers::kInterruptEnableOffset, 2);
  EXPECT_EQ(dut->irq_o, 0);
  dut->completion_event_i = 1;
  dut->completion_error_i = 1;
  ticks(1);
  dut->completion_event_i = 0;
  dut->completion_error_i = 0;
  EXPECT_EQ(value(state), 3U);
  EXPECT_EQ(dut->irq_o, 1);
  write(state, 0xffffffff, 0xe);  // not the byte that holds them
  EXPECT_EQ(value(state), 3U);
  write(state, 1);
  EXPECT_EQ(value(state), 2U);
  EXPECT_EQ(dut->irq_o, 1);
  write(state, 0);
  EXPECT_EQ(dut->irq_o, 1);
  write(state, 2);
  EXPECT_EQ(value(state), 0U);
  EXPECT_EQ(dut->irq_o, 0);
}

TEST_F(ControlRegisters, AnEventInTheCycleOfItsClearingIsKept) {
  dut->completion_event_i = 1;
  ticks(1);
  EXPECT_EQ(write(registers::kInterruptStateOffset, 3), kOkay);  // the event lasts
  dut->completion_event_i = 0;
  EXPECT_EQ(value(registers::kInterruptStateOffset), 1U);
}

TEST_F(ControlRegisters, InterruptTestSetsEvents) {
  write(registers::kInterruptEnableOffset, 3);
  write(registers::kInterruptTestOffset, 3, 0xe);
  EXPECT_EQ(value(registers::kInterruptStateOffset), 0U);
  write(registers::kInterruptTestOffset, 2);
  EXPECT_EQ(value(registers::kInterruptStateOffset), 2U);
  EXPECT_EQ(dut->irq_o, 1);
  write(registers::kInterruptTestOffset, 1);
  EXPECT_EQ(value(registers::kInterruptStateOffset), 3U);
}

TEST_F(ControlRegisters, EachCounterCountsItsEvent) {
  // Counter c sees c + 3 cycles.
  const auto count = static_cast<unsigned>(registers::kNumCounters);
  for (unsigned cycle = 0; cycle < count + 3; ++cycle) {
    std::uint32_t events = 0;
    for (unsigned c = 0; c < count; ++c) events |= (cycle < c + 3 ? 1U : 0U) << c;
    dut->counter_event_i = events;
    tick();
  }
  dut->counter_event_i = 0;
  for (unsigned c = 0; c < count; ++c) {
    EXPECT_EQ(value(registers::kCounters[c].offset), c + 3) << registers::kCounters[c].name;
    EXPECT_EQ(value(registers::kCounters[c].offset + 4), 0U) << registers::kCounters[c].name;
  }
  EXPECT_EQ(write(registers::kCounterClearOffset, 0, 0x0), kOkay);
  EXPECT_EQ(value(registers::kCounters[0].offset), 3U);
  dut->counter_event_i = 1;
  EXPECT_EQ(write(registers::kCounterClearOffset, 0), kOkay);
  dut->counter_event_i = 0;
  EXPECT_LT(value(registers::kCounters[0].offset), 3U);
  for (unsigned c = 1; c < count; ++c) EXPECT_EQ(value(registers::kCounters[c].offset), 0U);
}

TEST_F(ControlRegisters, ReadingTheLowerHalfKeepsTheUpperHalf) {
  auto* root = dut->rootp;
  root->control_registers__DOT__gen_counters__BRA__0__KET____DOT__count_q = 0x7ffffffffULL;
  root->control_registers__DOT__gen_counters__BRA__17__KET____DOT__count_q = 0x123456789abcdef0ULL;
  const std::uint32_t first = registers::kCounters[0].offset;
  EXPECT_EQ(value(first), 0xffffffffU);
  dut->counter_event_i = 1;
  ticks(1);
  dut->counter_event_i = 0;
  EXPECT_EQ(value(first + 4), 7U);  // of the value whose lower half was read
  EXPECT_EQ(value(first + 4), 7U);
  EXPECT_EQ(value(first), 0U);
  EXPECT_EQ(value(first + 4), 8U);
  const std::uint32_t last = registers::kCounters[17].offset;
  EXPECT_EQ(value(last), 0x9abcdef0U);
  EXPECT_EQ(value(last + 4), 0x12345678U);
}

// A reset with both channels in the middle of an access, managers that hold valid through it.
TEST_F(ControlRegisters, ResetInTheMiddleOfAccesses) {
  for (unsigned before = 0; before < 6; ++before) {
    write(registers::kSubmitLoOffset, 0xffffffff);
    write(registers::kControlOffset, 1);
    dut->s_axil_awaddr_i = registers::kSubmitHiOffset;
    dut->s_axil_araddr_i = registers::kSubmitLoOffset;
    dut->s_axil_awvalid_i = 1;
    dut->s_axil_wvalid_i = before % 2;
    dut->s_axil_arvalid_i = 1;
    ticks(before);
    submitted.clear();
    reset();
    EXPECT_EQ(dut->s_axil_awready_o, 0);
    EXPECT_EQ(dut->s_axil_wready_o, 0);
    EXPECT_EQ(dut->s_axil_arready_o, 0);
    EXPECT_EQ(dut->s_axil_bvalid_o, 0);
    EXPECT_EQ(dut->s_axil_rvalid_o, 0);
    EXPECT_EQ(dut->enable_o, 0);
    dut->s_axil_arvalid_i = 0;
    EXPECT_EQ(write(registers::kSubmitHiOffset, before), kOkay);
    EXPECT_EQ(submitted, std::vector<std::uint64_t>{std::uint64_t{before} << 32});
    EXPECT_EQ(value(registers::kSubmitLoOffset), 0U);
  }
}

TEST_F(ControlRegisters, ItsAssertionsAreOn) {
  dut->s_axil_arvalid_i = 1;
  ticks(2);  // nothing is accepted in the first cycle after a reset
  dut->s_axil_arvalid_i = 0;
  ASSERT_EQ(dut->s_axil_rvalid_o, 1);
  expect_assertion([&] {
    dut->rootp->control_registers__DOT__rvalid_q = 0;
    ticks(2);
  });
}

}  // namespace
}  // namespace santa::rtl
