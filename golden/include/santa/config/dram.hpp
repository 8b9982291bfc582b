// Organisation and timing of a DRAM channel: the files of configs/dram, each number with its source
// beside it, and the `dram` section of a hardware description. Every key is required; ranges, units
// and meanings are in describe_dram_keys(). docs/dram.md explains the model that uses them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "santa/config/key_description.hpp"
#include "santa/config/yaml_reader.hpp"

namespace santa::config {

// Which part of a place in a channel some address bits select.
enum class DramField : std::uint8_t { kRow, kStack, kGroup, kBank, kColumn };

// Bits of one field, as an address map lists them.
struct DramMapField {
  DramField field = DramField::kRow;
  unsigned bits = 0;
};

// One channel; a pseudo-channel of high-bandwidth memory counts as one. `_cycles` are cycles of the
// command clock, whose period is `clock_ps`.
struct DramConfig {
  std::string name;
  std::string source;
  std::int64_t clock_ps = 0;
  std::int64_t burst_bytes = 0;
  std::int64_t burst_cycles = 0;
  std::int64_t stacks = 0;
  std::int64_t bank_groups = 0;
  std::int64_t banks_per_group = 0;
  std::int64_t rows_per_bank = 0;
  std::int64_t row_bytes = 0;
  std::string address_map;
  std::int64_t cl_cycles = 0;
  std::int64_t cwl_cycles = 0;
  std::int64_t trcd_read_cycles = 0;
  std::int64_t trcd_write_cycles = 0;
  std::int64_t trp_cycles = 0;
  std::int64_t tras_cycles = 0;
  std::int64_t trc_cycles = 0;
  std::int64_t tccd_s_cycles = 0;
  std::int64_t tccd_l_cycles = 0;
  std::int64_t trrd_s_cycles = 0;
  std::int64_t trrd_l_cycles = 0;
  std::int64_t tfaw_cycles = 0;
  std::int64_t twr_cycles = 0;
  std::int64_t trtp_cycles = 0;
  std::int64_t twtr_s_cycles = 0;
  std::int64_t twtr_l_cycles = 0;
  std::int64_t trefi_cycles = 0;  // 0: never refreshed
  std::int64_t trfc_cycles = 0;
  std::int64_t refresh_postponed = 0;
  std::int64_t window_bursts = 0;

  std::int64_t banks() const { return stacks * bank_groups * banks_per_group; }
  std::int64_t capacity_bytes() const { return banks() * rows_per_bank * row_bytes; }
  double peak_gb_per_s() const;  // 1e9 bytes per second
  // Read command after precharge and activate of the bank, to its first data.
  std::int64_t closed_read_cycles() const { return trp_cycles + trcd_read_cycles + cl_cycles; }
  // The fields of `address_map`, from the most significant bit down.
  std::vector<DramMapField> map_fields() const;
};

// Reads a preset ("hbm2", see find_config) or a file of its own, applies the overrides as if the
// file said so, and checks every key, the rules between timings, and that the address map covers
// the channel once. Throws InputError.
DramConfig load_dram(const std::string& name_or_path, const std::vector<Override>& overrides = {});

// The same from a map that holds the keys, of a file's top or of a section.
DramConfig read_dram(const Node& section);

// The keys as the section `dram` of a description's canonical text.
std::string canonical_dram_text(const DramConfig& config);

// One entry a key, each with "dram." in front, in the order of the canonical text.
std::vector<KeyDescription> describe_dram_keys();

}  // namespace santa::config
