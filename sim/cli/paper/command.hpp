// `santasim paper` (docs/paper.md).
#pragma once

#include "options.hpp"

namespace santa::cli {

// Measures the parts that were asked for and writes them where the options say. Throws InputError,
// for an output before any work.
void regenerate_paper(const PaperOptions& options);

}  // namespace santa::cli
