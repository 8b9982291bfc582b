// What every input of the configuration readers must fulfil; shared by the fuzz target, its replay
// and the mutation tests.
#pragma once

#include <cstddef>
#include <string>

namespace santa::config {

struct CheckResult {
  std::string violation;     // empty if all is well
  std::size_t accepted = 0;  // how many of the three readings took the input as valid
};

// Reads `text` as a hardware description, as a model shape, and as lines "key=value" that change a
// small hardware description. Each reading must end with InputError and a message of one line, or
// with a configuration whose canonical text reads back to itself. Other exceptions pass through.
CheckResult check_config_input(const std::string& text);

}  // namespace santa::config
