// The hardware of a simulation, and where its descriptions lie.
#pragma once

#include <string>
#include <vector>

#include "santa/config/hardware.hpp"

namespace santa::cli {

struct Setup {
  std::string config_file;
  config::HardwareConfig hardware;
  std::string pack_file;
};

// Reads the preset or file `config` with the changes of --set. Throws InputError.
Setup load_setup(const std::string& config, const std::vector<config::Override>& overrides);

}  // namespace santa::cli
