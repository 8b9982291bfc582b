// A point of a sweep: a run of the program, named by the hash of its whole configuration.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "options.hpp"
#include "sweep/keys.hpp"

namespace santa::cli {

struct SweepPoint {
  Settings settings;
  std::vector<std::string> words;  // arguments of `santasim run`
  // 16 hexadecimal digits, from SHA-256 of the canonical configuration: the hardware's canonical
  // text, every option, and the contents of the energy pack and of the files that are read. Of a
  // point that is refused, of its arguments.
  std::string key;
  std::string refusal;  // why it cannot run; empty if it can
};

// Remembers the hashes of files, which the points share.
class PointMaker {
 public:
  explicit PointMaker(const SweepKeys& known) : known_(known) {}
  // Never throws for bad settings: they make a point with a refusal.
  SweepPoint make(const Settings& settings);

 private:
  std::string canonical_text(const std::vector<std::string>& words);
  const std::string& hash_of(const std::string& path);

  const SweepKeys& known_;
  std::map<std::string, std::string> hashes_;  // by path
};

// The report of a run, as JSON text. Once in a process. Throws InputError and VerificationError.
std::string simulated_report(const RunOptions& options);

}  // namespace santa::cli
