// What an exception means to the user: exit code and one line.
#pragma once

#include <string>

namespace santa::cli {

struct Failure {
  int exit_code = 0;  // santa/error.hpp
  std::string message;
};

// Of the exception that is being handled: call it inside a catch block. Never throws but for
// memory.
Failure current_failure();

// `text` on one line: control characters become spaces, line breaks at the end go.
std::string on_one_line(std::string text);

}  // namespace santa::cli
