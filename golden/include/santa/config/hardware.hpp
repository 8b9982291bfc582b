// The one description of the hardware that the golden model, the cycle model, the energy roll-up
// and the RTL parameters share. Every key is required; ranges, units and meanings of the keys are
// in describe_hardware_keys(), which is written from the same table that reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "santa/config/dram.hpp"
#include "santa/config/key_description.hpp"
#include "santa/config/yaml_reader.hpp"

namespace santa::config {

// Which repeated draws of a value row share one read.
enum class MergeRows {
  kNone,   // none: every draw reads its row
  kHead,   // a row drawn several times by one query head is read once
  kGroup,  // a row drawn by several query heads of a group is read once
};

enum class MemoryKind { kDdr4_3200, kLpddr5_6400, kHbm2, kHbm2e, kHbm3 };

// How the time of memory accesses is modelled.
enum class MemoryModel {
  kBandwidth,  // bandwidth, a fixed latency, rows that cost energy only
  kDram,       // banks, timing constraints, refresh, a scheduler
};

// On which channels data lies, when there are several units.
enum class Placement {
  kInterleaved,  // everything over all channels
  kPerUnit,      // the channels are dealt out to the units; a unit's heads lie in its own
  kKeysValues,   // keys on the first half of the channels, all else on the second, for all units
};

// The name in configuration files: "none", "ddr4-3200", ...
std::string name_of(MergeRows value);
std::string name_of(MemoryKind value);
std::string name_of(MemoryModel value);
std::string name_of(Placement value);

struct UnitConfig {
  std::int64_t tile_keys = 0;
  std::int64_t group_heads = 0;
  std::int64_t max_head_dimension = 0;
  std::int64_t port_bytes = 0;
  std::int64_t key_lanes = 0;
  std::int64_t digit_lanes = 0;
  std::int64_t weight_lanes = 0;
  std::int64_t scan_lanes = 0;
  std::int64_t value_lanes = 0;
  std::int64_t normalizer_lanes = 0;
  std::int64_t key_buffer_tiles = 0;
  std::int64_t row_buffer_rows = 0;
  std::int64_t stash_kib = 0;
  MergeRows merge_rows = MergeRows::kNone;
};

struct BaselineConfig {
  std::int64_t dense_multipliers = 0;
  std::int64_t exp_lanes = 0;
  std::int64_t divider_cycles = 0;
  std::int64_t select_lanes = 0;
  std::int64_t buffer_kib = 0;
};

struct MemoryConfig {
  MemoryKind kind = MemoryKind::kDdr4_3200;
  MemoryModel model = MemoryModel::kBandwidth;
  std::string timing;  // of kDram: a preset name or a path
  std::int64_t channels = 0;
  double channel_gb_per_s = 0;  // 1e9 bytes per second
  double latency_ns = 0;
  std::int64_t access_bytes = 0;
  std::int64_t row_bytes = 0;
  std::int64_t banks_per_channel = 0;
  std::int64_t interleave_bytes = 0;
  std::int64_t max_outstanding = 0;
  std::int64_t devices = 0;
};

// How many units of which every one is as `unit` says, and what they share.
struct SystemConfig {
  std::int64_t units = 0;
  Placement placement = Placement::kInterleaved;
  bool prefetch_next_head = true;
  std::int64_t key_bits = 0;    // of an element in the cache; 8 or 4
  std::int64_t value_bits = 0;  // the same
};

struct HardwareConfig {
  std::string name;
  std::string description;
  double clock_mhz = 0;
  UnitConfig unit;
  BaselineConfig baselines;
  MemoryConfig memory;
  SystemConfig system;
  std::optional<DramConfig> dram;  // with MemoryModel::kDram
  std::string energy_pack;

  // Every key in the order of describe_hardware_keys(), as YAML that reads back to an equal
  // configuration. Equal configurations have equal text, however their files are written. With
  // MemoryModel::kDram it ends with the section `dram`.
  std::string canonical_text() const;

  // FNV-1a (64 bit) of canonical_text() as 16 lower-case hexadecimal digits. Names a configuration
  // in results; it is no protection against deliberate collisions.
  std::string hash() const;

  // The same of the text of the `unit` section alone: names what an RTL unit was built from.
  std::string unit_hash() const;
};

// Throws InputError if `system` asks for more than one unit with 8-bit keys and values that works
// one head ahead, which is all that `what` can do.
void require_single_unit(const HardwareConfig& hardware, const std::string& what);

// Reads a preset ("edge-lpddr5", see find_config) or a file, applies the overrides as if the file
// said so, and checks every key and the rules between keys. With MemoryModel::kDram, the timing is
// the section `dram` where the file has one, else that of the file `memory.timing`; overrides
// "dram.KEY" change a key of either. Throws InputError.
HardwareConfig load_hardware(const std::string& name_or_path,
                             const std::vector<Override>& overrides = {});

// The same from an opened document.
HardwareConfig read_hardware(const Node& root);

// One entry a key, in the order of canonical_text().
std::vector<KeyDescription> describe_hardware_keys();

}  // namespace santa::config
