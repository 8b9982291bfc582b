// Traces for other DRAM simulators.
#pragma once

#include "options.hpp"
#include "output_file.hpp"
#include "santa/sim/dram_counters.hpp"

namespace santa::cli {

// An observer that writes a line a burst, in the order of arrival, to `file`, which outlives it.
//   dramsim3    0x1f40 READ 17      address, READ or WRITE, cycle of arrival: DRAMsim3's -t option
//   ramulator2  LD 0x1f40           LD or ST, address, no time: Ramulator 2's LoadStoreTrace
// Addresses are the unit's, channels included; cycles are of the DRAM's clock.
sim::DramObserver dram_trace_writer(DramTraceFormat format, OutputFile& file);

}  // namespace santa::cli
