// How far a sweep is, and how long it still takes.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "progress.hpp"

namespace santa::cli {

// "1:02:03", "2:03", from seconds.
std::string duration_text(double seconds);

// A line that changes on a terminal; a line a minute anywhere else, as in the log of a job.
class SweepProgress {
 public:
  // `what` is counted, "points".
  SweepProgress(std::size_t points, std::string what);
  void add(bool failed);
  void show();

 private:
  using Clock = std::chrono::steady_clock;
  std::string text() const;

  std::size_t points_;
  std::string what_;
  std::size_t finished_ = 0;
  std::size_t failed_ = 0;
  bool terminal_;
  Clock::time_point start_;
  Clock::time_point next_line_;
  Progress line_;
};

}  // namespace santa::cli
