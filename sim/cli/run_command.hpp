// `santasim run`.
#pragma once

#include <string>

#include "options.hpp"
#include "results.hpp"
#include "setup.hpp"

namespace santa::cli {

class OutputFile;

// Once in a process. Bursts go to `dram_trace` where there is one, while they arrive. Throws
// InputError and VerificationError.
RunResult simulate(const RunOptions& options, const Setup& setup, OutputFile* dram_trace = nullptr);

// The report of a run, as JSON text. Once in a process. Throws as above.
std::string simulated_report(const RunOptions& options);

// Loads, simulates, checks and writes everything that was asked for. Throws InputError and
// VerificationError.
void run(const RunOptions& options);

}  // namespace santa::cli
