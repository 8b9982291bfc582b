// Runs the built program as a user does.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace santa::test {

struct Outcome {
  int exit_code = -1;  // -1 when a signal ended the program
  std::string out;
  std::string err;
};

// A folder that is gone with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::vector<std::string> files() const;  // names, sorted

 private:
  std::filesystem::path path_;
};

// Where standard output goes: into the outcome, to a file, or nowhere because it is closed.
struct Redirect {
  std::string file;
  bool closed = false;
};

// Any command, its first word the program, looked for in PATH.
pid_t start_command(const std::vector<std::string>& command, const std::string& out_file,
                    const std::string& err_file, bool close_out = false);
Outcome run_command(const std::vector<std::string>& command, const Redirect& out = {});

pid_t start_program(const std::vector<std::string>& arguments, const std::string& out_file,
                    const std::string& err_file, bool close_out = false);
Outcome run_program(const std::vector<std::string>& arguments, const Redirect& out = {});

std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& bytes);
nlohmann::json read_json(const std::string& path);

// A quick run: `santasim run --synthetic gaussian` of a small shape, and `more`.
std::vector<std::string> small_run(const std::vector<std::string>& more = {});

// Success with nothing on standard error.
void expect_success(const Outcome& outcome);
// Exit code 2, nothing on standard output, and one line that has every one of `parts` in it.
void expect_refused(const Outcome& outcome, const std::vector<std::string>& parts);

}  // namespace santa::test
