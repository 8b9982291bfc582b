// Numbers as the project's YAML files write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace santa::config {

// The integer that all of `text` spells: optional '-', no leading zeros, nothing else.
// Empty if it spells none or it does not fit.
std::optional<std::int64_t> parse_integer(std::string_view text);

// The finite number that all of `text` spells: an integer as above, of any length, with an optional
// fraction and exponent, and digits on both sides of the point. Independent of the locale.
std::optional<double> parse_number(std::string_view text);

}  // namespace santa::config
