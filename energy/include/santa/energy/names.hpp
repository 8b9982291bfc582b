// What energy is counted by: operations, blocks of the units, physical parts. The names are those
// of the reports, the JSON keys and the pack files.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace santa::energy {

// The enumerators spell the JSON and YAML keys.
// NOLINTBEGIN(readability-identifier-naming)

// Operations that a pack prices, named as its keys under `operations`.
enum class Operation {
  add_int,
  multiply_int,
  shift,    // by a variable distance; a constant shift is wiring and free
  compare,  // also minimum and maximum
  table_read,
  lfsr_leap,
  register_write,
  add_fp16,
  add_fp32,
  multiply_fp16,
  multiply_fp32,
  divide_int,
  exp_fp32,
  divide_fp32,
};
inline constexpr std::array<std::string_view, 14> kOperationNames = {
    "add_int",       "multiply_int",   "shift",    "compare",    "table_read",
    "lfsr_leap",     "register_write", "add_fp16", "add_fp32",   "multiply_fp16",
    "multiply_fp32", "divide_int",     "exp_fp32", "divide_fp32"};

// Blocks of the sampled unit, then those of the dense and top-k units, then what all share.
enum class Block {
  lfsr,
  query_encoder,
  key_fetch,
  ternary_gather,
  weight_unit,
  systematic_sampler,
  value_gather,
  normalizer,
  control,
  mac_array,
  softmax_unit,
  topk_selector,
  divider,
  memory,
};
inline constexpr std::array<std::string_view, 14> kBlockNames = {
    "lfsr",           "query_encoder", "key_fetch",
    "ternary_gather", "weight_unit",   "systematic_sampler",
    "value_gather",   "normalizer",    "control",
    "mac_array",      "softmax_unit",  "topk_selector",
    "divider",        "memory"};

// Physical kinds, the keys of `energy.parts_pj`.
enum class Part {
  adders,
  multipliers,
  shifters,
  comparators,
  tables,
  dividers,
  exponentials,  // floating-point exp, made of multiplies and adds
  random,
  registers,
  control,  // clock tree and control, a fraction of the logic energy
  sram,
  sram_leakage,
  logic_leakage,
  dram_activate,
  dram_read,
  dram_write,
  dram_io,
  dram_refresh,
  dram_background,
};
inline constexpr std::array<std::string_view, 19> kPartNames = {
    "adders",     "multipliers",  "shifters",      "comparators",    "tables",
    "dividers",   "exponentials", "random",        "registers",      "control",
    "sram",       "sram_leakage", "logic_leakage", "dram_activate",  "dram_read",
    "dram_write", "dram_io",      "dram_refresh",  "dram_background"};

// NOLINTEND(readability-identifier-naming)

inline constexpr std::size_t kOperationCount = kOperationNames.size();
inline constexpr std::size_t kBlockCount = kBlockNames.size();
inline constexpr std::size_t kPartCount = kPartNames.size();

constexpr std::size_t index_of(Operation operation) {
  return static_cast<std::size_t>(operation);
}
constexpr std::size_t index_of(Block block) {
  return static_cast<std::size_t>(block);
}
constexpr std::size_t index_of(Part part) {
  return static_cast<std::size_t>(part);
}
constexpr std::string_view name_of(Operation operation) {
  return kOperationNames[index_of(operation)];
}
constexpr std::string_view name_of(Block block) {
  return kBlockNames[index_of(block)];
}
constexpr std::string_view name_of(Part part) {
  return kPartNames[index_of(part)];
}

static_assert(index_of(Operation::divide_fp32) + 1 == kOperationCount);
static_assert(index_of(Block::memory) + 1 == kBlockCount);
static_assert(index_of(Part::dram_background) + 1 == kPartCount);

// The part that an operation's energy is booked under.
constexpr Part part_of(Operation operation) {
  switch (operation) {
    case Operation::add_int:
    case Operation::add_fp16:
    case Operation::add_fp32:
      return Part::adders;
    case Operation::multiply_int:
    case Operation::multiply_fp16:
    case Operation::multiply_fp32:
      return Part::multipliers;
    case Operation::shift:
      return Part::shifters;
    case Operation::compare:
      return Part::comparators;
    case Operation::table_read:
      return Part::tables;
    case Operation::divide_int:
    case Operation::divide_fp32:
      return Part::dividers;
    case Operation::exp_fp32:
      return Part::exponentials;
    case Operation::lfsr_leap:
      return Part::random;
    case Operation::register_write:
      return Part::registers;
  }
  return Part::control;
}

}  // namespace santa::energy
