#include "santa/rtl/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "santa/error.hpp"

namespace santa::rtl {
namespace {

bool is_power_of_two(std::int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

// Refuses values with the place and the key.
class Checker {
 public:
  explicit Checker(const std::string& place) : place_(place) {}

  void refuse(const char* key, std::int64_t value, const std::string& allowed) const {
    throw input_error(place_, key, fmt::format("got {}", value), allowed);
  }
  void one_of(const char* key, std::int64_t value,
              std::initializer_list<std::int64_t> allowed) const {
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
      refuse(key, value, fmt::format("{} in RTL", fmt::join(allowed, ", ")));
    }
  }
  void range(const char* key, std::int64_t value, std::int64_t low, std::int64_t high) const {
    if (value < low || value > high) refuse(key, value, fmt::format("{} to {} in RTL", low, high));
  }
  // `why` says where the bounds come from.
  void power_of_two(const char* key, std::int64_t value, std::int64_t low, std::int64_t high,
                    const std::string& why = "") const {
    if (is_power_of_two(value) && value >= low && value <= high) return;
    refuse(key, value, fmt::format("a power of two from {} to {} in RTL{}", low, high, why));
  }

 private:
  const std::string& place_;
};

}  // namespace

void check_unit(const config::HardwareConfig& hardware, const std::string& place) {
  const config::UnitConfig& unit = hardware.unit;
  const Checker check(place);
  // AXI4 data buses are up to 1024 bits wide.
  check.one_of("unit.port_bytes", unit.port_bytes, {16, 32, 64, 128});
  check.power_of_two("unit.tile_keys", unit.tile_keys, std::max<std::int64_t>(16, unit.port_bytes),
                     1024, ", at least unit.port_bytes");
  check.one_of("unit.group_heads", unit.group_heads, {1, 2, 4, 8});
  check.power_of_two("unit.max_head_dimension", unit.max_head_dimension,
                     std::max<std::int64_t>(16, unit.port_bytes), 256,
                     ", at least unit.port_bytes");
  check.power_of_two("unit.key_lanes", unit.key_lanes, unit.port_bytes, unit.tile_keys,
                     ": unit.port_bytes to unit.tile_keys");
  check.one_of("unit.digit_lanes", unit.digit_lanes, {1, 2, 4});
  check.power_of_two("unit.scan_lanes", unit.scan_lanes,
                     std::max<std::int64_t>(1, unit.port_bytes / (2 * unit.group_heads)),
                     unit.tile_keys / unit.group_heads,
                     ": unit.port_bytes / (2 unit.group_heads) to unit.tile_keys / "
                     "unit.group_heads");
  check.power_of_two("unit.weight_lanes", unit.weight_lanes, 1,
                     std::min(unit.scan_lanes, unit.key_lanes),
                     ", at most unit.scan_lanes and unit.key_lanes");
  check.power_of_two("unit.value_lanes", unit.value_lanes, 1, unit.port_bytes,
                     ", at most unit.port_bytes");
  check.power_of_two("unit.normalizer_lanes", unit.normalizer_lanes, 1,
                     std::min(unit.port_bytes / 2, unit.value_lanes),
                     ", at most unit.port_bytes / 2 and unit.value_lanes");
  check.range("unit.key_buffer_tiles", unit.key_buffer_tiles, 2, 64);
  check.power_of_two("unit.row_buffer_rows", unit.row_buffer_rows, 2, 256);
  // Two halves, each with a tile of 16-bit weights for every head and with two words of a weight
  // for every scan lane and head.
  const std::int64_t tiles_bytes = 4 * unit.group_heads * unit.tile_keys;
  const std::int64_t words_bytes = 8 * unit.scan_lanes * unit.group_heads;
  check.power_of_two("unit.stash_kib", unit.stash_kib,
                     std::max<std::int64_t>(1, std::max(tiles_bytes, words_bytes) / 1024), 65536,
                     ": one tile of every head and two words in each half");
  if (unit.merge_rows != config::MergeRows::kGroup) {
    throw input_error(place, "unit.merge_rows", "got " + config::name_of(unit.merge_rows),
                      config::name_of(config::MergeRows::kGroup) + " in RTL");
  }
}

std::vector<Parameter> parameters_of(const config::HardwareConfig& hardware) {
  const config::UnitConfig& unit = hardware.unit;
  return {
      {"PortBytes", "unit.port_bytes", unit.port_bytes},
      {"TileKeys", "unit.tile_keys", unit.tile_keys},
      {"GroupHeads", "unit.group_heads", unit.group_heads},
      {"MaxHeadDimension", "unit.max_head_dimension", unit.max_head_dimension},
      {"KeyLanes", "unit.key_lanes", unit.key_lanes},
      {"DigitLanes", "unit.digit_lanes", unit.digit_lanes},
      {"WeightLanes", "unit.weight_lanes", unit.weight_lanes},
      {"ScanLanes", "unit.scan_lanes", unit.scan_lanes},
      {"ValueLanes", "unit.value_lanes", unit.value_lanes},
      {"NormalizerLanes", "unit.normalizer_lanes", unit.normalizer_lanes},
      {"KeyBufferTiles", "unit.key_buffer_tiles", unit.key_buffer_tiles},
      {"RowBufferRows", "unit.row_buffer_rows", unit.row_buffer_rows},
      {"StashKib", "unit.stash_kib", unit.stash_kib},
  };
}

}  // namespace santa::rtl
