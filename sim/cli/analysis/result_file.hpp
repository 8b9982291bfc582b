// Results of earlier runs, read back.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "statistics.hpp"

namespace santa::cli {

// Bytes of a file or pipe; none, with errno set, if it cannot be read.
std::optional<std::string> read_text(const std::string& path);

// A file that `santasim run --json` wrote, or a point of a sweep. Throws InputError if it cannot be
// read, is no JSON, or is not such a result (check_result()).
Json load_result(const std::string& path);

// A result of `santasim run` or of `santasim model`, each checked as it must be; `path` is named in
// errors. Throws as above.
Json parse_any_result(const std::string& text, const std::string& path);
// The same of a file.
Json load_any_result(const std::string& path);
// Which of them it is.
bool is_model_result(const Json& report);

// What is at a dotted key ("energy.total_pj.mid"); null if there is nothing.
const Json& at_key(const Json& json, const std::string& key);
// The same as a number; 0 for anything else.
double number_at(const Json& json, const std::string& key);
// The same as text; empty for anything else.
std::string text_at(const Json& json, const std::string& key);

// Everything with a single value, by its dotted key and in the order of the file. Lists of plain
// values count as one value; lists of objects, and `energy.windows`, are left out.
std::vector<std::pair<std::string, Json>> single_values(const Json& report);

// Name of the unit in words: "sampled sys S=256", "dense int8", "top-k k=64".
std::string unit_label(const Json& unit, const Json& report);

// Arguments of `santasim run` from `provenance.command`. Throws InputError for another text.
std::vector<std::string> words_of_command(const std::string& command, const std::string& path);

}  // namespace santa::cli
