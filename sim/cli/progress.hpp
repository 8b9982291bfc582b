// A line of progress on a terminal.
#pragma once

#include <chrono>
#include <string>

namespace santa::cli {

// Shows "what 42 %" on standard error, only when that is a terminal and the work has taken a while
// already. The line is gone when the object is.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const std::string& what, double fraction);

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point next_;
};

}  // namespace santa::cli
