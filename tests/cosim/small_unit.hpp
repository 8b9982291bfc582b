// A unit small enough to work through by hand.
#pragma once

#include "santa/cosim/unit_parameters.hpp"

namespace santa::cosim {

inline UnitParameters small_unit() {
  UnitParameters unit;
  unit.port_bytes = 16;
  unit.tile_keys = 16;
  unit.group_heads = 4;
  unit.max_head_dimension = 64;
  unit.key_lanes = 16;
  unit.digit_lanes = 1;
  unit.weight_lanes = 4;
  unit.scan_lanes = 4;
  unit.value_lanes = 8;
  unit.normalizer_lanes = 4;
  unit.key_buffer_tiles = 2;
  unit.row_buffer_rows = 4;
  unit.stash_kib = 4;
  return unit;
}

}  // namespace santa::cosim
