// Keys `memory.*` of one unit. Private to the table of unit_statistics().
#pragma once

#include <vector>

#include "statistics.hpp"

namespace santa::cli {

std::vector<Statistic<UnitView>> memory_statistics();

}  // namespace santa::cli
