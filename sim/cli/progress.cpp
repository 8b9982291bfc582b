#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace santa::cli {
namespace {

constexpr auto kQuietTime = std::chrono::milliseconds(500);
constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr double kPercent = 100.0;
constexpr const char* kClearLine = "\r\x1b[K";

}  // namespace

Progress::Progress() : terminal_(::isatty(STDERR_FILENO) == 1), next_(Clock::now() + kQuietTime) {}

Progress::~Progress() {
  if (shown_) std::fputs(kClearLine, stderr);
}

void Progress::show(const std::string& what, double fraction) {
  if (!terminal_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  shown_ = true;
  std::fputs(fmt::format("{}{} {:.0f} %", kClearLine, what, kPercent * fraction).c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace santa::cli
