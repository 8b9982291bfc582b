#include "text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace santa::cli {

std::string grouped(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t place = digits.size(); place > 3; place -= 3) digits.insert(place - 3, ",");
  return digits;
}

std::string quantity(double value) {
  constexpr double kLargest = 1e12;
  constexpr double kSmallest = 1e-4;
  const double magnitude = std::fabs(value);
  if (value == 0.0) return "0";
  if (!std::isfinite(value) || magnitude >= kLargest || magnitude < kSmallest) {
    return fmt::format("{:.3e}", value);
  }
  if (magnitude < 999.95) return fmt::format("{:.4g}", value);
  return (value < 0 ? "-" : "") + grouped(static_cast<std::uint64_t>(std::llround(magnitude)));
}

std::string wrapped(const std::string& text, std::size_t indent) {
  std::string out;
  std::string line;
  std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return "\n";
  line.assign(begin, ' ');
  bool line_has_word = false;
  while (begin < text.size()) {
    std::size_t end = text.find(' ', begin);
    if (end == std::string::npos) end = text.size();
    const std::string word = text.substr(begin, end - begin);
    if (line_has_word && line.size() + 1 + word.size() > kScreenWidth) {
      out += line + "\n";
      line.assign(indent, ' ');
      line_has_word = false;
    }
    if (line_has_word) line += ' ';
    line += word;
    line_has_word = true;
    begin = end + 1;
  }
  return out + line + "\n";
}

}  // namespace santa::cli
