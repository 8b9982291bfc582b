#include "sweep/interrupt.hpp"

#include <unistd.h>

#include <csignal>

namespace santa::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

// A handler has no other way to its text.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::string notice;

void handle(int signal) {
  static_cast<void>(::write(STDERR_FILENO, notice.data(), notice.size()));
  static_cast<void>(std::signal(signal, SIG_DFL));
  static_cast<void>(std::raise(signal));
}

}  // namespace

InterruptNotice::InterruptNotice(const std::string& line) {
  notice = line + "\n";
  for (const int signal : kSignals) static_cast<void>(std::signal(signal, handle));
}

InterruptNotice::~InterruptNotice() {
  for (const int signal : kSignals) static_cast<void>(std::signal(signal, SIG_DFL));
}

}  // namespace santa::cli
