// Energy packs: the price of every operation and memory access, read from YAML.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "santa/energy/names.hpp"
#include "santa/energy/range.hpp"
#include "santa/error.hpp"

namespace santa::config {
class Node;
}

namespace santa::energy {

// How well a value is founded, best first.
// The enumerators spell the words of the pack files.
// NOLINTNEXTLINE(readability-identifier-naming)
enum class Confidence { primary, derived, estimate };
constexpr std::string_view name_of(Confidence confidence) {
  switch (confidence) {
    case Confidence::primary:
      return "primary";
    case Confidence::derived:
      return "derived";
    case Confidence::estimate:
      break;
  }
  return "estimate";
}

// One entry of a table. `at` is a width in bits or a capacity in bytes, 0 where the table has one
// value only; `port_bits` is 0 outside `sram.port_ratio`.
struct Point {
  double at = 0.0;
  unsigned port_bits = 0;
  Range value;
};

// One constant of the pack with all its values and its origin.
struct Table {
  std::string key;   // dotted, as in the file: "operations.add_int", "dram.hbm2.activate"
  std::string axis;  // what Point::at is: "width_bits", "capacity_bytes" or ""
  std::string unit;
  std::string process;
  std::string supply;
  std::string source;  // the full citation
  Confidence confidence = Confidence::estimate;
  std::string note;
  std::string interpolation;  // what applies between and beyond the points, in words
  std::vector<Point> points;  // ascending; at least one
};

// A price as applied: the value, the constant it came from and how it was obtained from it.
struct Cost {
  Range value;
  std::string constant;  // Table::key
  std::string rule;      // "table point", "linear in width", ...
  Confidence confidence = Confidence::estimate;
};

// One row of `santasim describe energy`: one point of one constant.
struct ConstantRow {
  std::string constant;
  std::string at;  // "width_bits 8", "capacity_bytes 32768, port_bits 256" or ""
  Range value;
  std::string unit;
  std::string process;
  std::string supply;
  std::string source;
  std::string confidence;
  std::string interpolation;
  std::string note;
};

// Costs of one kind of DRAM; the unit of each table is in Table::unit.
struct DramCosts {
  std::uint64_t activated_bytes = 0;  // row of one activate; 0 where activates are not separated
  Table activate;                     // pJ per activate
  Table read;                         // pJ per bit, array and movement on the die
  Table write;                        // pJ per bit
  Table io;                           // pJ per bit, interface
  Table refresh;                      // pJ per refresh of all banks of a channel
  Table background;                   // mW per device, standby
};

class EnergyPack {
 public:
  // Reads and checks a pack file. Throws InputError, naming file, line and key, for a missing or
  // unknown key, a wrong unit, a negative value, low > mid or mid > high, entries out of order, or
  // a source that is not listed or that nothing cites.
  static EnergyPack load(const std::string& path);
  // The same from memory; `file_name` stands for the file in messages.
  static EnergyPack parse(const std::string& yaml, const std::string& file_name);

  const std::string& name() const { return name_; }
  const std::string& title() const { return title_; }
  const std::string& file() const { return file_; }

  // Energy in pJ of one operation on operands of `width_bits`; for multiply_int and divide_int the
  // second operand may have a width of its own (0: the same). Widths are 1..1024. Floating-point
  // operations have the width of their format only. A register_write is of a whole register of
  // that width. Throws InputError for any other width.
  Cost operation(Operation operation, unsigned width_bits, unsigned second_width_bits = 0) const;

  // Energy in pJ of one access to a scratchpad of `capacity_bytes` through a port of `port_bits`.
  // Ports wider than the widest of the pack are that many banks side by side. A bank above 8 times
  // the largest point is several, of which an access opens one; a bank below 1/16 of the smallest
  // point is priced as one of that size. Port: 8..65536 bits, else InputError.
  Cost sram_read(std::uint64_t capacity_bytes, unsigned port_bits) const;
  Cost sram_write(std::uint64_t capacity_bytes, unsigned port_bits) const;
  // Leakage in mW of a scratchpad of that capacity; the same smallest size.
  Cost sram_leakage(std::uint64_t capacity_bytes) const;

  // Costs of a DRAM kind by its name in the pack. Throws InputError that lists the kinds.
  const DramCosts& dram(const std::string& kind) const;
  std::vector<std::string> dram_kinds() const;

  // Control and clock as a fraction of the energy of all operations.
  Cost control_fraction() const;
  // Leakage of one unit's logic in mW.
  Cost logic_leakage() const;

  // Every constant of the pack, for `santasim describe energy`.
  std::vector<ConstantRow> rows() const;

 private:
  friend class PackLoader;
  double smallest_scratchpad_bytes() const;
  Cost sram_access(std::uint64_t capacity_bytes, unsigned port_bits, const std::string& key,
                   bool is_write) const;
  InputError refuse(const std::string& key, const std::string& found,
                    const std::string& allowed) const;

  std::string name_;
  std::string title_;
  std::string file_;
  std::vector<Table> operations_;  // by Operation
  Table control_;
  Table sram_read_;
  Table sram_write_ratio_;
  Table sram_port_ratio_;
  Table sram_leakage_;
  Table logic_leakage_;
  std::map<std::string, DramCosts> dram_;
};

}  // namespace santa::energy
