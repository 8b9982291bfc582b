// What limits a decode step of a model, from the counters of its methods.
#pragma once

#include <string>
#include <vector>

#include "model_statistics.hpp"

namespace santa::cli {

// The blocks that work or wait in a method, in the order of their work.
std::vector<std::string> blocks_of(const MethodResult& method);

// Something that serves one thing after another, as analysis/bounds.hpp has it for a run.
struct StepResource {
  std::string name;            // "memory bandwidth", "memory port, reads", or a block
  double busy_fraction = 0.0;  // of the step; of ports and blocks the mean of all units
};

// The busiest first; never empty.
std::vector<StepResource> resources_of(const MethodView& view);

// The first of them if it is busy four fifths of the step or more, else "latency".
std::string limit_of(const MethodView& view);

}  // namespace santa::cli
