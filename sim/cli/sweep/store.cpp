#include "sweep/store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>

#include "build_information.hpp"
#include "json_report.hpp"
#include "options.hpp"
#include "output_file.hpp"
#include "process_pool.hpp"
#include "santa/config/message_text.hpp"
#include "santa/error.hpp"

namespace santa::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOption = "--out";
constexpr const char* kManifest = "sweep.json";
constexpr const char* kPoints = "points";
constexpr std::size_t kBrace = 2;  // the first line of JSON text: "{" and a line break

std::string hash_of(const std::string& text) {
  Sha256 hash;
  hash.update(text);
  return hash.finish();
}

// The first two lines of a point's file.
std::string head(const std::string& key, const std::string& report_hash) {
  Json own = Json::object();
  own["key"] = key;
  own["sha256"] = report_hash;
  return fmt::format("{{\n  \"sweep\": {},\n", own.dump());
}

// Of the settings alone: what SPEC lists, whatever the files say that it names.
std::string hash_of_settings(const SweepIdentity& sweep) {
  Sha256 hash;
  if (sweep.command != SimulationCommand::kRun) {
    hash.update(fmt::format("command={}\n", to_string(sweep.command)));
  }
  for (const SweepPoint& point : sweep.points) {
    for (const auto& [key, value] : point.settings) {
      hash.update(fmt::format("{}={} ", key, value));
    }
    hash.update("\n");
  }
  return hash.finish();
}

// Throws InputError for what the sweep did not put there, and would not want to write through.
void require_own_file(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (!fs::exists(status) || fs::is_regular_file(status)) return;
  const char* what = fs::is_symlink(status)     ? "is a symbolic link"
                     : fs::is_directory(status) ? "is a folder"
                                                : "is a pipe or a device";
  throw input_error(config::escaped(path), "", what,
                    "the file that santasim sweep wrote; --resume does without it, too");
}

std::optional<std::string> read_regular(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// A member that is text; empty where there is none.
std::string text_of(const Json& object, const char* key) {
  const auto member = object.is_object() ? object.find(key) : object.end();
  return member != object.end() && member->is_string() ? member->get<std::string>() : "";
}

// Another sweep that was killed lets go when its last child has ended, moments later.
bool lock_folder(int descriptor) {
  constexpr int kAttempts = 2000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    nap();
  }
  return false;
}

// What makes two sweeps different, in words: `found` is in the folder, `now` is asked for.
std::string difference(const Json& found, const Json& now) {
  std::string text = fmt::format("{} with ", config::in_quotes(text_of(found, "name")));
  const auto points = found.find("points");
  if (text_of(found, "settings_sha256") != now["settings_sha256"]) {
    text += "other settings in its SPEC";
    if (points != found.end() && *points != now["points"]) {
      text += fmt::format(", {} points in place of {}", points->dump(), now["points"].dump());
    }
    return text;
  }
  const auto before = found.find("files_sha256");
  for (const auto& [name, hash] : now["files_sha256"].items()) {
    const auto old =
        before != found.end() && before->is_object() ? before->find(name) : found.end();
    if (before == found.end() || !before->is_object() || old == before->end() || *old != hash) {
      return text + fmt::format("the same settings, but another {}", config::escaped(name));
    }
  }
  return text + "the same settings and files, but other configurations from them";
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error || !fs::is_directory(path, error)) {
    throw input_error(kOption, config::in_quotes(path),
                      "cannot be made: " + (error ? error.message() : "it is a file"),
                      "a folder, or a new name in a writable one");
  }
}

}  // namespace

void PointsHash::add(const std::string& key, const Settings& settings) {
  hash_.update(key);
  for (const auto& [name, value] : settings) hash_.update(fmt::format(" {}={}", name, value));
  hash_.update("\n");
}

SweepStore::SweepStore(const std::string& folder, const SweepIdentity& sweep, bool resume)
    : folder_(folder) {
  make_folder(folder_);
  lock_ = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0 || !lock_folder(lock_)) {
    const bool taken = errno == EWOULDBLOCK;
    const std::string reason = taken ? "another sweep is writing there" : std::strerror(errno);
    if (lock_ >= 0) ::close(lock_);
    throw input_error(kOption, config::in_quotes(folder_), reason, "one sweep in a folder");
  }
  try {
    check_manifest(sweep, resume);
    make_folder(path(kPoints));
  } catch (...) {
    ::close(lock_);
    throw;
  }
}

void SweepStore::require_folder(const std::string& folder) {
  std::error_code error;
  if (fs::exists(folder, error)) return;
  throw input_error("--resume", config::in_quotes(folder), "is not there",
                    "the folder of a sweep that was begun; without --resume a new one");
}

SweepStore::~SweepStore() {
  ::close(lock_);
}

Json SweepStore::manifest_of(const SweepIdentity& sweep) {
  PointsHash hash;
  for (const SweepPoint& point : sweep.points) hash.add(point.key, point.settings);
  Json manifest = Json::object();
  manifest["program"] = program_version();
  manifest["name"] = sweep.name;
  manifest["points"] = sweep.points.size();
  manifest["sha256"] = hash.finish();
  manifest["settings_sha256"] = hash_of_settings(sweep);
  manifest["files_sha256"] = sweep.files;
  return manifest;
}

