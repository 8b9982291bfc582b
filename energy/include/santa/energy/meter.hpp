// Counts energy during a simulation.
//
//   EnergyMeter meter(pack, {"hbm2", 1, 100.0});
//   Handle add = meter.operation(Block::ternary_gather, Operation::add_int, 24);
//   Handle stash = meter.sram_read(Block::weight_unit, "weight_stash", 65536, 256);
//   ...
//   meter.count(add, lanes, now_ns);              // the hot path
//   EnergyReport report = meter.finish(end_ns);   // checked
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "santa/energy/names.hpp"
#include "santa/energy/pack.hpp"
#include "santa/energy/report.hpp"
#include "santa/energy/window_series.hpp"

namespace santa::energy {

// A line of the meter. Valid for the meter that gave it.
struct Handle {
  std::uint32_t index = std::numeric_limits<std::uint32_t>::max();
};

struct MeterSettings {
  std::string dram_kind;      // one of EnergyPack::dram_kinds()
  unsigned dram_devices = 1;  // devices whose background power is drawn
  double window_ns = 0.0;     // width of the first windows, above 0
  std::size_t max_windows =
      1024;            // at least 2; when more are needed, pairs merge and the width doubles
  unsigned units = 1;  // equal units measured together: leakage of logic and scratchpads times this
};

// One meter measures one unit, or several equal ones, and their memory over one run, from time 0 to
// the end. Misuse (an unknown handle, a time below 0 or not finite, the same scratchpad with two
// sizes) is a fault of the caller and throws std::logic_error; a price that the pack cannot give
// throws InputError.
class EnergyMeter {
 public:
  // Throws InputError if the pack lacks the DRAM kind. The meter keeps a copy of the pack.
  EnergyMeter(const EnergyPack& pack, MeterSettings settings);

  // The functions below give the same handle again when they are asked for the same thing again.

  // Operations of one kind and width in one block. Every operation also draws the pack's share of
  // control and clock, booked under Part::control of the same block. For multiply_int and
  // divide_int, `second_width_bits` is the width of the second operand (0: the same). A
  // register_write counts writes of a whole register of `width_bits`; a lfsr_leap of 64 is one leap
  // of the 64-bit register.
  Handle operation(Block block, Operation operation, unsigned width_bits,
                   unsigned second_width_bits = 0);

  // Accesses to the scratchpad `name` of `capacity_bytes` (all its copies together where it is
  // doubled) through a port of `port_bits`. The first handle of a scratchpad adds its leakage,
  // booked under that block, once.
  Handle sram_read(Block block, const std::string& name, std::uint64_t capacity_bytes,
                   unsigned port_bits);
  Handle sram_write(Block block, const std::string& name, std::uint64_t capacity_bytes,
                    unsigned port_bits);

  // Row activates, and bytes moved; a byte draws array (dram_read, dram_write) and interface
  // (dram_io) energy. Booked under Block::memory.
  Handle dram_activate();
  // Refreshes, each of all banks of a channel.
  Handle dram_refresh();
  Handle dram_read_byte();
  Handle dram_write_byte();

  // Power in mW over the whole run, beside what the meter adds itself: the leakage of scratchpads,
  // the pack's leakage of the logic and the background of the DRAM devices. `part` is sram_leakage,
  // logic_leakage or dram_background; a `name` of the same part that was already added is refused.
  void add_static(Block block, Part part, const std::string& name, const Range& milliwatt);

  // `n` events at `time_ns`. The hot path: no lookup, and no allocation but for new windows.
  void count(Handle handle, std::uint64_t n, double time_ns) {
    if (!(time_ns >= window_start_ns_ && time_ns < window_end_ns_)) open_window(time_ns);
    if (handle.index >= pending_.size()) throw std::logic_error("energy meter: unknown handle");
    pending_[handle.index] += n;
    last_time_ns_ = std::max(last_time_ns_, time_ns);
  }

  // The report of a run that ended at `end_ns`, above 0 and not before the last count. Throws
  // VerificationError if its sums disagree (check_report). Counting may go on afterwards.
  EnergyReport finish(double end_ns);

 private:
  // Energy that an event draws under a second part beside its own.
  struct Share {
    Part part = Part::control;
    Range each_pj;
  };
  struct Line {
    OperationLine line;  // its total is made from its count at the end
    std::optional<Share> share;
  };

  Handle add_line(OperationLine line, const std::optional<Share>& share);
  Handle sram_access(Block block, const std::string& name, std::uint64_t capacity_bytes,
                     unsigned port_bits, bool is_write);
  Handle dram_command(const char* name, Part part, const Table& table);
  Handle dram_transfer(const char* name, Part part, const Table& table);
  // Throws std::logic_error for a time that is below 0 or not finite.
  void open_window(double time_ns);
  void book_pending();
  void book(Block block, Part part, const Range& energy_pj, WindowSeries::Parts& window);
  OperationLine share_line(const Line& source) const;
  void report_lines(EnergyReport& report) const;
  void report_statics(EnergyReport& report) const;
  void report_windows(EnergyReport& report) const;

  EnergyPack pack_;
  MeterSettings settings_;
  DramCosts dram_;
  Cost control_;
  std::vector<Line> lines_;
  std::vector<std::uint64_t> pending_;  // events of the open window by line, not booked yet
  std::vector<StaticLine> statics_;
  std::map<std::string, std::uint64_t> scratchpads_;  // capacity by name
  // Accumulated apart from the counts in lines_, so that the checks compare independent sums: lines
  // are integer counts, these are added up window by window.
  Range total_pj_;
  PartEnergies parts_pj_{};
  BlockEnergies blocks_pj_{};
  WindowSeries windows_;
  double window_start_ns_ = 0.0;  // the open window
  double window_end_ns_ = 0.0;    // 0: none yet
  double last_time_ns_ = 0.0;
};

}  // namespace santa::energy
