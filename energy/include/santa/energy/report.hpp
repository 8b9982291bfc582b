// What an energy meter reports, and the checks that every report passes.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "santa/energy/names.hpp"
#include "santa/energy/pack.hpp"
#include "santa/energy/range.hpp"

namespace santa::energy {

using PartEnergies = std::array<Range, kPartCount>;    // pJ, by Part
using BlockEnergies = std::array<Range, kBlockCount>;  // pJ, by Block

// Everything counted under one handle, or the share that follows from it (control, DRAM interface).
struct OperationLine {
  Block block = Block::control;
  Part part = Part::control;
  std::string name;         // operation, or "read weight_stash", "control_and_clock", ...
  unsigned width_bits = 0;  // operand or port; 8 for DRAM bytes; 0 where there is none
  std::uint64_t count = 0;
  Range each_pj;  // price applied to one; for control the average over the block
  Range total_pj;
  std::string constant;  // key in the pack
  std::string rule;      // how the price follows from the constant
  Confidence confidence = Confidence::estimate;
};

// Power drawn over the whole run.
struct StaticLine {
  Block block = Block::control;
  Part part = Part::logic_leakage;
  std::string name;
  Range power_mw;
  Range total_pj;
};

// A slice of the run; mid values.
struct Window {
  double start_ns = 0.0;
  double duration_ns = 0.0;                   // above 0; the last window may be shorter
  std::array<double, kPartCount> parts_pj{};  // by Part
  double power_mw = 0.0;
};

struct EnergyReport {
  std::string pack_name;
  std::string pack_file;
  std::string dram_kind;
  unsigned dram_devices = 0;
  std::string scope;  // what is in the sum, in one sentence with the number of devices and the unit
  double duration_ns = 0.0;
  Range total_pj;
  Range average_power_mw;  // total over duration; 1 mW is 1 pJ/ns
  PartEnergies parts_pj{};
  BlockEnergies blocks_pj{};
  std::vector<OperationLine> operations;
  std::vector<StaticLine> statics;
  double window_ns = 0.0;  // duration of every window but the last
  std::vector<Window> windows;
};

// The sums of a report contradict each other: a fault of the program or of the machine. The command
// line ends with kExitVerificationFailed.
class VerificationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Checks, within a relative 1e-9, that the total equals the sum of the parts, the sum of the blocks
// and the sum of the lines (low, mid and high alike), and that the sum of power x duration over the
// windows equals the total (mid). The meter accumulates these sums apart from each other: lines
// from integer counts, the others window by window. Throws VerificationError that names the sum and
// both values.
void check_report(const EnergyReport& report);

}  // namespace santa::energy
