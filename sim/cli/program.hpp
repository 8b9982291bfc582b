// The program as a function: every failure becomes an exit code and one line.
#pragma once

namespace santa::cli {

// Runs the command line and returns the exit code (santa/error.hpp). Never throws.
int run_program(int argc, const char* const* argv) noexcept;

}  // namespace santa::cli
