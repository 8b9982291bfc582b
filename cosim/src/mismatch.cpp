#include "santa/cosim/mismatch.hpp"

#include <fmt/format.h>

namespace santa::cosim {

std::string sentence(const Mismatch& m, const RunIdentity& identity) {
  return fmt::format(
      "{}: request {} ({}): {}: RTL {}, {} {}, in cycle {}; unit {} of {}, seed {}; repeat with: "
      "{}",
      m.block, m.request, m.workload, m.field, m.rtl, m.model, m.golden, m.cycle, identity.hash,
      identity.config, identity.seed, identity.command);
}

}  // namespace santa::cosim
