// Text of error messages: values shown safely, and the nearest known name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace santa::config {

// `text` on one line: control characters, backslashes and bytes that are not valid UTF-8 become \n,
// \t, \\ or \xHH. Nothing is cut.
std::string escaped(std::string_view text);

// `text` escaped, between double quotes, and cut after about 60 characters with "..." behind them.
std::string in_quotes(std::string_view text);

// True if `text` is valid UTF-8 without control characters: fit for a name or a sentence.
bool is_plain_text(std::string_view text);

// The candidate with the smallest edit distance to `name`, or "" if none is close enough to be a
// misspelling (a third of its length, at least one edit, swapped neighbours counting as one).
// Among equals the first one wins.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

// "a, b, c"; "none" for an empty list.
std::string joined(const std::vector<std::string>& names);

}  // namespace santa::config
