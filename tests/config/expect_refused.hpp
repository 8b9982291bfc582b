// Checks of complete error messages.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "santa/error.hpp"

namespace santa::config {

// The message with which `action` refuses its input; fails if it does not.
template <typename Action>
std::string refusal_of(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << "more than one line: " << message;
    return message;
  }
  ADD_FAILURE() << "was not refused";
  return "";
}

}  // namespace santa::config
