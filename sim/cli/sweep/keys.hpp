// The keys that a sweep may set: options of the command that its points are, and keys of the
// hardware.
#pragma once

#include <string>
#include <vector>

#include "options.hpp"
#include "santa/config/yaml_reader.hpp"

namespace santa::cli {

// One choice of a point: "samples" = "64", "memory.latency_ns" = "150".
struct Setting {
  std::string key;
  std::string value;
};
using Settings = std::vector<Setting>;

class SweepKeys {
 public:
  explicit SweepKeys(SimulationCommand command = SimulationCommand::kRun);

  SimulationCommand command() const { return command_; }
  // True for "memory", "unit", ...: keys of the hardware follow inside.
  bool is_section(const std::string& name) const;
  // Throws InputError, at `key` of `map`, if `full_name` is nothing that can be set.
  void require(const config::Node& map, const std::string& key, const std::string& full_name) const;
  // The arguments of the command, less its own name. Throws InputError for a switch
  // that is neither true nor false.
  std::vector<std::string> words(const Settings& settings) const;

 private:
  bool is_switch(const std::string& name) const;
  bool is_option(const std::string& name) const;

  SimulationCommand command_;
  std::vector<std::string> options_;   // that take a value
  std::vector<std::string> switches_;  // that take none
  std::string positional_;             // of the options the one without dashes; empty: none
  std::vector<std::string> hardware_;
  std::vector<std::string> sections_;
};

}  // namespace santa::cli
