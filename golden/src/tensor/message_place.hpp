// How messages name things that come from files.
#pragma once

#include <string>

#include "santa/config/message_text.hpp"

namespace santa::tensor {

inline std::string tensor_key(const std::string& name) {
  return "tensor " + config::in_quotes(name);
}

inline std::string got(const std::string& text) {
  return "got " + config::in_quotes(text);
}

}  // namespace santa::tensor
