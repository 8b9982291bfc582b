#include "sweep/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "options.hpp"
#include "santa/config/dram.hpp"
#include "santa/config/hardware.hpp"
#include "santa/config/message_text.hpp"

namespace santa::cli {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

SweepKeys::SweepKeys(SimulationCommand command) : command_(command) {
  for (const OptionName& option : option_names(command)) {
    if (option.is_positional) positional_ = option.name;
    (option.is_switch ? switches_ : options_).push_back(option.name);
  }
  std::vector<config::KeyDescription> keys = config::describe_hardware_keys();
  for (config::KeyDescription& key : config::describe_dram_keys()) keys.push_back(std::move(key));
  for (const config::KeyDescription& description : keys) {
    hardware_.push_back(description.key);
    for (std::size_t dot = description.key.find('.'); dot != std::string::npos;
         dot = description.key.find('.', dot + 1)) {
      const std::string section = description.key.substr(0, dot);
      if (!contains(sections_, section)) sections_.push_back(section);
    }
  }
}

bool SweepKeys::is_section(const std::string& name) const {
  return contains(sections_, name);
}

bool SweepKeys::is_option(const std::string& name) const {
  return contains(options_, name);
}

bool SweepKeys::is_switch(const std::string& name) const {
  return contains(switches_, name);
}

void SweepKeys::require(const config::Node& map, const std::string& key,
                        const std::string& full_name) const {
  if (is_option(full_name) || is_switch(full_name) || contains(hardware_, full_name)) return;
  std::vector<std::string> names = options_;
  names.insert(names.end(), switches_.begin(), switches_.end());
  names.insert(names.end(), sections_.begin(), sections_.end());
  names.insert(names.end(), hardware_.begin(), hardware_.end());
  const std::string nearest = config::nearest_name(full_name, names);
  throw map.error(
      key, nearest.empty() ? "unknown key" : fmt::format("unknown key, did you mean {}?", nearest),
      fmt::format(
          "options of santasim {}, without the dashes, and keys of santasim describe config",
          to_string(command_)));
}

std::vector<std::string> SweepKeys::words(const Settings& settings) const {
  std::vector<std::string> words;
  std::vector<std::string> last;
  for (const auto& [key, value] : settings) {
    if (is_switch(key)) {
      if (value != "true" && value != "false") {
        throw input_error(key, "", "got " + config::in_quotes(value), "true, false");
      }
      if (value == "true") words.push_back("--" + key);
    } else if (key == positional_) {
      last = {"--", value};  // may begin with a dash
    } else if (is_option(key)) {
      words.push_back(fmt::format("--{}={}", key, value));
    } else {
      words.push_back(fmt::format("--set={}={}", key, value));
    }
  }
  words.insert(words.end(), last.begin(), last.end());
  return words;
}

}  // namespace santa::cli
