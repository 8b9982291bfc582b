#include "dram_trace.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string>

namespace santa::cli {

sim::DramObserver dram_trace_writer(DramTraceFormat format, OutputFile& file) {
  return [format, &file, line = std::string()](const sim::DramAccess& access) mutable {
    line.clear();
    if (format == DramTraceFormat::kRamulator2) {
      fmt::format_to(std::back_inserter(line), "{} {:#x}\n", access.is_write ? "ST" : "LD",
                     access.address);
    } else {
      fmt::format_to(std::back_inserter(line), "{:#x} {} {}\n", access.address,
                     access.is_write ? "WRITE" : "READ", access.cycle);
    }
    file.write(line);
  };
}

}  // namespace santa::cli
