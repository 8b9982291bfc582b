// Limits of the project's YAML files.
#pragma once

#include <cstddef>

namespace santa::config {

constexpr std::size_t kMaxYamlBytes = 1000000;
constexpr int kMaxYamlDepth = 32;  // maps and lists inside one another
constexpr std::size_t kMaxKeyLength = 64;

}  // namespace santa::config
