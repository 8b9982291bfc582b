#include "santa/config/dram.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "key_binder.hpp"
#include "santa/config/preset.hpp"
#include "scalar_parse.hpp"

namespace santa::config {
namespace {

constexpr std::int64_t kMaxCycles = 100000;
constexpr std::array<const char*, 5> kFieldNames = {"row", "stack", "group", "bank", "column"};

template <typename Config, typename Visitor>
void visit_organisation(Config& dram, const std::string& in, Visitor& v) {
  v.text(in + "name", dram.name,
         "Name of the timing set, shown in results; its first word is its memory.kind.");
  v.text(in + "source", dram.source, "Where its numbers come from.");
  v.integer(in + "clock_ps", dram.clock_ps, 100, 10000, "ps",
            "Period of the command clock, in which every _cycles key counts.");
  v.power_of_two(in + "burst_bytes", dram.burst_bytes, 8, 256, "bytes",
                 "Bytes of one read or write command.");
  v.integer(in + "burst_cycles", dram.burst_cycles, 1, 64, "cycles",
            "Cycles that a burst takes on the data bus.");
  v.power_of_two(
      in + "stacks", dram.stacks, 1, 16, "stacks",
      "Stack levels (or ranks) that share the channel's bus, each with all bank groups.");
  v.power_of_two(in + "bank_groups", dram.bank_groups, 1, 16, "groups",
                 "Bank groups of a stack level.");
  v.power_of_two(in + "banks_per_group", dram.banks_per_group, 1, 64, "banks",
                 "Banks of a bank group.");
  v.power_of_two(in + "rows_per_bank", dram.rows_per_bank, 2, 1048576, "rows", "Rows of a bank.");
  v.power_of_two(in + "row_bytes", dram.row_bytes, 256, 16384, "bytes",
                 "Bytes that one activate opens; at least burst_bytes.");
  v.text(in + "address_map", dram.address_map,
         "Fields of an address inside the channel from the most significant bit down, each with "
         "its number of bits; the bytes of a burst lie below the last.");
}

template <typename Config, typename Visitor>
void visit_timing(Config& dram, const std::string& in, Visitor& v) {
  const auto cycles = [&](const char* key, auto& value, std::int64_t min, const char* sentence) {
    v.integer(in + key, value, min, kMaxCycles, "cycles", sentence);
  };
  cycles("cl_cycles", dram.cl_cycles, 1, "CL: read command to first data.");
  cycles("cwl_cycles", dram.cwl_cycles, 1, "CWL: write command to first data.");
  cycles("trcd_read_cycles", dram.trcd_read_cycles, 1, "tRCD: activate to read, same bank.");
  cycles("trcd_write_cycles", dram.trcd_write_cycles, 1, "tRCD: activate to write, same bank.");
  cycles("trp_cycles", dram.trp_cycles, 1, "tRP: precharge to activate, same bank.");
  cycles("tras_cycles", dram.tras_cycles, 1,
         "tRAS: activate to precharge, same bank; at least tRCD.");
  cycles("trc_cycles", dram.trc_cycles, 1,
         "tRC: activate to activate, same bank; at least tRAS + tRP.");
  cycles("tccd_s_cycles", dram.tccd_s_cycles, 1,
         "tCCD_S: read to read or write to write, another bank group; at least burst_cycles.");
  cycles("tccd_l_cycles", dram.tccd_l_cycles, 1,
         "tCCD_L: the same within a bank group; at least tCCD_S.");
  cycles("trrd_s_cycles", dram.trrd_s_cycles, 1,
         "tRRD_S: activate to activate, another bank group.");
  cycles("trrd_l_cycles", dram.trrd_l_cycles, 1,
         "tRRD_L: the same within a bank group; at least tRRD_S.");
  cycles("tfaw_cycles", dram.tfaw_cycles, 1,
         "tFAW: window in which a channel may activate at most four rows; at least tRRD_S.");
  cycles("twr_cycles", dram.twr_cycles, 1, "tWR: end of write data to precharge, same bank.");
  cycles("trtp_cycles", dram.trtp_cycles, 1, "tRTP: read to precharge, same bank.");
  cycles("twtr_s_cycles", dram.twtr_s_cycles, 1,
         "tWTR_S: end of write data to read, another bank group.");
  cycles("twtr_l_cycles", dram.twtr_l_cycles, 1,
         "tWTR_L: the same within a bank group; at least tWTR_S.");
  cycles("trefi_cycles", dram.trefi_cycles, 0,
         "tREFI: mean time between refreshes of all banks; 0 for none.");
  cycles("trfc_cycles", dram.trfc_cycles, 0, "tRFC: one refresh; below tREFI.");
  v.integer(in + "refresh_postponed", dram.refresh_postponed, 0, 8, "refreshes",
            "Refreshes that may wait while requests do; then all that are due follow one another.");
  v.integer(in + "window_bursts", dram.window_bursts, 1, 1024, "bursts",
            "Oldest bursts of a channel among which the scheduler chooses the first ready one.");
}

template <typename Config, typename Visitor>
void visit_dram_keys(Config& dram, const std::string& in, Visitor& v) {
  visit_organisation(dram, in, v);
  visit_timing(dram, in, v);
}

// The fields of a map, or nothing if the text is no list of NAME:BITS.
std::optional<std::vector<DramMapField>> parse_map(const std::string& text) {
  std::vector<DramMapField> fields;
  std::size_t begin = text.find_first_not_of(' ');
  while (begin != std::string::npos) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const std::size_t colon = word.find(':');
    if (colon == std::string::npos) return std::nullopt;
    const auto bits = parse_integer(word.substr(colon + 1));
    std::size_t name = 0;
    while (name < kFieldNames.size() && word.substr(0, colon) != kFieldNames[name]) ++name;
    if (name == kFieldNames.size() || !bits || *bits < 1 || *bits > 32) return std::nullopt;
    fields.push_back({static_cast<DramField>(name), static_cast<unsigned>(*bits)});
    begin = text.find_first_not_of(' ', end);
  }
  if (fields.empty()) return std::nullopt;
  return fields;
}

void check_map(const Node& section, const DramConfig& dram) {
  const auto fields = parse_map(dram.address_map);
  if (!fields) {
    throw section.error("address_map", "got " + in_quotes(dram.address_map),
                        "NAME:BITS with spaces between, names row, stack, group, bank, column, "
                        "bits 1 to 32, such as row:15 bank:2 group:2 column:5");
  }
  const std::array<std::int64_t, 5> counts = {dram.rows_per_bank, dram.stacks, dram.bank_groups,
                                              dram.banks_per_group,
                                              dram.row_bytes / dram.burst_bytes};
  for (std::size_t f = 0; f < counts.size(); ++f) {
    unsigned bits = 0;
    for (const DramMapField& field : *fields) {
      if (field.field == static_cast<DramField>(f)) bits += field.bits;
    }
    const auto needed = static_cast<unsigned>(std::ilogb(counts[f]));
    if (bits != needed) {
      throw section.error(
          "address_map",
          fmt::format("got {} bits of {} in {}", bits, kFieldNames[f], in_quotes(dram.address_map)),
          fmt::format("{} bits, which cover all {}", needed, counts[f]));
    }
  }
}

void check_timing(const Node& section, const DramConfig& dram) {
  const auto at_least = [&](const char* key, std::int64_t value, const std::string& limit_name,
                            std::int64_t limit) {
    if (value < limit) {
      throw section.error(key, fmt::format("got {}", value),
                          fmt::format("at least {}, which is {}", limit_name, limit));
    }
  };
  at_least("row_bytes", dram.row_bytes, "burst_bytes", dram.burst_bytes);
  at_least("tras_cycles", dram.tras_cycles, "trcd_read_cycles", dram.trcd_read_cycles);
  at_least("tras_cycles", dram.tras_cycles, "trcd_write_cycles", dram.trcd_write_cycles);
  at_least("trc_cycles", dram.trc_cycles, "tras_cycles + trp_cycles",
           dram.tras_cycles + dram.trp_cycles);
  at_least("tccd_s_cycles", dram.tccd_s_cycles, "burst_cycles", dram.burst_cycles);
  at_least("tccd_l_cycles", dram.tccd_l_cycles, "tccd_s_cycles", dram.tccd_s_cycles);
  at_least("trrd_l_cycles", dram.trrd_l_cycles, "trrd_s_cycles", dram.trrd_s_cycles);
  at_least("tfaw_cycles", dram.tfaw_cycles, "trrd_s_cycles", dram.trrd_s_cycles);
  at_least("twtr_l_cycles", dram.twtr_l_cycles, "twtr_s_cycles", dram.twtr_s_cycles);
  if (dram.trefi_cycles == 0) return;
  at_least("trefi_cycles", dram.trefi_cycles, "trfc_cycles + trc_cycles",
           dram.trfc_cycles + dram.trc_cycles);
}

}  // namespace

double DramConfig::peak_gb_per_s() const {
  return static_cast<double>(burst_bytes) * 1000.0 / static_cast<double>(burst_cycles * clock_ps);
}

std::vector<DramMapField> DramConfig::map_fields() const {
  return parse_map(address_map).value_or(std::vector<DramMapField>());
}

DramConfig read_dram(const Node& section) {
  DramConfig config;
  KeyReader reader(section);
  visit_dram_keys(config, "", reader);
  check_timing(section, config);
  check_map(section, config);
  return config;
}

DramConfig load_dram(const std::string& name_or_path, const std::vector<Override>& overrides) {
  Node root = load_yaml_file(find_config("dram", name_or_path));
  root.set_overrides(overrides);
  DramConfig config = read_dram(root);
  root.finish();
  return config;
}

std::string canonical_dram_text(const DramConfig& config) {
  KeyWriter writer;
  visit_dram_keys(config, "dram.", writer);
  return writer.result();
}

std::vector<KeyDescription> describe_dram_keys() {
  const DramConfig config;
  KeyDescriber describer;
  visit_dram_keys(config, "dram.", describer);
  return describer.result();
}

}  // namespace santa::config
