// The folder of a sweep. Every finished point is a file of its own, whole or not there, that
// carries the hash of its contents.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sha256.hpp"
#include "statistics.hpp"
#include "sweep/point.hpp"

namespace santa::cli {

// What is simulated.
struct SweepIdentity {
  const std::string& name;
  SimulationCommand command;
  const std::vector<SweepPoint>& points;
  const std::map<std::string, std::string>& files;  // as PointMaker has them
};

// Names points and their order, each by its key and its settings: `sha256` of sweep.json.
class PointsHash {
 public:
  void add(const std::string& key, const Settings& settings);
  // SHA-256, hexadecimal. The object is used up.
  std::string finish() { return hash_.finish(); }

 private:
  Sha256 hash_;
};

// The report in the file of a point, JSON text; none if there is no file, or another content than
// save() wrote for that key. Throws InputError for a link, a folder or a device in its place.
std::optional<std::string> read_point(const std::string& path, const std::string& key);

class SweepStore {
 public:
  // Opens or makes the folder and locks it against other sweeps. With `resume` it must be there,
  // and may hold points of the same sweep, made by the same program; without, it must be empty or
  // new. Throws InputError.
  SweepStore(const std::string& folder, const SweepIdentity& sweep, bool resume);
  // What `resume` asks of the folder's name alone. Throws InputError.
  static void require_folder(const std::string& folder);
  ~SweepStore();
  SweepStore(const SweepStore&) = delete;
  SweepStore& operator=(const SweepStore&) = delete;

  // The report of a finished point, JSON text; none if there is none yet. A file that is not what
  // was written counts as none, and `damage` says so. Throws InputError for a link, a folder or a
  // device in its place.
  std::optional<std::string> load(const SweepPoint& point, std::string& damage) const;

  // Stores a report, an object as to_text() writes it, in one step. Throws InputError that names
  // the file.
  void save(const SweepPoint& point, const std::string& report) const;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string point_path(const SweepPoint& point) const;

 private:
  static Json manifest_of(const SweepIdentity& sweep);
  void write_manifest(const Json& manifest) const;
  void check_manifest(const SweepIdentity& sweep, bool resume);
  // Throws InputError if the folder's points are not all of this sweep and this program; `damage`
  // says what is wrong with sweep.json.
  void require_points_of(const SweepIdentity& sweep, const std::string& damage) const;

  std::string folder_;
  int lock_ = -1;
};

}  // namespace santa::cli
