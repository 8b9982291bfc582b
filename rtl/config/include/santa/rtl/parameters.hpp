// The parameters of the unit in SystemVerilog: docs/rtl.md, "Parameters".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "santa/config/hardware.hpp"

namespace santa::rtl {

// One parameter of attention_unit.
struct Parameter {
  std::string name;  // in SystemVerilog, "PortBytes"
  std::string key;   // in a hardware description, "unit.port_bytes"
  std::int64_t value = 0;
};

// Throws InputError when the RTL cannot be built from this description. `place` is its file, for
// the message.
void check_unit(const config::HardwareConfig& hardware,
                const std::string& place = "hardware configuration");

// Every parameter except ConfigHash, which is HardwareConfig::unit_hash(), in the order of
// docs/rtl.md.
std::vector<Parameter> parameters_of(const config::HardwareConfig& hardware);

}  // namespace santa::rtl
