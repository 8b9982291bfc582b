#include <utility>

#include "santa/cosim/rtl_model.hpp"

namespace santa::cosim {
namespace {

// One simulation at a time runs in a process: Verilator's handlers know no model.
std::vector<RtlFailure>& recorded() {
  static std::vector<RtlFailure> failures;
  return failures;
}

}  // namespace

void record_rtl_failure(RtlFailure failure) {
  constexpr std::size_t kKept = 100;
  if (recorded().size() < kKept) recorded().push_back(std::move(failure));
}

bool any_rtl_failure() {
  return !recorded().empty();
}

std::vector<RtlFailure> take_rtl_failures() {
  return std::exchange(recorded(), {});
}

}  // namespace santa::cosim
