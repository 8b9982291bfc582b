// Which unit serves which request.
#pragma once

#include <cstdint>
#include <vector>

#include "santa/sim/simulation.hpp"

namespace santa::sim {

// Indices into `jobs` for each of `units` units, in the order of service. Longest contexts first,
// each to the unit with the fewest tokens so far, ties to the lower number; a unit serves its
// requests in the order of `jobs`.
std::vector<std::vector<std::uint32_t>> deal_jobs(const std::vector<Job>& jobs, std::size_t units);

}  // namespace santa::sim
