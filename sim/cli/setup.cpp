#include "setup.hpp"

#include <algorithm>

#include "santa/config/message_text.hpp"
#include "santa/config/preset.hpp"
#include "santa/error.hpp"

namespace santa::cli {

Setup load_setup(const std::string& config, const std::vector<config::Override>& overrides) {
  Setup setup;
  setup.config_file = config::find_config("hardware", config);
  setup.hardware = config::load_hardware(setup.config_file, overrides);
  try {
    setup.pack_file = config::find_config("energy", setup.hardware.energy_pack);
  } catch (const InputError& error) {
    const bool overridden =
        std::any_of(overrides.begin(), overrides.end(),
                    [](const config::Override& entry) { return entry.key == "energy_pack"; });
    throw input_error(overridden ? "--set" : config::escaped(setup.config_file), "energy_pack",
                      error.what(), "");
  }
  return setup;
}

}  // namespace santa::cli
