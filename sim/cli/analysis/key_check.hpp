// Checks of the keys of a result, with messages that name file, key, value and what is allowed.
#pragma once

#include <string>

#include "options.hpp"
#include "statistics.hpp"

namespace santa::cli {

// Of sums whose parts were added in another order.
inline constexpr double kRounding = 1e-9;
bool are_equal(double a, double b);

class KeyCheck {
 public:
  // The report lives as long as the object; `path` is that of the file.
  KeyCheck(const Json& report, const std::string& path, SimulationCommand command);

  // What is at a dotted key; null if there is nothing.
  const Json& at(const std::string& key) const;

  // Each throws InputError for another value at `key` than its name says; numbers are returned.
  double positive(const std::string& key) const;
  double not_negative(const std::string& key, const char* allowed = "a number from 0") const;
  void not_negative_or_null(const std::string& key) const;
  void text(const std::string& key) const;
  const Json& object(const std::string& key) const;  // with members
  void numbers(const std::string& key) const;        // a list of numbers, or an empty one
  // The number at `key` is `expected`, but for rounding, which follows from `other`.
  void equal(const std::string& key, double expected, const std::string& other) const;
  // The program and the command, which it names if it is another one.
  void origin() const;

  // InputError that the value at `key` is not what is allowed.
  [[noreturn]] void refuse(const std::string& key, const std::string& allowed) const;
  // The number is there, and does not fit what follows from `other`.
  [[noreturn]] void contradiction(const std::string& key, const std::string& other,
                                  double expected) const;

 private:
  [[noreturn]] void refuse_value(const std::string& key, const std::string& allowed) const;

  const Json& report_;
  std::string path_;
  SimulationCommand command_;
};

// "run", "model", ... of `provenance.command`; empty where there is no such text.
std::string command_name_of(const Json& report);

}  // namespace santa::cli
