// What a point of a sweep simulates, whichever command it is: options checked and hardware read, so
// that it can be named, and then started.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "setup.hpp"

namespace santa::cli {

// A file that a simulation reads.
struct InputFile {
  std::string option;  // that names it: "--trace"
  std::string path;
  std::string title;  // in sweep.json: "trace my.safetensors"
};

struct Simulation {
  Setup setup;
  std::string config;            // the hardware, as its user names it
  std::vector<InputFile> files;  // less those of the setup
  std::string choices;           // every option with its value, less the hardware
  // The result, as JSON text. Reads `files`, and works in one process at a time. Once in a process.
  // Throws InputError and VerificationError.
  std::function<std::string()> simulate;
};

// From the name of the command, run or model, and its arguments. Throws InputError.
Simulation prepare_simulation(const std::vector<std::string>& words);

}  // namespace santa::cli
