#include "santa/rtl/failures.hpp"

#include <verilated.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace santa::rtl {
namespace {

FailureHandler& current_handler() {
  static FailureHandler handler;
  return handler;
}

void report(const char* file, int line, const char* message) {
  const SimulationFailure failure{file == nullptr ? "" : file, line, message};
  if (current_handler()) {
    current_handler()(failure);
    return;
  }
  std::fflush(stdout);
  std::fprintf(stderr, "%s:%d: %s\n", failure.file.c_str(), line, message);
  std::abort();
}

}  // namespace

FailureHandler set_failure_handler(FailureHandler handler) {
  return std::exchange(current_handler(), std::move(handler));
}

}  // namespace santa::rtl

// These take the place of Verilator's own, which end the process (VL_USER_STOP, VL_USER_FATAL).
void vl_stop(const char* filename, int linenum, const char* /*hier*/) VL_MT_UNSAFE {
  santa::rtl::report(filename, linenum, "assertion, $error or $stop");
}

void vl_fatal(const char* filename, int linenum, const char* /*hier*/,
              const char* msg) VL_MT_UNSAFE {
  santa::rtl::report(filename, linenum, msg);
  std::abort();
}
