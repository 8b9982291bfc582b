// What a request moves over the unit's memory port, to the word: each needed feature of each tile
// once, each drawn row once, and nothing else.
#pragma once

#include <cstdint>
#include <string>

#include "santa/cosim/axi_memory.hpp"
#include "santa/cosim/scoreboard.hpp"

namespace santa::cosim {

// Reads of scratch memory are left out: a tile that no threshold is left for
// is dropped at a moment that depends on the memory.
struct PortWords {
  std::uint64_t request = 0;  // descriptor and operands
  std::uint64_t keys = 0;
  std::uint64_t values = 0;
  std::uint64_t outputs = 0;  // written
  std::uint64_t spills = 0;   // written: weights and statistics beyond the stash

  PortWords& operator+=(const PortWords& other);
};

// Of a request that memory does not cut short. `descriptor`: the address it was submitted at.
PortWords expected_traffic(const ScoreboardRequest& request, std::uint64_t descriptor,
                           const UnitParameters& unit);

// The first part of the traffic between two states of the memory's counters that is not as
// expected, in words for people; empty: none.
std::string traffic_difference(const PortWords& expected, const MemoryCounters& from,
                               const MemoryCounters& to);

}  // namespace santa::cosim
