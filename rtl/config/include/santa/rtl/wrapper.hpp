// A SystemVerilog module that fixes the parameters of the unit.
#pragma once

#include <string>

#include "santa/config/hardware.hpp"

namespace santa::rtl {

enum class Monitors {
  kWith,     // around attention_unit_monitored
  kWithout,  // around attention_unit, for synthesis
};

// The source text of module `name`: the ports of the unit with their widths as numbers, and one
// instance with every parameter set. The description must have passed check_unit().
std::string wrapper_text(const config::HardwareConfig& hardware, const std::string& name,
                         Monitors monitors);

// Throws InputError unless `name` can name a module.
void check_module_name(const std::string& name);

}  // namespace santa::rtl
