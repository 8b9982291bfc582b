#include "santa/cosim/driver.hpp"

#include <fmt/format.h>

#include <string>

#include "santa/rtl/registers.hpp"

namespace santa::cosim {
namespace {

namespace reg = rtl::registers;

}  // namespace

void Driver::step() {
  if (bench_.failure() || reset_due()) throw Stopped{};
  bench_.cycle();
  if (bench_.failure()) throw Stopped{};
}

void Driver::idle() {
  while (options_.idle > 0.0 && random_.chance(options_.idle)) step();
}

void Driver::expect(const char* what, std::uint64_t rtl, std::uint64_t expected) {
  if (rtl == expected) return;
  bench_.fail("registers", fmt::format("control_registers: {}: RTL 0x{:x}, expected 0x{:x}", what,
                                       rtl, expected));
  throw Stopped{};
}

Driver::ReadAnswer Driver::read_any(std::uint32_t offset) {
  idle();
  LiteToUnit& lite = bench_.lite();
  lite.arvalid = true;
  lite.araddr = static_cast<std::uint16_t>(offset);
  lite.rready = false;
  for (;;) {
    if (!lite.rready) lite.rready = options_.idle == 0.0 || !random_.chance(options_.idle);
    step();
    if (lite.arvalid && bench_.answer().arready) lite.arvalid = false;
    if (bench_.answer().rvalid && lite.rready) break;
  }
  lite.rready = false;
  return {bench_.answer().rdata, bench_.answer().rresp};
}

std::uint8_t Driver::write_any(std::uint32_t offset, std::uint32_t data, std::uint8_t strobes) {
  idle();
  LiteToUnit& lite = bench_.lite();
  lite.awaddr = static_cast<std::uint16_t>(offset);
  lite.wdata = data;
  lite.wstrb = strobes;
  lite.bready = false;
  // Address and data come in any order.
  bool address_left = true;
  bool data_left = true;
  const auto starts = [&] { return options_.idle == 0.0 || !random_.chance(options_.idle); };
  for (;;) {
    if (address_left && !lite.awvalid) lite.awvalid = starts();
    if (data_left && !lite.wvalid) lite.wvalid = starts();
    if (!lite.bready) lite.bready = starts();
    step();
    if (lite.awvalid && bench_.answer().awready) lite.awvalid = address_left = false;
    if (lite.wvalid && bench_.answer().wready) lite.wvalid = data_left = false;
    if (bench_.answer().bvalid && lite.bready) break;
  }
  lite.bready = false;
  return bench_.answer().bresp;
}

std::uint32_t Driver::read(std::uint32_t offset) {
  const ReadAnswer answer = read_any(offset);
  expect(fmt::format("answer of a read at 0x{:03x}", offset).c_str(), answer.response, kRespOkay);
  return answer.data;
}

void Driver::write(std::uint32_t offset, std::uint32_t data) {
  const std::uint8_t response = write_any(offset, data);
  expect(fmt::format("answer of a write at 0x{:03x}", offset).c_str(), response, kRespOkay);
}

std::uint64_t Driver::read_counter(std::uint32_t offset) {
  const std::uint64_t low = read(offset);
  return low | std::uint64_t{read(offset + 4)} << 32;
}

void Driver::check_identity() {
  const UnitParameters& unit = bench_.model().parameters();
  expect("ID", read(reg::kIdOffset), reg::kIdReset);
  expect("VERSION", read(reg::kVersionOffset), reg::kVersionReset);
  const std::uint64_t low = read(reg::kConfigHashLoOffset);
  expect("CONFIG_HASH", low | std::uint64_t{read(reg::kConfigHashHiOffset)} << 32,
         unit.config_hash);
  expect("GROUP_HEADS", read(reg::kGroupHeadsOffset), unit.group_heads);
  expect("MAX_HEAD_DIMENSION", read(reg::kMaxHeadDimensionOffset), unit.max_head_dimension);
  expect("TILE_KEYS", read(reg::kTileKeysOffset), unit.tile_keys);
  expect("PORT_BYTES", read(reg::kPortBytesOffset), unit.port_bytes);
}

void Driver::check_reset_values() {
  expect("CONTROL after reset", read(reg::kControlOffset), reg::kControlReset);
  expect("SUBMIT_LO after reset", read(reg::kSubmitLoOffset), reg::kSubmitLoReset);
  expect("INTERRUPT_STATE after reset", read(reg::kInterruptStateOffset),
         reg::kInterruptStateReset);
  expect("INTERRUPT_ENABLE after reset", read(reg::kInterruptEnableOffset),
         reg::kInterruptEnableReset);
}

void Driver::check_error_event(bool expected) {
  expect("INTERRUPT_STATE.error", reg::kInterruptStateError.of(read(reg::kInterruptStateOffset)),
         expected ? 1 : 0);
}

void Driver::check_registers() {
  constexpr std::uint32_t kUnused = 0xFFC;
  for (const std::uint32_t word : {0xA5C3961EU, 0x5A3C69E1U}) {
    write(reg::kSubmitLoOffset, word);
    expect("SUBMIT_LO", read(reg::kSubmitLoOffset), word);
  }
  // A byte whose strobe is 0 stays; a command without a strobe is none.
  std::uint32_t held = read(reg::kSubmitLoOffset);
  for (std::uint32_t strobes = 0; strobes < 16; ++strobes) {
    std::uint32_t mask = 0;
    for (unsigned byte = 0; byte < 4; ++byte) {
      if ((strobes >> byte & 1U) != 0) mask |= 0xFFU << (8 * byte);
    }
    const std::uint32_t word = ~held;
    expect("answer of a write of some bytes",
           write_any(reg::kSubmitLoOffset, word, static_cast<std::uint8_t>(strobes)), kRespOkay);
    held = (held & ~mask) | (word & mask);
    expect("SUBMIT_LO after a write of some bytes", read(reg::kSubmitLoOffset), held);
  }
  expect("answer of a submission without bytes", write_any(reg::kSubmitHiOffset, 0, 0), kRespOkay);
  const std::uint32_t both = reg::kInterruptTestCompletion.mask() | reg::kInterruptTestError.mask();
  write(reg::kInterruptTestOffset, both);
  expect("INTERRUPT_STATE after a test", read(reg::kInterruptStateOffset), both);
  expect("the interrupt while not enabled", bench_.irq() ? 1 : 0, 0);
  write(reg::kInterruptEnableOffset, both);
  expect("INTERRUPT_ENABLE", read(reg::kInterruptEnableOffset), both);
  expect("the interrupt while enabled", bench_.irq() ? 1 : 0, 1);
  write(reg::kInterruptStateOffset, both);
  expect("INTERRUPT_STATE after its clearing", read(reg::kInterruptStateOffset), 0);
  write(reg::kInterruptEnableOffset, 0);
  write(reg::kCounterClearOffset, 1);
  for (const reg::CounterRegister& counter : reg::kCounters) {
    expect(std::string(counter.name).c_str(), read_counter(counter.offset), 0);
  }
  expect("answer of a read of no register", read_any(kUnused).response, kRespSlaveError);
  expect("answer of a write to no register", write_any(kUnused, 1), kRespSlaveError);
}

void Driver::enable() {
  if (options_.interrupt) {
    write(reg::kInterruptEnableOffset, reg::kInterruptEnableCompletion.mask());
  }
  write(reg::kControlOffset, reg::kControlEnable.mask());
}

bool Driver::submit(std::uint64_t descriptor) {
  write(reg::kSubmitLoOffset, static_cast<std::uint32_t>(descriptor));
  const std::uint8_t response =
      write_any(reg::kSubmitHiOffset, static_cast<std::uint32_t>(descriptor >> 32));
  submitted_at_ = bench_.now();
  if (response != kRespSlaveError) expect("answer of a submission", response, kRespOkay);
  return response == kRespOkay;
}

std::uint32_t Driver::free_slots() {
  return reg::kStatusFreeSlots.of(read(reg::kStatusOffset));
}

bool Driver::busy() {
  return reg::kStatusBusy.of(read(reg::kStatusOffset)) != 0;
}

std::optional<Completion> Driver::take_completion() {
  const std::uint32_t status = read(reg::kCompletionStatusOffset);
  if (reg::kCompletionStatusValid.of(status) == 0) {
    expect("COMPLETION_STATUS without a completion", status, 0);
    return std::nullopt;
  }
  Completion completion;
  completion.code = reg::kCompletionStatusCode.of(status);
  completion.tag = read(reg::kCompletionTagOffset);
  write(reg::kCompletionPopOffset, 1);
  return completion;
}

// Waits for the interrupt only when no completion was left the last time, and clears it before it
// looks: a completion that arrives in between raises it again, two at once are both found.
Completion Driver::wait_for_completion() {
  for (;;) {
    if (options_.interrupt && drained_) {
      while (!bench_.irq()) step();
      announced_at_ = bench_.now();
      write(reg::kInterruptStateOffset, reg::kInterruptStateCompletion.mask());
    }
    const std::optional<Completion> completion = take_completion();
    drained_ = !completion;
    if (completion) return *completion;
  }
}

}  // namespace santa::cosim
