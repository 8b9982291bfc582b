// A point of a sweep: a run of the program, named by the hash of its whole configuration.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "options.hpp"
#include "run_command.hpp"
#include "sweep/keys.hpp"

namespace santa::cli {

// What a worker has to know of a point.
struct PointOrder {
  std::vector<std::string> words;  // arguments of `santasim run`
  // 16 hexadecimal digits, from SHA-256 of the canonical configuration: the hardware's canonical
  // text, every option, and the contents of the energy pack and of the files that are read. Of a
  // point that is refused, of its arguments.
  std::string key;
  // The parts of that text that come from files, as the same digits: the hardware, the energy pack,
  // and the files of the input in the order of input_files().
  std::vector<std::string> files;
};

struct SweepPoint : PointOrder {
  Settings settings;
  std::string refusal;  // why it cannot run; empty if it can
};

// Remembers the hashes of files, which the points share.
class PointMaker {
 public:
  explicit PointMaker(const SweepKeys& known) : known_(known) {}
  // Never throws for bad settings: they make a point with a refusal.
  SweepPoint make(const Settings& settings);
  // SHA-256 of every file that some point reads, by the name that its user gave it.
  const std::map<std::string, std::string>& files() const { return files_; }

 private:
  const std::string& hash_of(const std::string& path);
  void note_files(const RunOptions& options, const Setup& setup);

  const SweepKeys& known_;
  std::map<std::string, std::string> hashes_;  // by path
  std::map<std::string, std::string> files_;
};

// The report of a run, as JSON text. Once in a process. Throws InputError and VerificationError.
std::string simulated_report(const RunOptions& options);

// The same of a point. Throws InputError, too, that names the file, if the configuration that was
// read here is not the one that the point's key stands for: before the simulation, or after it,
// when a file was written to while it was read.
std::string simulated_point(const PointOrder& point);

}  // namespace santa::cli
