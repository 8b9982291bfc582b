// Numbers and lines for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace santa::cli {

// Columns that everything on the screen fits into.
inline constexpr std::size_t kScreenWidth = 100;

// 1234567 as "1,234,567".
std::string grouped(std::uint64_t value);

// Four significant digits or more: 0.01234, 12.34, 1,234, 1,234,567; very large and very small
// values with an exponent.
std::string quantity(double value);

// `text` on lines of at most kScreenWidth, broken at spaces, later lines indented by `indent`. Ends
// with a line break.
std::string wrapped(const std::string& text, std::size_t indent);

}  // namespace santa::cli
