#include "program.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace santa::test {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "santasim-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  fs::permissions(path_, fs::perms::owner_all, error);
  fs::remove_all(path_, error);
}

std::vector<std::string> TemporaryFolder::files() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

std::vector<std::string> with_program(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {SANTASIM_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

}  // namespace

pid_t start_command(const std::vector<std::string>& command, const std::string& out_file,
                    const std::string& err_file, bool close_out) {
  std::vector<std::string> words = command;
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int kCreate = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (close_out) {
    posix_spawn_file_actions_addclose(&actions, STDOUT_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_file.c_str(), kCreate, 0600);
  }
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err_file.c_str(), kCreate, 0600);
  pid_t process = 0;
  const int error = ::posix_spawnp(&process, argv.front(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " + command.front());
  return process;
}

pid_t start_program(const std::vector<std::string>& arguments, const std::string& out_file,
                    const std::string& err_file, bool close_out) {
  return start_command(with_program(arguments), out_file, err_file, close_out);
}

Outcome run_program(const std::vector<std::string>& arguments, const Redirect& out) {
  return run_command(with_program(arguments), out);
}

Outcome run_command(const std::vector<std::string>& command, const Redirect& out) {
  const TemporaryFolder folder;
  const std::string out_file = out.file.empty() ? folder / "out" : out.file;
  const pid_t process = start_command(command, out_file, folder / "err", out.closed);
  int status = 0;
  ::waitpid(process, &status, 0);
  Outcome outcome;
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  if (out.file.empty() && !out.closed) outcome.out = read_file(out_file);
  outcome.err = read_file(folder / "err");
  return outcome;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

nlohmann::json read_json(const std::string& path) {
  return nlohmann::json::parse(read_file(path));
}

std::vector<std::string> small_run(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"run",      "--synthetic",      "gaussian", "--query-heads",
                                        "4",        "--kv-heads",       "2",        "--context",
                                        "200",      "--head-dimension", "32",       "--config",
                                        "tiny-test"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

void expect_success(const Outcome& outcome) {
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
}

void expect_refused(const Outcome& outcome, const std::vector<std::string>& parts) {
  EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err.rfind("santasim: ", 0), 0U) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  for (const std::string& part : parts) {
    EXPECT_NE(outcome.err.find(part), std::string::npos)
        << "'" << part << "' is not in: " << outcome.err;
  }
}

}  // namespace santa::test
