// Requests as files, for test benches that are not written in C++.
#pragma once

#include <string>

#include "santa/cosim/scoreboard.hpp"

namespace santa::cosim {

// Writes FOLDER/NAME/: memory.hex (what lies in memory, $readmemh with byte addresses),
// output.hex (what must lie there afterwards), request.txt (addresses and sizes) and one text file
// a border: coefficients, scores, weights, tiles, draws, rows. Throws InputError.
void export_request(const ScoreboardRequest& request, const std::string& folder,
                    const std::string& name);

}  // namespace santa::cosim
