#include "process_pool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>
#include <thread>

#include "failure.hpp"
#include "santa/error.hpp"

namespace santa::cli {
namespace {

constexpr auto kNap = std::chrono::milliseconds(1);

InputError system_error(const char* what) {
  return input_error("starting a simulation", "", fmt::format("{}: {}", what, std::strerror(errno)),
                     "a system with processes, files and memory left; fewer --jobs");
}

int open_nameless(const char* name) {
  const int descriptor = ::memfd_create(name, MFD_CLOEXEC);
  if (descriptor < 0) throw system_error("no file in memory");
  return descriptor;
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 1U << 16U> buffer{};
  off_t offset = 0;
  for (;;) {
    const ssize_t count = ::pread(descriptor, buffer.data(), buffer.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    offset += count;
  }
}

[[noreturn]] void be_child(const std::function<std::string()>& work, int result, int errors,
                           pid_t parent) {
  // No orphan works on when the parent is gone, however it went.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kExitInternalError);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    static_cast<void>(std::signal(signal, SIG_DFL));
  }
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  Failure outcome;
  try {
    outcome.message = work();
  } catch (...) {
    outcome = current_failure();
  }
  if (!write_all(result, outcome.message)) outcome.exit_code = kExitInternalError;
  ::_exit(outcome.exit_code);
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1, end - begin);
}

}  // namespace

ProcessPool::~ProcessPool() {
  for (const Child& child : children_) ::kill(child.process, SIGKILL);
  for (const Child& child : children_) {
    ::waitpid(child.process, nullptr, 0);
    ::close(child.result);
    ::close(child.errors);
  }
}

void ProcessPool::start(std::size_t id, const std::function<std::string()>& work) {
  Child child;
  child.id = id;
  child.result = open_nameless("result");
  child.errors = open_nameless("errors");
  const pid_t parent = ::getpid();
  child.process = ::fork();
  if (child.process < 0) throw system_error("no process");
  if (child.process == 0) be_child(work, child.result, child.errors, parent);
  children_.push_back(child);
}

std::optional<WorkOutcome> ProcessPool::poll() {
  for (auto child = children_.begin(); child != children_.end(); ++child) {
    int status = 0;
    if (::waitpid(child->process, &status, WNOHANG) != child->process) continue;
    WorkOutcome outcome;
    outcome.id = child->id;
    outcome.text = read_all(child->result);
    const std::string last_words = last_line(read_all(child->errors));
    ::close(child->result);
    ::close(child->errors);
    if (WIFEXITED(status)) {
      outcome.exit_code = WEXITSTATUS(status);
      if (outcome.exit_code != 0 && outcome.text.empty()) outcome.text = last_words;
    } else {
      outcome.exit_code = kExitInternalError;
      outcome.text =
          fmt::format("ended by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
      if (!last_words.empty()) outcome.text += ": " + on_one_line(last_words);
      if (WTERMSIG(status) == SIGKILL) {  // nothing that the program does to itself
        outcome.exit_code = kExitBadInput;
        outcome.text += ", as the system does when memory runs out; allowed: fewer --jobs";
      }
    }
    children_.erase(child);
    return outcome;
  }
  return std::nullopt;
}

void nap() {
  std::this_thread::sleep_for(kNap);
}

}  // namespace santa::cli
