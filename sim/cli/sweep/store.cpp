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
#include <system_error>

#include "json_report.hpp"
#include "options.hpp"
#include "output_file.hpp"
#include "process_pool.hpp"
#include "santa/config/message_text.hpp"
#include "santa/error.hpp"
#include "sha256.hpp"

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
std::string head(const SweepPoint& point, const std::string& report_hash) {
  Json own = Json::object();
  own["key"] = point.key;
  own["sha256"] = report_hash;
  return fmt::format("{{\n  \"sweep\": {},\n", own.dump());
}

// Names the points and their order.
std::string hash_of(const std::vector<SweepPoint>& points) {
  Sha256 hash;
  for (const SweepPoint& point : points) {
    hash.update(point.key);
    for (const auto& [key, value] : point.settings) {
      hash.update(fmt::format(" {}={}", key, value));
    }
    hash.update("\n");
  }
  return hash.finish();
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

SweepStore::SweepStore(const std::string& folder, const std::string& name,
                       const std::vector<SweepPoint>& points, bool resume)
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
    check_manifest(name, points, resume);
    make_folder(path(kPoints));
  } catch (...) {
    ::close(lock_);
    throw;
  }
}

SweepStore::~SweepStore() {
  ::close(lock_);
}

void SweepStore::check_manifest(const std::string& name, const std::vector<SweepPoint>& points,
                                bool resume) {
  const std::string shown = config::in_quotes(folder_);
  Json manifest = Json::object();
  manifest["program"] = program_version();
  manifest["name"] = name;
  manifest["points"] = points.size();
  manifest["sha256"] = hash_of(points);
  std::error_code error;
  const bool is_empty = fs::is_empty(folder_, error);
  if (error) {
    throw input_error(kOption, shown, "cannot be read: " + error.message(), "a readable folder");
  }
  if (is_empty) {
    OutputFile file(kOption, path(kManifest));
    file.write(to_text(manifest));
    file.commit();
    return;
  }
  const std::optional<std::string> text = read_regular(path(kManifest));
  if (!text) {
    throw input_error(kOption, shown, "is not empty and holds no sweep", "a new or empty folder");
  }
  const Json found = Json::parse(*text, nullptr, false);
  if (text_of(found, "sha256") != manifest["sha256"]) {
    throw input_error(
        kOption, shown,
        fmt::format("holds another sweep, {}", config::in_quotes(text_of(found, "name"))),
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
}

std::string SweepStore::point_path(const SweepPoint& point) const {
  return fmt::format("{}/{}/{}.json", folder_, kPoints, point.key);
}

std::optional<std::string> SweepStore::load(const SweepPoint& point, std::string& damage) const {
  const std::string file = point_path(point);
  std::error_code error;
  if (!fs::exists(fs::symlink_status(file, error))) return std::nullopt;
  if (const std::optional<std::string> text = read_regular(file)) {
    // The first two lines are save()'s, the rest is the report less its own first line.
    const std::size_t end = text->find('\n', 2);
    std::string report = end == std::string::npos ? "" : "{\n" + text->substr(end + 1);
    if (*text == head(point, hash_of(report)) + report.substr(std::min(report.size(), kBrace))) {
      return report;
    }
  }
  damage = fmt::format("{}: is not the result that was written, and is simulated again", file);
  return std::nullopt;
}

void SweepStore::save(const SweepPoint& point, const std::string& report) const {
  OutputFile file(kOption, point_path(point));
  file.write(head(point, hash_of(report)));
  file.write(std::string_view(report).substr(kBrace));
  file.commit();
}

}  // namespace santa::cli
