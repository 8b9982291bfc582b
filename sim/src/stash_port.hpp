// Port widths of the stash and of the tile statistics, which two blocks share.
#pragma once

#include "santa/config/hardware.hpp"

namespace santa::sim {

inline constexpr unsigned kWeightBits = 16;
inline constexpr unsigned kStatisticsBits = 64;  // exponent and sum of one tile and head

inline unsigned stash_port_bits(const config::UnitConfig& unit) {
  return static_cast<unsigned>(unit.scan_lanes) * kWeightBits;
}
inline std::uint64_t stash_bytes(const config::UnitConfig& unit) {
  return static_cast<std::uint64_t>(unit.stash_kib) * 1024;
}
// Statistics of all tiles whose weights fit the stash, at one head a tile the worst case.
inline std::uint64_t statistics_bytes(const config::UnitConfig& unit) {
  return stash_bytes(unit) / 2 / static_cast<std::uint64_t>(unit.tile_keys) * (kStatisticsBits / 8);
}

}  // namespace santa::sim
