#include "sweep/sweep_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <utility>

namespace santa::cli {
namespace {

constexpr auto kLineInterval = std::chrono::minutes(1);

}  // namespace

std::string duration_text(double seconds) {
  constexpr long long kMinute = 60;
  constexpr long long kHour = 3600;
  const long long whole = std::llround(seconds);
  if (whole < kHour) return fmt::format("{}:{:02}", whole / kMinute, whole % kMinute);
  return fmt::format("{}:{:02}:{:02}", whole / kHour, whole % kHour / kMinute, whole % kMinute);
}

SweepProgress::SweepProgress(std::size_t points, std::string what)
    : points_(points),
      what_(std::move(what)),
      terminal_(::isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      next_line_(start_ + kLineInterval) {}

void SweepProgress::add(bool failed) {
  ++finished_;
  if (failed) ++failed_;
  show();
}

std::string SweepProgress::text() const {
  std::string text = fmt::format("{} of {} {}", finished_, points_, what_);
  if (failed_ != 0) text += fmt::format(", {} failed", failed_);
  if (finished_ != 0) {
    const std::chrono::duration<double> elapsed = Clock::now() - start_;
    const double each = elapsed.count() / static_cast<double>(finished_);
    text +=
        fmt::format(", {} left", duration_text(each * static_cast<double>(points_ - finished_)));
  }
  return text;
}

void SweepProgress::show() {
  const double fraction =
      points_ == 0 ? 1.0 : static_cast<double>(finished_) / static_cast<double>(points_);
  if (terminal_) {
    line_.show(text() + ",", fraction);
  } else if (Clock::now() >= next_line_) {
    next_line_ += kLineInterval;
    std::fputs(fmt::format("santasim: {}\n", text()).c_str(), stderr);
  }
}

}  // namespace santa::cli
