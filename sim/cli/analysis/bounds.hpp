// What limits a unit, from the counters of its run.
#pragma once

#include <string>
#include <vector>

#include "statistics.hpp"

namespace santa::cli {

// Something that serves one thing after another: the memory's bandwidth, the unit's port, a block.
struct Resource {
  std::string name;
  double busy_fraction = 0.0;  // of the run; its own work takes this long however the rest is built
  // Were this resource unlimited, the run would still take this fraction of its time, for another
  // resource is busy that long.
  double floor_fraction = 0.0;
  std::string floor_name;
};

struct Share {
  std::string name;
  double fraction = 0.0;
};

struct Diagnosis {
  bool limited = false;  // by the first resource: it is busy four fifths of the run or more
  std::vector<Resource> resources;  // the busiest first
  // Requests in flight on average, by Little's law: requests x mean latency / time of the run.
  double mean_outstanding = 0.0;
  std::string memory_limit;    // as the dram model names it; empty with another
  std::vector<Share> traffic;  // by stream, the largest first; of bytes
  std::vector<Share> energy;   // by part, the largest first; those of 1 % and more
};

// Of the unit at the top of a report.
Diagnosis diagnose(const Json& report);

}  // namespace santa::cli
