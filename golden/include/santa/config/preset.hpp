// Where shipped configuration files are found by name.
#pragma once

#include <string>
#include <vector>

namespace santa::config {

// True for a preset name: no '/' in it and no ".yaml" or ".yml" at its end. Anything else is a
// path.
bool is_preset_name(const std::string& name_or_path);

// Configuration folders in the order of search: $SANTASIM_CONFIG_DIR if it is set and not empty,
// the configs folder of the source tree this program was built from, ../share/santasim/configs
// relative to the executable, and those of add_config_directory(). Folders after the first are left
// out if they do not exist. Throws InputError if the environment variable names no folder.
std::vector<std::string> config_directories();

// Adds a folder that is searched last: for programs that bring their own along. Not for use while
// another thread looks for presets.
void add_config_directory(const std::string& directory);

// Names of all presets of a kind, sorted: the files "<kind>/<name>.yaml" of all folders.
std::vector<std::string> preset_names(const std::string& kind);

// The file for a preset name of a kind ("hardware", "models", ...), from the first folder that has
// it; a path is returned as it is, whether it exists or not. Throws InputError for an unknown name,
// with the nearest and all known names.
std::string find_config(const std::string& kind, const std::string& name_or_path);

}  // namespace santa::config
