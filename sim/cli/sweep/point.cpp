#include "sweep/point.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <utility>

#include "failure.hpp"
#include "options.hpp"
#include "santa/config/message_text.hpp"
#include "santa/config/preset.hpp"
#include "santa/error.hpp"
#include "sha256.hpp"

namespace santa::cli {
namespace {

constexpr std::size_t kKeyDigits = 16;

std::string digits_of(const std::string& text) {
  Sha256 hash;
  hash.update(text);
  return hash.finish().substr(0, kKeyDigits);
}

// What a key stands for.
struct Identity {
  std::string key;
  std::vector<std::string> files;  // as PointOrder has them
  std::vector<std::string> names;  // of the files, for messages
};

using FileHash = std::function<std::string(const std::string& path)>;

Identity identity_of(const Simulation& simulation, const FileHash& hash_of) {
  const Setup& setup = simulation.setup;
  Identity identity;
  const auto add = [&](const std::string& name, const std::string& digits) {
    identity.names.push_back(config::escaped(name));
    identity.files.push_back(digits.substr(0, kKeyDigits));
  };
  std::string text = setup.hardware.canonical_text();
  const bool timing = setup.hardware.dram.has_value();
  add(setup.config_file + (timing ? " or its memory.timing " + setup.hardware.memory.timing : ""),
      digits_of(text));
  const std::string pack = hash_of(setup.pack_file);
  add(setup.pack_file, pack);
  text += fmt::format("energy pack: {}\n", pack);
  for (const InputFile& file : simulation.files) {
    if (!std::ifstream(file.path, std::ios::binary)) {
      throw input_error(file.option, "",
                        fmt::format("got {}, which cannot be read: {}",
                                    config::in_quotes(file.path), std::strerror(errno)),
                        "a file that can be read");
    }
    const std::string hash = hash_of(file.path);
    add(file.path, hash);
    text += fmt::format("{}: {}\n", file.option, hash);
  }
  // The hardware is above, however it is written.
  identity.key = digits_of(text + simulation.choices + "\n");
  return identity;
}

// Every hash anew: of the files as they are now.
void require_key(const PointOrder& point, const Simulation& simulation) {
  const Identity now = identity_of(simulation, sha256_of_file);
  for (std::size_t i = 0; i < now.files.size() && i < point.files.size(); ++i) {
    if (now.files[i] == point.files[i]) continue;
    throw input_error(now.names[i], "", "is not what it was when the sweep began",
                      "files that stay as they are until the sweep has ended");
  }
  if (now.key != point.key) {
    throw input_error(now.names.front(), "",
                      fmt::format("gives the configuration {}, not {}", now.key, point.key),
                      "the same program and the same files for every worker");
  }
}

}  // namespace

const std::string& PointMaker::hash_of(const std::string& path) {
  const auto known = hashes_.find(path);
  if (known != hashes_.end()) return known->second;
  return hashes_[path] = sha256_of_file(path);
}

SweepPoint PointMaker::make(const Settings& settings) {
  SweepPoint point;
  point.settings = settings;
  const std::string command = to_string(known_.command());
  try {
    point.words = known_.words(settings);
    point.words.insert(point.words.begin(), command);
    const Simulation simulation = prepare_simulation(point.words);
    Identity identity =
        identity_of(simulation, [&](const std::string& path) { return hash_of(path); });
    point.key = std::move(identity.key);
    point.files = std::move(identity.files);
    note_files(simulation);
  } catch (const std::exception&) {
    point.refusal = current_failure().message;
    std::string text = "refused:";
    if (known_.command() != SimulationCommand::kRun) text += " " + command;
    for (const auto& [key, value] : settings) text += fmt::format("\n{}={}", key, value);
    point.key = digits_of(text);
  }
  return point;
}

void PointMaker::note_files(const Simulation& simulation) {
  const Setup& setup = simulation.setup;
  files_["config " + simulation.config] = hash_of(setup.config_file);
  files_["energy_pack " + setup.hardware.energy_pack] = hash_of(setup.pack_file);
  for (const InputFile& file : simulation.files) files_[file.title] = hash_of(file.path);
  if (!setup.hardware.dram) return;
  try {
    const std::string& timing = setup.hardware.memory.timing;
    files_["memory.timing " + timing] = hash_of(config::find_config("dram", timing));
  } catch (const InputError&) {
    // The hardware's file holds the timing itself, and then need not name one that is there.
  }
}

std::string simulated_point(const PointOrder& point) {
  // The hardware is read once, and simulated as it was read; the other files are opened by
  // simulate(), and are the right ones if they were so before and are so after it.
  const Simulation simulation = prepare_simulation(point.words);
  require_key(point, simulation);
  std::string report = simulation.simulate();
  require_key(point, simulation);
  return report;
}

}  // namespace santa::cli
