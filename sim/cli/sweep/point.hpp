// A point of a sweep: a simulation by the program, named by the hash of its whole configuration.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sweep/keys.hpp"
#include "sweep/simulation.hpp"

namespace santa::cli {

// What a worker has to know of a point.
struct PointOrder {
  std::vector<std::string> words;  // the command's name, run or model, and its arguments
  // 16 hexadecimal digits, from SHA-256 of the canonical configuration: the hardware's canonical
  // text, every option, and the contents of the energy pack and of the files that are read. Of a
  // point that is refused, of its arguments.
  std::string key;
  // The parts of that text that come from files, as the same digits: the hardware, the energy pack,
  // and Simulation::files in their order.
  std::vector<std::string> files;
};

struct SweepPoint : PointOrder {
  Settings settings;
  std::string refusal;  // why it cannot run; empty if it can
};

// Remembers the hashes of files, which the points share.
class PointMaker {
 public:
  explicit PointMaker(SimulationCommand command) : known_(command) {}
  // Never throws for bad settings: they make a point with a refusal.
  SweepPoint make(const Settings& settings);
  // SHA-256 of every file that some point reads, by the name that its user gave it.
  const std::map<std::string, std::string>& files() const { return files_; }

 private:
  const std::string& hash_of(const std::string& path);
  void note_files(const Simulation& simulation);

  const SweepKeys known_;
  std::map<std::string, std::string> hashes_;  // by path
  std::map<std::string, std::string> files_;
};

// The result of a point, as JSON text. Once in a process. Throws InputError and VerificationError;
// an InputError that names the file, too, if the configuration that was read here is not the one
// that the point's key stands for: before the simulation, or after it, when a file was written to
// while it was read.
std::string simulated_point(const PointOrder& point);

}  // namespace santa::cli
