// libFuzzer entry of the configuration readers. Stops at the first input that breaks a rule of
// config_check.hpp.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "config_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const santa::config::CheckResult result = santa::config::check_config_input(text);
  if (!result.violation.empty()) {
    std::fprintf(stderr, "%s\n", result.violation.c_str());
    std::abort();
  }
  return 0;
}
