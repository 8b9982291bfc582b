#include "scalar_parse.hpp"

#include <charconv>
#include <cstddef>
#include <system_error>

namespace santa::config {
namespace {

std::size_t count_digits(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && text[count] >= '0' && text[count] <= '9') ++count;
  return count;
}

// Length of an integer without leading zeros at the start of `text`; 0 if there is none.
std::size_t integer_length(std::string_view text) {
  const std::size_t sign = !text.empty() && text[0] == '-' ? 1 : 0;
  const std::size_t digits = count_digits(text.substr(sign));
  const bool has_leading_zero = digits > 1 && text[sign] == '0';
  return digits == 0 || has_leading_zero ? 0 : sign + digits;
}

bool is_number(std::string_view text) {
  const std::size_t length = integer_length(text);
  if (length == 0) return false;
  text.remove_prefix(length);
  if (!text.empty() && text[0] == '.') {
    const std::size_t digits = count_digits(text.substr(1));
    if (digits == 0) return false;
    text.remove_prefix(1 + digits);
  }
  if (!text.empty() && (text[0] == 'e' || text[0] == 'E')) {
    text.remove_prefix(1);
    if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
    const std::size_t digits = count_digits(text);
    if (digits == 0) return false;
    text.remove_prefix(digits);
  }
  return text.empty();
}

template <typename T>
std::optional<T> convert(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  // One zero only: "-0" would print differently and change the hash of a configuration.
  return value == 0 ? T{0} : value;
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (text.empty() || integer_length(text) != text.size()) return std::nullopt;
  return convert<std::int64_t>(text);
}

std::optional<double> parse_number(std::string_view text) {
  if (!is_number(text)) return std::nullopt;
  return convert<double>(text);
}

}  // namespace santa::config
