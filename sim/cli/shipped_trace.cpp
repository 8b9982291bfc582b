#include "shipped_trace.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "santa/config/message_text.hpp"
#include "santa/error.hpp"

namespace santa::cli {

std::string find_shipped_trace() {
  namespace fs = std::filesystem;
  constexpr const char* kVariable = "SANTASIM_TRACE_DIR";
  std::error_code error;
  std::vector<fs::path> folders;
  const char* from_environment = std::getenv(kVariable);
  if (from_environment != nullptr && *from_environment != '\0') {
    if (!fs::is_directory(from_environment, error)) {
      throw input_error(std::string("$") + kVariable, "",
                        "got " + config::in_quotes(from_environment), "a folder with traces");
    }
    folders.emplace_back(from_environment);
  }
  folders.emplace_back(SANTA_TRACE_SOURCE_DIR);
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    folders.push_back(executable.parent_path().parent_path() / "share/santasim/traces");
  }
  std::vector<std::string> searched;
  for (const fs::path& folder : folders) {
    const fs::path path = folder / kShippedTrace;
    if (fs::exists(path, error)) return path.string();
    searched.push_back(folder.string());
  }
  throw input_error("the shipped trace", kShippedTrace, "is not in " + config::joined(searched),
                    "--trace, --query with --key and --value, --model or --synthetic");
}

}  // namespace santa::cli
