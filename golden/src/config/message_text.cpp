#include "santa/config/message_text.hpp"

#include <algorithm>
#include <cstddef>

namespace santa::config {
namespace {

constexpr std::size_t kQuotedCharacters = 60;

// Length in bytes of the printable UTF-8 character at the start of `text`; 0 if there is none (a
// control character, an overlong or truncated sequence, a surrogate, or beyond U+10FFFF).
std::size_t printable_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : 0;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool surrogate = lead == 0xed && second >= 0xa0;
  const bool beyond = lead == 0xf4 && second >= 0x90;
  const bool c1_control = lead == 0xc2 && second < 0xa0;
  // U+2028 and U+2029 end a line in some viewers.
  const bool separator = lead == 0xe2 && second == 0x80 && (byte(2) == 0xa8 || byte(2) == 0xa9);
  return overlong || surrogate || beyond || c1_control || separator ? 0 : length;
}

std::string escaped_byte(char c) {
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  if (c == '\r') return "\\r";
  constexpr char kHex[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return std::string("\\x") + kHex[byte >> 4] + kHex[byte & 15];
}

// Escapes up to `limit` characters; `more` says whether something was left.
std::string escape_up_to(std::string_view text, std::size_t limit, bool& more) {
  std::string result;
  std::size_t characters = 0;
  while (!text.empty() && characters < limit) {
    const std::size_t length = printable_length(text);
    if (length == 0) {
      result += escaped_byte(text[0]);
    } else if (text[0] == '\\') {
      result += "\\\\";
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
    ++characters;
  }
  more = !text.empty();
  return result;
}

// Optimal string alignment: insert, delete, replace, swap neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> table((a.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& {
    return table[i * width + j];
  };
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        at(i, j) = i + j;
        continue;
      }
      const std::size_t replace = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
      }
    }
  }
  return at(a.size(), b.size());
}

}  // namespace

std::string escaped(std::string_view text) {
  bool more = false;
  return escape_up_to(text, text.size(), more);
}

std::string in_quotes(std::string_view text) {
  bool more = false;
  const std::string shown = escape_up_to(text, kQuotedCharacters, more);
  return '"' + shown + (more ? "...\"" : "\"");
}

bool is_plain_text(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = printable_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  // Beyond this length a name is no misspelling of ours, and the table would grow with its square.
  constexpr std::size_t kLongestName = 100;
  if (name.size() > kLongestName) return "";
  std::string nearest;
  std::size_t smallest = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < smallest) {
      smallest = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string joined(const std::vector<std::string>& names) {
  if (names.empty()) return "none";
  std::string result;
  for (const std::string& name : names) result += (result.empty() ? "" : ", ") + name;
  return result;
}

}  // namespace santa::config
