// What a result of a run must have to be reported, explained or compared.
#pragma once

#include <string>

#include "statistics.hpp"

namespace santa::cli {

// Throws InputError that names the first key which is missing, is no such value, or contradicts
// another one (times and cycles, power, parts and total of the energy, bytes); `path` is that of
// the file. Of a result of another command, names that command.
void check_result(const Json& report, const std::string& path);

}  // namespace santa::cli
