// The folder of a sweep. Every finished point is a file of its own, whole or not there, that
// carries the hash of its contents.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "statistics.hpp"
#include "sweep/point.hpp"

namespace santa::cli {

class SweepStore {
 public:
  // Opens or makes the folder and locks it against other sweeps. With `resume` it may hold points
  // of the same sweep, made by the same program; without, it must be empty or new. Throws
  // InputError.
  SweepStore(const std::string& folder, const std::string& name,
             const std::vector<SweepPoint>& points, bool resume);
  ~SweepStore();
  SweepStore(const SweepStore&) = delete;
  SweepStore& operator=(const SweepStore&) = delete;

  // The report of a finished point, JSON text; none if there is none yet. A file that is not what
  // was written counts as none, and `damage` says so.
  std::optional<std::string> load(const SweepPoint& point, std::string& damage) const;

  // Stores a report, an object as to_text() writes it, in one step. Throws InputError that names
  // the file.
  void save(const SweepPoint& point, const std::string& report) const;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string point_path(const SweepPoint& point) const;

 private:
  void check_manifest(const std::string& name, const std::vector<SweepPoint>& points, bool resume);

  std::string folder_;
  int lock_ = -1;
};

}  // namespace santa::cli
