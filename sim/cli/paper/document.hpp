// Parts of the paper as text, Markdown and JSON.
#pragma once

#include <string>
#include <vector>

#include "santa/paper/part.hpp"
#include "statistics.hpp"

namespace santa::cli {

// A table for the screen.
std::string paper_table(const paper::Part& part);

// The whole document. `command` repeats it.
std::string paper_document(const std::vector<paper::Part>& parts, const std::string& command);

// Every row and every curve.
Json paper_json(const std::vector<paper::Part>& parts, const std::string& command);

}  // namespace santa::cli
