// The JSON report, and JSON text as the project writes it.
#pragma once

#include <functional>
#include <string>

#include "results.hpp"
#include "statistics.hpp"

namespace santa::cli {

// Puts `value` where `key` says, distributing it over `*` and `[]` (see Statistic).
void place(Json& target, std::string_view key, const Json& value);

// Every statistic of the run: keys of the run, of the unit asked for, and of the baselines. The
// same inputs give the same bytes: no date, no host.
Json make_report(const RunResult& run);

// Indented by two, lists of plain values on one line, a line break at the end.
std::string to_text(const Json& json);

// What --json says for standard output.
inline constexpr const char* kStandardOutput = "-";

// Puts a result where --json (`option`) says: nowhere when empty; on the screen in place of
// `screen` for "-"; else in that file. Returns what belongs on the screen. Throws InputError when
// the file cannot be written.
std::string place_result(const std::string& option, std::string screen,
                         const std::function<Json()>& make);

}  // namespace santa::cli
