// What a result of a model must have to be reported.
#pragma once

#include <string>

#include "statistics.hpp"

namespace santa::cli {

// Throws InputError that names the first key which is missing, is no such value, or contradicts
// another one (tokens and time, energy and its parts, bytes); `path` is that of the file.
void check_model_result(const Json& report, const std::string& path);

}  // namespace santa::cli