void SweepStore::write_manifest(const Json& manifest) const {
  OutputFile file(kOption, path(kManifest));
  file.write(to_text(manifest));
  file.commit();
}

void SweepStore::check_manifest(const SweepIdentity& sweep, bool resume) {
  const std::string shown = config::in_quotes(folder_);
  const Json manifest = manifest_of(sweep);
  std::error_code error;
  const bool is_empty = fs::is_empty(folder_, error);
  if (error) {
    throw input_error(kOption, shown, "cannot be read: " + error.message(), "a readable folder");
  }
  if (is_empty) {
    write_manifest(manifest);
    return;
  }
  require_own_file(path(kManifest));
  const std::optional<std::string> text = read_regular(path(kManifest));
  if (!text && !fs::is_directory(path(kPoints), error)) {
    throw input_error(kOption, shown, "is not empty and holds no sweep", "a new or empty folder");
  }
  const Json found = Json::parse(text.value_or(""), nullptr, false);
  if (text_of(found, "sha256").empty() || text_of(found, "program").empty()) {
    const std::string damage =
        fmt::format("{}: {}", config::escaped(path(kManifest)), text ? "is damaged" : "is missing");
    if (!resume) {
      throw InputError(damage +
                       "; allowed: --resume, which writes it again if the points fit SPEC, "
                       "or a new folder");
    }
    require_points_of(sweep, damage);
    write_manifest(manifest);
    return;
  }
  if (text_of(found, "sha256") != manifest["sha256"]) {
    throw input_error(kOption, shown, "holds another sweep: " + difference(found, manifest),
                      "a new folder, or the same SPEC, presets and input files as before");
  }
  if (text_of(found, "program") != manifest["program"]) {
    throw input_error(kOption, shown,
                      fmt::format("holds results of {}, this is {}",
                                  config::escaped(text_of(found, "program")), program_version()),
                      "the same program, or a new folder: results of two programs do not mix");
  }
  if (!resume) {
    throw input_error(kOption, shown, "holds results of this sweep",
                      "--resume to continue it, or a new folder");
  }
  // A name is a title, and no other sweep.
  if (text_of(found, "name") != sweep.name) write_manifest(manifest);
}

void SweepStore::require_points_of(const SweepIdentity& sweep, const std::string& damage) const {
  std::map<std::string, const SweepPoint*> known;
  for (const SweepPoint& point : sweep.points) known[point.key + ".json"] = &point;
  std::error_code error;
  for (auto entry = fs::directory_iterator(path(kPoints), error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string file = entry->path().filename().string();
    const auto refuse = [&](const std::string& reason) {
      throw InputError(
          fmt::format("{}, and points/{} {}; allowed: points of SPEC alone, or a new "
                      "folder",
                      damage, config::escaped(file), reason));
    };
    // What a killed sweep may leave on file systems without files that have no name.
    if (file.front() == '.' && entry->path().extension() == ".partial") continue;
    const auto point = known.find(file);
    if (point == known.end()) refuse("is no point of SPEC");
    std::string ignored;
    const std::optional<std::string> report = load(*point->second, ignored);
    if (!report) continue;  // is simulated again
    const Json provenance = Json::parse(*report)["provenance"];
    if (text_of(provenance, "version") != kProgramVersion ||
        text_of(provenance, "git_commit") != kGitCommit) {
      refuse("is of another program than " + program_version());
    }
  }
  if (error) {
    throw input_error(kOption, config::in_quotes(path(kPoints)),
                      "cannot be read: " + error.message(), "a readable folder");
  }
}

std::string SweepStore::point_path(const SweepPoint& point) const {
  return fmt::format("{}/{}/{}.json", folder_, kPoints, point.key);
}

std::optional<std::string> read_point(const std::string& path, const std::string& key) {
  require_own_file(path);
  const std::optional<std::string> text = read_regular(path);
  if (!text) return std::nullopt;
  // The first two lines are save()'s, the rest is the report less its own first line.
  const std::size_t end = text->find('\n', kBrace);
  std::string report = end == std::string::npos ? "" : "{\n" + text->substr(end + 1);
  if (*text != head(key, hash_of(report)) + report.substr(std::min(report.size(), kBrace))) {
    return std::nullopt;
  }
  return report;
}

std::optional<std::string> SweepStore::load(const SweepPoint& point, std::string& damage) const {
  const std::string file = point_path(point);
  std::error_code error;
  if (!fs::exists(fs::symlink_status(file, error))) return std::nullopt;
  std::optional<std::string> report = read_point(file, point.key);
  if (!report) {
    damage = fmt::format("{}: is not the result that was written, and is simulated again", file);
  }
  return report;
}

void SweepStore::save(const SweepPoint& point, const std::string& report) const {
  require_own_file(point_path(point));
  OutputFile file(kOption, point_path(point));
  file.write(head(point.key, hash_of(report)));
  file.write(std::string_view(report).substr(kBrace));
  file.commit();
}

}  // namespace santa::cli
