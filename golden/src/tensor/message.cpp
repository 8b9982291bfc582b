#include "message.hpp"

#include <cstddef>

namespace santa::tensor {
namespace {

constexpr std::size_t kQuotedCharacters = 60;

}  // namespace

std::string shown(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (c == '\r') {
      result += "\\r";
    } else if (c == '\\') {
      result += "\\\\";
    } else if (byte >= 0x20 && byte < 0x7f) {
      result += c;
    } else {
      result += std::string("\\x") + kHex[byte >> 4] + kHex[byte & 15];
    }
  }
  return result;
}

std::string in_quotes(std::string_view text) {
  const bool cut = text.size() > kQuotedCharacters;
  return '"' + shown(text.substr(0, kQuotedCharacters)) + (cut ? "...\"" : "\"");
}

std::string tensor_key(std::string_view name) {
  return "tensor " + in_quotes(name);
}

}  // namespace santa::tensor
