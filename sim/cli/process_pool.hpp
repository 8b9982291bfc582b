// Runs pieces of work in child processes, several at a time. A simulation needs a process of its
// own (SystemC elaborates once), and one that crashes takes nothing else with it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace santa::cli {

// What a piece of work came to.
struct WorkOutcome {
  std::size_t id = 0;
  int exit_code = 0;  // kExitInternalError for a child that a signal ended, SIGKILL apart
  std::string text;   // the result, or with another exit code than 0 the reason
};

class ProcessPool {
 public:
  explicit ProcessPool(std::size_t slots) : slots_(slots) {}
  ~ProcessPool();  // ends the children that still run
  ProcessPool(const ProcessPool&) = delete;
  ProcessPool& operator=(const ProcessPool&) = delete;

  std::size_t slots() const { return slots_; }
  std::size_t running() const { return children_.size(); }
  bool has_room() const { return running() < slots_; }

  // Starts a child that calls `work`, whose return value is the result; an exception becomes an
  // exit code and its message. What it prints is dropped. Children end with this process. Throws
  // InputError if the system has no process or memory left.
  void start(std::size_t id, const std::function<std::string()>& work);

  // One that has finished, if there is one. Does not wait.
  std::optional<WorkOutcome> poll();

 private:
  struct Child {
    std::size_t id = 0;
    pid_t process = 0;
    int result = -1;  // file without a name: what the child has to say
    int errors = -1;  // its standard error
  };
  std::size_t slots_;
  std::vector<Child> children_;
};

// A pause between two polls, in which nothing can be missed.
void nap();

}  // namespace santa::cli
