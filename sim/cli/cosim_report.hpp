// What a co-simulation shows: the table and the JSON report.
#pragma once

#include <string>

#include "santa/config/hardware.hpp"
#include "santa/cosim/runner.hpp"
#include "statistics.hpp"

namespace santa::cli {

// For people; fits kScreenWidth.
std::string make_cosim_table(const cosim::CosimResult& result,
                             const config::HardwareConfig& hardware);

// The same inputs give the same bytes.
Json make_cosim_report(const cosim::CosimResult& result, const config::HardwareConfig& hardware,
                       const std::string& command);

}  // namespace santa::cli
