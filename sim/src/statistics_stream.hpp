// Statistics of spilled tiles on their way back from memory: read ahead in runs, a few in flight.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "probe.hpp"
#include "unit_context.hpp"
#include "weight_unit.hpp"

namespace santa::sim {

class StatisticsStream {
 public:
  static constexpr std::uint32_t kRunEntries = 32;  // RunEntries of rtl/scratch_reader.sv
  static constexpr std::uint32_t kRunsAhead = 4;    // its buffer holds so many

  StatisticsStream(const UnitContext& context, const Stash& stash, const JobState& state)
      : context_(context),
        stash_(stash),
        state_(state),
        first_(stash.tiles_on_chip(state)),
        count_(state.tile_count() - first_) {
    while (asked_ < kRunsAhead && ask()) {
    }
  }
  ~StatisticsStream() = default;
  StatisticsStream(const StatisticsStream&) = delete;
  StatisticsStream& operator=(const StatisticsStream&) = delete;

  // Waits until the statistics of `tile` are there; those before it have been used.
  void wait_for(std::uint32_t tile, BlockProbe& probe) {
    if (tile < first_) return;
    const std::uint32_t run = (tile - first_) / kRunEntries;
    while (asked_ < run + kRunsAhead && ask()) {
    }
    const sc_core::sc_time start = time_now();
    while (arrived_ <= run) sc_core::wait(arrival_);
    probe.add_starved(time_now() - start);
  }
  // Waits until nothing is under way: weights of a tile are asked for then only.
  void wait_until_quiet() {
    while (arrived_ < asked_) sc_core::wait(arrival_);
  }
  // First tile behind the run that holds `tile`, or the number of tiles.
  std::uint32_t end_of_run(std::uint32_t tile) const {
    if (tile < first_) return first_;
    const std::uint32_t end = tile + kRunEntries - (tile - first_) % kRunEntries;
    return std::min(end, first_ + count_);
  }

 private:
  bool ask() {
    const std::uint32_t offset = asked_ * kRunEntries;
    if (offset >= count_) return false;
    ++asked_;
    const ByteRange range =
        stash_.spilled_statistics(state_, first_ + offset, std::min(kRunEntries, count_ - offset));
    context_.port.read(Stream::kStash, range.address, range.bytes, [this] {
      ++arrived_;
      arrival_.notify();
    });
    return true;
  }

  const UnitContext& context_;
  const Stash& stash_;
  const JobState& state_;
  std::uint32_t first_;  // spilled tile
  std::uint32_t count_;
  std::uint32_t asked_ = 0;  // runs
  std::uint32_t arrived_ = 0;
  sc_core::sc_event arrival_;
};

}  // namespace santa::sim
