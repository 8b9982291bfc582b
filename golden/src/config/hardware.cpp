#include "santa/config/hardware.hpp"

#include <fmt/format.h>

#include <cmath>

#include "key_binder.hpp"
#include "santa/config/preset.hpp"

namespace santa::config {
namespace {

constexpr const char* kDramSection = "dram";

const ChoiceNames<MergeRows>& merge_rows_names() {
  static const ChoiceNames<MergeRows> names = {
      {"none", MergeRows::kNone}, {"head", MergeRows::kHead}, {"group", MergeRows::kGroup}};
  return names;
}

const ChoiceNames<MemoryKind>& memory_kind_names() {
  static const ChoiceNames<MemoryKind> names = {{"ddr4-3200", MemoryKind::kDdr4_3200},
                                                {"lpddr5-6400", MemoryKind::kLpddr5_6400},
                                                {"hbm2", MemoryKind::kHbm2},
                                                {"hbm2e", MemoryKind::kHbm2e},
                                                {"hbm3", MemoryKind::kHbm3}};
  return names;
}

const ChoiceNames<MemoryModel>& memory_model_names() {
  static const ChoiceNames<MemoryModel> names = {{"bandwidth", MemoryModel::kBandwidth},
                                                 {"dram", MemoryModel::kDram}};
  return names;
}

const ChoiceNames<Placement>& placement_names() {
  static const ChoiceNames<Placement> names = {{"interleaved", Placement::kInterleaved},
                                               {"per-unit", Placement::kPerUnit},
                                               {"keys-values", Placement::kKeysValues}};
  return names;
}

const ChoiceNames<bool>& switch_names() {
  static const ChoiceNames<bool> names = {{"off", false}, {"on", true}};
  return names;
}

template <typename Unit, typename Visitor>
void visit_unit_keys(Unit& unit, Visitor& v) {
  v.power_of_two("unit.tile_keys", unit.tile_keys, 16, 1024, "keys",
                 "Keys of a tile: the run of keys stored feature by feature, with one maximum and "
                 "one weight sum.");
  v.integer("unit.group_heads", unit.group_heads, 1, 16, "heads",
            "Query-head lanes: the largest group of query heads that may share a KV head.");
  v.integer("unit.max_head_dimension", unit.max_head_dimension, 16, 1024, "features",
            "Largest head dimension the unit's buffers hold.");
  v.power_of_two("unit.port_bytes", unit.port_bytes, 8, 1024, "bytes/cycle",
                 "Width of the unit's memory port: one word a cycle in each direction.");
  v.power_of_two("unit.key_lanes", unit.key_lanes, 1, 1024, "keys/cycle",
                 "Keys that ternary_gather adds in a cycle, for every head at once; at most "
                 "tile_keys.");
  v.power_of_two("unit.digit_lanes", unit.digit_lanes, 1, 4, "digits/cycle",
                 "Signed digits of a coefficient that ternary_gather consumes in a cycle, for each "
                 "key and head.");
  v.power_of_two("unit.weight_lanes", unit.weight_lanes, 1, 1024, "keys/cycle",
                 "Keys that weight_unit handles in a cycle and head, in each of its two passes; at "
                 "most tile_keys.");
  v.power_of_two("unit.scan_lanes", unit.scan_lanes, 1, 1024, "keys/cycle",
                 "Weights that systematic_sampler reads from the stash in a cycle and head; at "
                 "most tile_keys.");
  v.integer("unit.value_lanes", unit.value_lanes, 1, 1024, "features/cycle",
            "Features of a value row that value_gather adds in a cycle; at most "
            "max_head_dimension.");
  v.integer("unit.normalizer_lanes", unit.normalizer_lanes, 1, 1024, "features/cycle",
            "Output features that normalizer shifts and rounds in a cycle; at most "
            "max_head_dimension.");
  v.integer("unit.key_buffer_tiles", unit.key_buffer_tiles, 2, 64, "tiles",
            "Tiles of keys that may be in flight or waiting for ternary_gather.");
  v.integer("unit.row_buffer_rows", unit.row_buffer_rows, 1, 256, "rows",
            "Value rows that may be in flight or waiting for value_gather.");
  v.integer("unit.stash_kib", unit.stash_kib, 1, 65536, "KiB",
            "On-chip weight stash, both halves together; weights that do not fit go to memory.");
  v.choice("unit.merge_rows", unit.merge_rows, merge_rows_names(),
           "Draws of the same value row that share one read: none, those of one query head, or "
           "those of the whole group.");
}

template <typename Baselines, typename Visitor>
void visit_baseline_keys(Baselines& baselines, Visitor& v) {
  v.integer("baselines.dense_multipliers", baselines.dense_multipliers, 1, 65536, "lanes",
            "Multiply-accumulate lanes of the dense and the top-k unit.");
  v.integer("baselines.exp_lanes", baselines.exp_lanes, 1, 1024, "exponentials/cycle",
            "Exponentials that the dense and the top-k unit evaluate in a cycle.");
  v.integer("baselines.divider_cycles", baselines.divider_cycles, 1, 256, "cycles",
            "Cycles of one division in the dense and the top-k unit's normalisation.");
  v.integer("baselines.select_lanes", baselines.select_lanes, 1, 1024, "scores/cycle",
            "Scores that the top-k selector filters in a cycle.");
  v.integer("baselines.buffer_kib", baselines.buffer_kib, 1, 65536, "KiB",
            "On-chip score buffer of the dense and the top-k unit.");
}

template <typename Memory, typename Visitor>
void visit_memory_keys(Memory& memory, Visitor& v) {
  v.choice("memory.kind", memory.kind, memory_kind_names(),
           "Kind of memory, by which the technology pack lists its energy.");
  v.choice("memory.model", memory.model, memory_model_names(),
           "How the time of accesses is modelled: bandwidth and a fixed latency, or banks, timing "
           "constraints and refresh (dram).");
  v.text("memory.timing", memory.timing,
         "Timing of the dram model: a preset of configs/dram or a path; not read by bandwidth.");
  v.integer("memory.channels", memory.channels, 1, 128, "channels",
            "Independent channels (pseudo-channels of high-bandwidth memory).");
  v.number("memory.channel_gb_per_s", memory.channel_gb_per_s, 0.1, 1000, "GB/s",
           "Peak bandwidth of one channel, in 1e9 bytes per second.");
  v.number("memory.latency_ns", memory.latency_ns, 1, 10000, "ns",
           "Time from a read request to its first data on an idle channel.");
  v.power_of_two("memory.access_bytes", memory.access_bytes, 8, 256, "bytes",
                 "Bytes of one burst: shorter and unaligned requests still move whole bursts.");
  v.power_of_two("memory.row_bytes", memory.row_bytes, 256, 16384, "bytes",
                 "Bytes of an open row of one bank, each opened by one activate; at least "
                 "access_bytes.");
  v.power_of_two("memory.banks_per_channel", memory.banks_per_channel, 1, 256, "banks",
                 "Banks of a channel, in all its bank groups and stack levels.");
  v.power_of_two("memory.interleave_bytes", memory.interleave_bytes, 8, 65536, "bytes",
                 "Consecutive bytes on one channel before the next channel follows; at least "
                 "access_bytes.");
  v.integer("memory.max_outstanding", memory.max_outstanding, 1, 65536, "requests",
            "Requests of the unit that may wait for data, over all channels.");
  v.integer("memory.devices", memory.devices, 1, 256, "devices",
            "Packages or stacks that the energy lines of the memory stand for.");
}

template <typename System, typename Visitor>
void visit_system_keys(System& system, Visitor& v) {
  v.integer("system.units", system.units, 1, 64, "units",
            "Units of each kind; KV heads are dealt out to them, longest first, to the unit with "
            "the fewest tokens.");
  v.choice("system.placement", system.placement, placement_names(),
           "On which channels heads lie: interleaved over all, per-unit on an equal share of its "
           "own, or keys-values, keys on the first half of the channels and all else on the "
           "second.");
  v.choice("system.prefetch_next_head", system.prefetch_next_head, switch_names(),
           "Whether a unit reads the keys of its next head while it finishes the current one.");
  v.power_of_two("system.key_bits", system.key_bits, 4, 8, "bits",
                 "Width of a key's element in the cache of the integer units.");
  v.power_of_two("system.value_bits", system.value_bits, 4, 8, "bits",
                 "Width of a value's element in the cache of the integer units.");
}

// The table of keys: reading, canonical text and descriptions all come from here. Keys outside
// sections come first: in the canonical text, a section ends only where the next one begins.
template <typename Config, typename Visitor>
void visit_hardware_keys(Config& config, Visitor& v) {
  v.text("name", config.name, "Name of the hardware, shown in results.");
  v.text("description", config.description, "What this hardware stands for.");
  v.number("clock_mhz", config.clock_mhz, 1, 10000, "MHz", "Clock of all units.");
  v.text("energy_pack", config.energy_pack,
         "Technology pack with the energy of each operation: a preset name or a path.");
  visit_unit_keys(config.unit, v);
  visit_baseline_keys(config.baselines, v);
  visit_memory_keys(config.memory, v);
  visit_system_keys(config.system, v);
}

void require_at_most(const Node& section, const char* key, std::int64_t value,
                     const char* limit_key, std::int64_t limit) {
  if (value > limit) {
    throw section.error(key, fmt::format("got {}", value),
                        fmt::format("at most {}, which is {}", limit_key, limit));
  }
}

void require_at_least(const Node& section, const char* key, std::int64_t value,
                      const char* limit_key, std::int64_t limit) {
  if (value < limit) {
    throw section.error(key, fmt::format("got {}", value),
                        fmt::format("at least {}, which is {}", limit_key, limit));
  }
}

// Powers of two divide one another when the smaller is not the larger: at most is enough.
void check_unit(const Node& root, const UnitConfig& unit) {
  const Node section = root.child("unit");
  require_at_most(section, "key_lanes", unit.key_lanes, "unit.tile_keys", unit.tile_keys);
  require_at_most(section, "weight_lanes", unit.weight_lanes, "unit.tile_keys", unit.tile_keys);
  require_at_most(section, "scan_lanes", unit.scan_lanes, "unit.tile_keys", unit.tile_keys);
  const char* dimension = "unit.max_head_dimension";
  require_at_most(section, "value_lanes", unit.value_lanes, dimension, unit.max_head_dimension);
  require_at_most(section, "normalizer_lanes", unit.normalizer_lanes, dimension,
                  unit.max_head_dimension);
  // Two halves, two bytes a weight: below one tile of every head nothing could be kept on chip.
  const std::int64_t smallest_bytes = 4 * unit.group_heads * unit.tile_keys;
  const std::int64_t smallest_kib = (smallest_bytes + 1023) / 1024;
  if (unit.stash_kib < smallest_kib) {
    throw section.error("stash_kib", fmt::format("got {}", unit.stash_kib),
                        fmt::format("at least {}: one tile of 16-bit weights for each of {} heads "
                                    "in both halves",
                                    smallest_kib, unit.group_heads));
  }
}

void check_memory(const Node& root, const MemoryConfig& memory) {
  const Node section = root.child("memory");
  require_at_least(section, "row_bytes", memory.row_bytes, "memory.access_bytes",
                   memory.access_bytes);
  require_at_least(section, "interleave_bytes", memory.interleave_bytes, "memory.access_bytes",
                   memory.access_bytes);
}

void check_system(const Node& root, const SystemConfig& system, const MemoryConfig& memory) {
  const Node section = root.child("system");
  if (system.placement == Placement::kPerUnit && memory.channels % system.units != 0) {
    throw section.error("placement", "got per-unit",
                        fmt::format("that only where system.units divides memory.channels; they "
                                    "are {} and {}",
                                    system.units, memory.channels));
  }
  if (system.placement == Placement::kKeysValues && memory.channels % 2 != 0) {
    throw section.error(
        "placement", "got keys-values",
        fmt::format("that only with an even memory.channels, which is {}", memory.channels));
  }
}

// What the description says of its memory and what the timing says must be one memory.
void check_dram(const Node& root, const MemoryConfig& memory, const DramConfig& dram) {
  const Node section = root.child("memory");
  const auto require_equal = [&](const char* key, std::int64_t value, const char* what,
                                 std::int64_t expected) {
    if (value != expected) {
      throw section.error(
          key, fmt::format("got {}", value),
          fmt::format("{}, the {} of the timing {}", expected, what, in_quotes(dram.name)));
    }
  };
  // By its kind the technology pack has the energy of what the timing makes happen.
  const std::string kind = dram.name.substr(0, dram.name.find(' '));
  if (kind != name_of(memory.kind)) {
    throw section.error("kind", "got " + name_of(memory.kind),
                        fmt::format("{}, the first word of the name of the timing {}",
                                    escaped(kind), in_quotes(dram.name)));
  }
  require_equal("access_bytes", memory.access_bytes, "burst_bytes", dram.burst_bytes);
  require_equal("row_bytes", memory.row_bytes, "row_bytes", dram.row_bytes);
  require_equal("banks_per_channel", memory.banks_per_channel, "banks", dram.banks());
  constexpr double kTolerance = 0.01;  // periods of the clock are whole picoseconds
  const double peak = dram.peak_gb_per_s();
  if (std::abs(memory.channel_gb_per_s - peak) > kTolerance * peak) {
    throw section.error(
        "channel_gb_per_s", fmt::format("got {}", memory.channel_gb_per_s),
        fmt::format("{:.4g} within 1 %, the peak of the timing {}", peak, in_quotes(dram.name)));
  }
  const double closed_ns = static_cast<double>(dram.closed_read_cycles() * dram.clock_ps) * 1e-3;
  if (memory.latency_ns < closed_ns) {
    throw section.error("latency_ns", fmt::format("got {}", memory.latency_ns),
                        fmt::format("at least {}, precharge, activate and read of the timing {}",
                                    closed_ns, in_quotes(dram.name)));
  }
}

// FNV-1a, 64 bit: offset basis and prime as published by Fowler, Noll and Vo.
std::uint64_t fnv1a(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace

std::string name_of(MergeRows value) {
  return name_in(merge_rows_names(), value);
}

std::string name_of(MemoryKind value) {
  return name_in(memory_kind_names(), value);
}

std::string name_of(MemoryModel value) {
  return name_in(memory_model_names(), value);
}

std::string name_of(Placement value) {
  return name_in(placement_names(), value);
}

std::string HardwareConfig::canonical_text() const {
  KeyWriter writer;
  visit_hardware_keys(*this, writer);
  return writer.result() + (dram ? canonical_dram_text(*dram) : "");
}

std::string HardwareConfig::hash() const {
  return fmt::format("{:016x}", fnv1a(canonical_text()));
}

std::string HardwareConfig::unit_hash() const {
  KeyWriter writer;
  visit_unit_keys(unit, writer);
  return fmt::format("{:016x}", fnv1a(writer.result()));
}

namespace {

// Throws InputError where there is no such timing set.
std::string timing_file(const Node& root, const MemoryConfig& memory) {
  try {
    return find_config("dram", memory.timing);
  } catch (const InputError& error) {
    throw root.child("memory").error("timing", error.what(), "");
  }
}

DramConfig load_timing(const std::string& file, const std::vector<Override>& changes) {
  try {
    return load_dram(file, changes);
  } catch (const InputError& error) {
    // Of a change, the key as the user wrote it.
    const std::string place = "--set: ";
    const std::string message = error.what();
    if (message.rfind(place, 0) != 0) throw;
    throw InputError(place + kDramSection + "." + message.substr(place.size()));
  }
}

// `timing_changes`: overrides of keys of the file memory.timing.
HardwareConfig read(const Node& root, const std::vector<Override>& timing_changes) {
  HardwareConfig config;
  KeyReader reader(root);
  visit_hardware_keys(config, reader);
  if (config.memory.model == MemoryModel::kDram) {
    config.dram = root.has(kDramSection)
                      ? read_dram(root.child(kDramSection))
                      : load_timing(timing_file(root, config.memory), timing_changes);
  } else if (!timing_changes.empty()) {
    throw input_error("--set", std::string(kDramSection) + "." + timing_changes.front().key,
                      "has no effect with memory.model bandwidth", "memory.model dram");
  } else if (!root.has(kDramSection)) {
    timing_file(root, config.memory);
  }
  root.finish();
  check_unit(root, config.unit);
  check_memory(root, config.memory);
  check_system(root, config.system, config.memory);
  if (config.dram) check_dram(root, config.memory, *config.dram);
  return config;
}

}  // namespace

HardwareConfig read_hardware(const Node& root) {
  return read(root, {});
}

HardwareConfig load_hardware(const std::string& name_or_path,
                             const std::vector<Override>& overrides) {
  Node root = load_yaml_file(find_config("hardware", name_or_path));
  const std::string dram_prefix = std::string(kDramSection) + ".";
  std::vector<Override> timing_changes;
  for (const Override& change : overrides) {
    if (change.key.rfind(dram_prefix, 0) == 0 && !root.has(kDramSection)) {
      timing_changes.push_back({change.key.substr(dram_prefix.size()), change.value});
    } else {
      root.set_override(change.key, change.value);
    }
  }
  return read(root, timing_changes);
}

void require_single_unit(const HardwareConfig& hardware, const std::string& what) {
  const SystemConfig& system = hardware.system;
  const auto require = [&](bool fits, const char* key, const std::string& value,
                           const char* allowed) {
    if (fits) return;
    throw input_error("hardware configuration", key, "got " + value,
                      std::string(allowed) + ", for " + what + " knows no other");
  };
  require(system.units == 1, "system.units", fmt::format("{}", system.units), "1");
  require(system.placement == Placement::kInterleaved, "system.placement",
          name_of(system.placement), "interleaved");
  require(system.prefetch_next_head, "system.prefetch_next_head", "off", "on");
  require(system.key_bits == 8, "system.key_bits", fmt::format("{}", system.key_bits), "8");
  require(system.value_bits == 8, "system.value_bits", fmt::format("{}", system.value_bits), "8");
}

std::vector<KeyDescription> describe_hardware_keys() {
  const HardwareConfig config;
  KeyDescriber describer;
  visit_hardware_keys(config, describer);
  return describer.result();
}

}  // namespace santa::config
