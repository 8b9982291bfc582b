// What happens when an assertion of the RTL fails in a simulation.
#pragma once

#include <functional>
#include <string>

namespace santa::rtl {

// Verilator has printed which assertion failed to standard output.
struct SimulationFailure {
  std::string file;  // SystemVerilog source
  int line = 0;
  std::string message;
};

using FailureHandler = std::function<void(const SimulationFailure&)>;

// Sets what is called when an assertion fails, $stop or $error is reached or Verilator itself
// stops. After an assertion, $stop or $error the simulation goes on when the handler returns;
// otherwise the program aborts. Without a handler every failure aborts. Returns the handler before.
FailureHandler set_failure_handler(FailureHandler handler);

}  // namespace santa::rtl
