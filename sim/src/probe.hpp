// What a unit's blocks record while they run: busy, starved and blocked cycles, and spans.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "santa/sim/simulation.hpp"
#include "timing.hpp"

namespace santa::sim {

// The counters of one block. Blocks spend time only through work() and the waits of Channel, so the
// three counters and the idle rest add up to the run.
class BlockProbe {
 public:
  BlockProbe(std::string name, std::uint16_t index, const Clock& clock, std::vector<Span>* spans)
      : clock_(clock), spans_(spans), index_(index) {
    counters_.block = std::move(name);
  }

  // Waits for `cycles` of work. `label` and `number` name the span: "tile", 12.
  void work(std::uint64_t cycles, std::uint32_t job, const char* label, std::uint64_t number) {
    if (cycles == 0) return;
    const sc_core::sc_time start = time_now();
    sc_core::wait(occupy(start, cycles, job, label, number) - start);
  }
  // Time without work, of a pipeline that fills or drains.
  void fill(std::uint64_t cycles) {
    if (cycles > 0) sc_core::wait(clock_.cycles(cycles));
  }
  // Books `cycles` of work that end at `end`, and waits for it if it is still to come.
  void work_until(const sc_core::sc_time& end, std::uint64_t cycles, std::uint32_t job,
                  const char* label, std::uint64_t number) {
    if (cycles > 0) occupy(end - clock_.cycles(cycles), cycles, job, label, number);
    wait_until(end);
  }
  // Time without work, or of work that is booked.
  static void wait_until(const sc_core::sc_time& time) {
    if (time > time_now()) sc_core::wait(time - time_now());
  }
  const Clock& clock() const { return clock_; }
  // Books `cycles` of work from `start` on without waiting; returns its end.
  sc_core::sc_time occupy(const sc_core::sc_time& start, std::uint64_t cycles, std::uint32_t job,
                          const char* label, std::uint64_t number) {
    counters_.busy_cycles += cycles;
    const sc_core::sc_time end = start + clock_.cycles(cycles);
    if (spans_ != nullptr) {
      spans_->push_back(
          {index_, job, label + (" " + std::to_string(number)), to_ns(start), to_ns(end)});
    }
    return end;
  }
  void add_starved(const sc_core::sc_time& time) { starved_ += time; }
  void add_blocked(const sc_core::sc_time& time) { blocked_ += time; }

  BlockCounters counters() const {
    BlockCounters result = counters_;
    result.starved_cycles = clock_.to_cycles(starved_);
    result.blocked_cycles = clock_.to_cycles(blocked_);
    return result;
  }

 private:
  const Clock& clock_;
  std::vector<Span>* spans_;
  std::uint16_t index_;
  BlockCounters counters_;
  sc_core::sc_time starved_;
  sc_core::sc_time blocked_;
};

// The probes of one unit.
class UnitProbe {
 public:
  UnitProbe(const Clock& clock, bool record_spans) : clock_(clock), record_spans_(record_spans) {}

  // The reference stays valid while the probe lives.
  BlockProbe& add_block(const std::string& name) {
    blocks_.emplace_back(name, static_cast<std::uint16_t>(blocks_.size()), clock_,
                         record_spans_ ? &spans_ : nullptr);
    return blocks_.back();
  }
  std::vector<BlockCounters> counters() const {
    std::vector<BlockCounters> result;
    for (const BlockProbe& block : blocks_) result.push_back(block.counters());
    return result;
  }
  std::vector<Span> take_spans() { return std::move(spans_); }

 private:
  const Clock& clock_;
  bool record_spans_;
  std::deque<BlockProbe> blocks_;
  std::vector<Span> spans_;
};

}  // namespace santa::sim
