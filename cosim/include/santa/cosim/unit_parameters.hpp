// Parameters of one built unit and what follows from them (docs/rtl.md).
#pragma once

#include <cstdint>

namespace santa::config {
struct HardwareConfig;
}

namespace santa::cosim {

struct UnitParameters {
  std::uint32_t port_bytes = 0;
  std::uint32_t tile_keys = 0;
  std::uint32_t group_heads = 0;
  std::uint32_t max_head_dimension = 0;
  std::uint32_t key_lanes = 0;
  std::uint32_t digit_lanes = 0;
  std::uint32_t weight_lanes = 0;
  std::uint32_t scan_lanes = 0;
  std::uint32_t value_lanes = 0;
  std::uint32_t normalizer_lanes = 0;
  std::uint32_t key_buffer_tiles = 0;
  std::uint32_t row_buffer_rows = 0;
  std::uint32_t stash_kib = 0;
  std::uint64_t config_hash = 0;  // of the `unit` section, as CONFIG_HASH shows it
};

UnitParameters parameters_of(const config::HardwareConfig& hardware);

inline std::uint32_t divide_up(std::uint32_t value, std::uint32_t divisor) {
  return (value + divisor - 1) / divisor;
}
inline std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
// Smallest power of two that is at least `value`, and 1 for 0.
inline std::uint32_t power_of_two_from(std::uint32_t value) {
  std::uint32_t power = 1;
  while (power < value) power *= 2;
  return power;
}

// Bytes from one row of int8 values to the next.
inline std::uint32_t row_stride(const UnitParameters& unit, std::uint32_t head_dimension) {
  const std::uint32_t power = power_of_two_from(head_dimension);
  return power > unit.port_bytes ? power : unit.port_bytes;
}
inline std::uint32_t tile_count(const UnitParameters& unit, std::uint32_t context) {
  return divide_up(context, unit.tile_keys);
}
inline std::uint64_t tile_weight_bytes(const UnitParameters& unit, std::uint32_t group) {
  return std::uint64_t{2} * unit.tile_keys * power_of_two_from(group);
}
// Tiles whose weights half of the stash holds.
inline std::uint64_t stash_tiles(const UnitParameters& unit, std::uint32_t group) {
  return std::uint64_t{512} * unit.stash_kib / tile_weight_bytes(unit, group);
}
inline std::uint64_t tile_statistics_bytes(const UnitParameters& unit) {
  const std::uint32_t statistics = 8 * unit.group_heads;
  return statistics > unit.port_bytes ? statistics : unit.port_bytes;
}
// The last tiles of a request, whose weights are in scratch memory.
inline std::uint64_t spilled_tiles(const UnitParameters& unit, std::uint32_t context,
                                   std::uint32_t group) {
  const std::uint64_t tiles = tile_count(unit, context);
  const std::uint64_t fitting = stash_tiles(unit, group);
  return tiles > fitting ? tiles - fitting : 0;
}
// Byte of a tile's scratch memory where the weight of a key and a head begins. A word of the stash
// has ScanLanes weights for each of GroupHeads banks; where the group is smaller, the next keys of
// the same heads take the banks that are left.
inline std::uint64_t spilled_weight_offset(const UnitParameters& unit, std::uint32_t group,
                                           std::uint32_t key, std::uint32_t head) {
  const std::uint64_t banks = unit.group_heads;
  const std::uint64_t heads = power_of_two_from(group);
  const std::uint64_t slices = banks / heads;
  const std::uint64_t chunk = key / unit.scan_lanes;
  const std::uint64_t bank = chunk % slices * heads + head;
  return 2 * ((chunk / slices * banks + bank) * unit.scan_lanes + key % unit.scan_lanes);
}
// 0 when every tile fits: the unit never touches scratch then.
inline std::uint64_t scratch_bytes(const UnitParameters& unit, std::uint32_t context,
                                   std::uint32_t group) {
  if (spilled_tiles(unit, context, group) == 0) return 0;
  return tile_count(unit, context) * (tile_weight_bytes(unit, group) + tile_statistics_bytes(unit));
}

}  // namespace santa::cosim
