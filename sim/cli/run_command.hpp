// `santasim run`.
#pragma once

#include <string>

#include "options.hpp"
#include "results.hpp"
#include "santa/config/hardware.hpp"

namespace santa::cli {

// The hardware and where its descriptions lie.
struct Setup {
  std::string config_file;
  config::HardwareConfig hardware;
  std::string pack_file;
};
// Throws InputError.
Setup load_setup(const RunOptions& options);

class OutputFile;

// Once in a process. Bursts go to `dram_trace` where there is one, while they arrive. Throws
// InputError and VerificationError.
RunResult simulate(const RunOptions& options, const Setup& setup, OutputFile* dram_trace = nullptr);

// Loads, simulates, checks and writes everything that was asked for. Throws InputError and
// VerificationError.
void run(const RunOptions& options);

}  // namespace santa::cli
