#include "worker_processes.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "santa/energy/report.hpp"
#include "santa/error.hpp"

namespace santa::cli {
namespace {

// First byte of what a process writes; then doubles, or the text of an error.
enum class Kind : char { kResult = 'R', kInput = 'I', kVerification = 'V', kFault = 'F' };

std::string attempt(const std::function<std::vector<double>(std::size_t)>& task,
                    std::size_t index) {
  const auto failure = [](Kind kind, const char* text) {
    return std::string(1, static_cast<char>(kind)) + text;
  };
  try {
    const std::vector<double> values = task(index);
    std::string message(1, static_cast<char>(Kind::kResult));
    return message.append(reinterpret_cast<const char*>(values.data()),
                          values.size() * sizeof(double));
  } catch (const InputError& error) {
    return failure(Kind::kInput, error.what());
  } catch (const energy::VerificationError& error) {
    return failure(Kind::kVerification, error.what());
  } catch (const std::bad_alloc&) {
    return failure(Kind::kInput, "not enough memory for this input; allowed: fewer --jobs");
  } catch (const std::exception& error) {
    return failure(Kind::kFault, error.what());
  }
}

struct Worker {
  std::size_t task = 0;
  pid_t process = -1;
  int pipe = -1;
  std::string message;
};

[[noreturn]] void work(const std::function<std::vector<double>(std::size_t)>& task,
                       std::size_t index, int out, pid_t parent) {
  // Whoever ends the parent ends the work.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const std::string message = attempt(task, index);
  for (std::size_t sent = 0; sent < message.size();) {
    const ssize_t part = ::write(out, message.data() + sent, message.size() - sent);
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) ::_exit(1);
    sent += static_cast<std::size_t>(part);
  }
  ::_exit(0);
}

Worker start(const std::function<std::vector<double>(std::size_t)>& task, std::size_t index) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process == 0) {
    ::close(ends[0]);
    work(task, index, ends[1], parent);
  }
  ::close(ends[1]);
  if (process < 0) {
    ::close(ends[0]);
    throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  }
  return {index, process, ends[0], {}};
}

// The processes that run; whatever ends the loop ends them.
class Workers {
 public:
  Workers() = default;
  ~Workers() {
    for (const Worker& worker : running_) {
      ::kill(worker.process, SIGKILL);
      end(worker);
    }
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  std::size_t count() const { return running_.size(); }
  void add(Worker worker) { running_.push_back(std::move(worker)); }

  // Waits for messages; returns a worker that has ended, with its exit status, when there is one.
  bool wait(Worker& ended, int& status) {
    std::vector<pollfd> files;
    for (const Worker& worker : running_) files.push_back({worker.pipe, POLLIN, 0});
    if (::poll(files.data(), files.size(), -1) < 0) {
      if (errno == EINTR) return false;
      throw std::runtime_error(std::string("poll: ") + std::strerror(errno));
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (files[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t part = ::read(files[i].fd, buffer, sizeof buffer);
      if (part > 0) {
        running_[i].message.append(buffer, static_cast<std::size_t>(part));
      } else if (part == 0 || errno != EINTR) {
        ended = std::move(running_[i]);
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
        status = end(ended);
        return true;
      }
    }
    return false;
  }

 private:
  static int end(const Worker& worker) {
    ::close(worker.pipe);
    int status = 0;
    while (::waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

  std::vector<Worker> running_;
};

std::vector<double> result_of(const Worker& worker, int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
    throw InputError(
        "a process of the simulation was killed, as the system does when memory runs out; allowed: "
        "fewer --jobs");
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || worker.message.empty()) {
    throw std::runtime_error(fmt::format("a process of the simulation ended with {}",
                                         WIFSIGNALED(status)
                                             ? fmt::format("signal {}", WTERMSIG(status))
                                             : fmt::format("code {}", WEXITSTATUS(status))));
  }
  const std::string text = worker.message.substr(1);
  switch (static_cast<Kind>(worker.message.front())) {
    case Kind::kResult:
      break;
    case Kind::kInput:
      throw InputError(text);
    case Kind::kVerification:
      throw energy::VerificationError(text);
    case Kind::kFault:
      throw std::runtime_error(text);
  }
  std::vector<double> values(text.size() / sizeof(double));
  std::memcpy(values.data(), text.data(), values.size() * sizeof(double));
  return values;
}

}  // namespace

std::vector<std::vector<double>> run_in_processes(
    std::size_t count, std::size_t processes,
    const std::function<std::vector<double>(std::size_t)>& task,
    const std::function<void(std::size_t)>& finished) {
  std::vector<std::vector<double>> results(count);
  Workers workers;
  std::size_t next = 0;
  std::size_t ended = 0;
  while (ended < count) {
    while (next < count && workers.count() < processes) workers.add(start(task, next++));
    Worker worker;
    int status = 0;
    if (!workers.wait(worker, status)) continue;
    results[worker.task] = result_of(worker, status);
    finished(++ended);
  }
  return results;
}

}  // namespace santa::cli
