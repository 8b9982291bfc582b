// `santasim describe`: what the keys of results, configurations and energy packs mean.
#pragma once

#include <string>

#include "options.hpp"

namespace santa::cli {

// The text for standard output. Throws InputError if an energy pack cannot be read.
std::string describe(const DescribeOptions& options);

}  // namespace santa::cli
