// What a DRAM model counts: which constraint set the time of each burst, and where the time of the
// data bus went.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace santa::sim {

// What sets the time of a burst, and what the data bus does or waits for.
enum class DramLimit : std::uint8_t {
  kBus,         // the burst before it on the data bus (tCCD_S)
  kBankGroup,   // one before it in the same bank group (tCCD_L)
  kTurnaround,  // a change between reads and writes (tWTR, read to write)
  kFaw,         // its activate: four activates in tFAW
  kRrd,         // its activate: the activate before it (tRRD)
  kRowCycle,    // its activate: another row of its bank (tRC, tRAS, tRP, tRTP, tWR)
  kRefresh,     // its activate: a refresh (tRFC)
  kLatency,     // its own arrival, precharge, activate and CL: nothing else was in the way
  kNoRequest,   // of the bus alone: nobody asked for data
};
inline constexpr std::array<std::string_view, 9> kDramLimitNames = {
    "bus",       "bank_group", "turnaround", "tfaw",      "trrd",
    "row_cycle", "refresh",    "latency",    "no_request"};
inline constexpr std::size_t kDramLimitCount = kDramLimitNames.size();

constexpr std::size_t index_of(DramLimit limit) {
  return static_cast<std::size_t>(limit);
}

// Sums of one channel, in its clock cycles, or of all.
struct DramSums {
  std::uint64_t bursts = 0;
  std::uint64_t activates = 0;
  std::uint64_t precharges = 0;  // on demand; those of a refresh are not counted
  std::uint64_t refreshes = 0;   // of all banks of a channel
  std::uint64_t row_hits = 0;    // runs of bursts that found their row open
  // Bursts by what set the time of their command; kNoRequest stays 0.
  std::array<std::uint64_t, kDramLimitCount> limited_bursts{};
  // Time of the data bus: kBus while it moves data, else by what it waited for.
  std::array<std::uint64_t, kDramLimitCount> time_cycles{};

  DramSums& operator+=(const DramSums& other) {
    bursts += other.bursts;
    activates += other.activates;
    precharges += other.precharges;
    refreshes += other.refreshes;
    row_hits += other.row_hits;
    for (std::size_t i = 0; i < kDramLimitCount; ++i) {
      limited_bursts[i] += other.limited_bursts[i];
      time_cycles[i] += other.time_cycles[i];
    }
    return *this;
  }
};

// One burst as it arrives at the memory.
struct DramAccess {
  std::uint64_t address = 0;  // a multiple of the burst's bytes
  bool is_write = false;
  std::uint64_t cycle = 0;  // of the DRAM's clock, from 0; never falls from one to the next
};
using DramObserver = std::function<void(const DramAccess&)>;

// What a simulated DRAM reports.
struct DramCounters {
  DramSums sums;  // of all channels
  double clock_ns = 0.0;
  double time_ns(DramLimit limit) const {  // summed over channels
    return static_cast<double>(sums.time_cycles[index_of(limit)]) * clock_ns;
  }
};

// What to change for more speed: kBus where the bus moves data in at least four fifths of the time
// in which somebody asks for it, else what took most of the rest of that time.
constexpr DramLimit binding_limit(const DramSums& sums) {
  std::uint64_t asked = sums.time_cycles[index_of(DramLimit::kBus)];
  std::size_t worst = index_of(DramLimit::kBankGroup);
  for (std::size_t i = worst; i < index_of(DramLimit::kNoRequest); ++i) {
    asked += sums.time_cycles[i];
    if (sums.time_cycles[i] > sums.time_cycles[worst]) worst = i;
  }
  const bool busy = 5 * sums.time_cycles[index_of(DramLimit::kBus)] >= 4 * asked;
  return busy ? DramLimit::kBus : static_cast<DramLimit>(worst);
}

}  // namespace santa::sim
