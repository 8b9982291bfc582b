// A last word when a signal ends the program: Ctrl-C, kill, or mpirun that lost a rank.
#pragma once

#include <string>

namespace santa::cli {

// While it lives, SIGINT, SIGTERM and SIGHUP write one line to standard error, and then end the
// program as they do without it. One at a time.
class InterruptNotice {
 public:
  explicit InterruptNotice(const std::string& line);
  ~InterruptNotice();
  InterruptNotice(const InterruptNotice&) = delete;
  InterruptNotice& operator=(const InterruptNotice&) = delete;
};

}  // namespace santa::cli
