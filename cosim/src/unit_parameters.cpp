#include "santa/cosim/unit_parameters.hpp"

#include "santa/config/hardware.hpp"

namespace santa::cosim {

UnitParameters parameters_of(const config::HardwareConfig& hardware) {
  const config::UnitConfig& u = hardware.unit;
  const auto number = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  UnitParameters unit;
  unit.port_bytes = number(u.port_bytes);
  unit.tile_keys = number(u.tile_keys);
  unit.group_heads = number(u.group_heads);
  unit.max_head_dimension = number(u.max_head_dimension);
  unit.key_lanes = number(u.key_lanes);
  unit.digit_lanes = number(u.digit_lanes);
  unit.weight_lanes = number(u.weight_lanes);
  unit.scan_lanes = number(u.scan_lanes);
  unit.value_lanes = number(u.value_lanes);
  unit.normalizer_lanes = number(u.normalizer_lanes);
  unit.key_buffer_tiles = number(u.key_buffer_tiles);
  unit.row_buffer_rows = number(u.row_buffer_rows);
  unit.stash_kib = number(u.stash_kib);
  constexpr int kHexadecimal = 16;
  unit.config_hash = std::stoull(hardware.unit_hash(), nullptr, kHexadecimal);
  return unit;
}

}  // namespace santa::cosim
