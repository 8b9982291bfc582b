// Where an address lies: channel, bank and row.
#pragma once

#include <cstdint>
#include <vector>

#include "santa/config/hardware.hpp"

namespace santa::sim {

// A place in memory. Bank groups and banks are counted through all stacks of a channel.
struct DramPlace {
  std::uint32_t channel = 0;
  std::uint32_t bank = 0;  // bank / banks_per_group is its group
  std::uint32_t row = 0;
};

// Channels take turns every `memory.interleave_bytes`; what is left of an address is divided as
// `dram.address_map` says. Requires a hardware description with a `dram` section.
class DramAddressMap {
 public:
  explicit DramAddressMap(const config::HardwareConfig& hardware);

  // Addresses below capacity_bytes().
  DramPlace place(std::uint64_t address) const;
  // Addresses between two multiples of this lie in one row of one bank.
  std::uint64_t piece_bytes() const { return std::uint64_t{1} << piece_log2_; }
  std::uint64_t capacity_bytes() const { return capacity_bytes_; }

 private:
  struct Slice {
    unsigned shift = 0;  // in the address inside the channel
    std::uint64_t mask = 0;
    unsigned target_shift = 0;  // in bank or row
    bool in_row = false;
  };
  std::uint64_t channels_;
  std::uint64_t capacity_bytes_;
  unsigned interleave_log2_;
  unsigned piece_log2_;
  std::vector<Slice> slices_;
};

}  // namespace santa::sim
