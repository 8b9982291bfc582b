#include "santa/config/preset.hpp"

#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>

#include "santa/config/message_text.hpp"
#include "santa/error.hpp"

namespace santa::config {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDirectoryVariable = "SANTASIM_CONFIG_DIR";

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Any trouble with a folder of the search path (no permission, a dangling link) counts as absent.
bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::vector<std::string>& added_directories() {
  static std::vector<std::string> directories;
  return directories;
}

}  // namespace

bool is_preset_name(const std::string& name_or_path) {
  return name_or_path.find('/') == std::string::npos && !ends_with(name_or_path, ".yaml") &&
         !ends_with(name_or_path, ".yml");
}

std::vector<std::string> config_directories() {
  std::vector<std::string> directories;
  const char* from_environment = std::getenv(kDirectoryVariable);
  if (from_environment != nullptr && *from_environment != '\0') {
    if (!is_folder(from_environment)) {
      throw input_error(std::string("$") + kDirectoryVariable, "",
                        "got " + in_quotes(from_environment), "a folder with configuration files");
    }
    directories.emplace_back(from_environment);
  }
  if (is_folder(SANTA_CONFIG_SOURCE_DIR)) directories.emplace_back(SANTA_CONFIG_SOURCE_DIR);
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path installed = executable.parent_path().parent_path() / "share/santasim/configs";
    if (is_folder(installed)) directories.push_back(installed.string());
  }
  for (const std::string& added : added_directories()) {
    if (is_folder(added)) directories.push_back(added);
  }
  return directories;
}

void add_config_directory(const std::string& directory) {
  added_directories().push_back(directory);
}

std::vector<std::string> preset_names(const std::string& kind) {
  std::set<std::string> names;
  for (const std::string& directory : config_directories()) {
    std::error_code error;
    fs::directory_iterator entry(fs::path(directory) / kind, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      if (entry->path().extension() == ".yaml") names.insert(entry->path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

std::string find_config(const std::string& kind, const std::string& name_or_path) {
  if (!is_preset_name(name_or_path)) return name_or_path;
  for (const std::string& directory : config_directories()) {
    const fs::path path = fs::path(directory) / kind / (name_or_path + ".yaml");
    std::error_code error;
    if (fs::exists(path, error)) return path.string();
  }
  const std::vector<std::string> names = preset_names(kind);
  const std::string nearest = nearest_name(name_or_path, names);
  std::string found = "unknown preset " + in_quotes(name_or_path);
  if (!nearest.empty()) found += ", did you mean " + in_quotes(nearest) + "?";
  throw input_error(kind, "", found, joined(names) + ", or a path with '/' or ending in .yaml");
}

}  // namespace santa::config
