#include "program.hpp"

// The SystemC library brings a main() of its own that calls this function. The program has its own
// instead, so that options, messages and exit codes are the program's, and this is never called.
extern "C" int sc_main(int /*argc*/, char** /*argv*/) {
  return 0;
}

int main(int argc, char** argv) {
  return santa::cli::run_program(argc, argv);
}
