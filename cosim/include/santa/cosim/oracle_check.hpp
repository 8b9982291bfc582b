// The unit against the exact oracle alone: what its own weights and its own offset must give, in
// rationals, with no code of the golden model in between.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace santa::cosim {

// One query head as the monitors showed it.
struct ObservedHead {
  std::vector<std::vector<std::uint32_t>> weights;  // [tile][valid key]
  std::vector<std::int32_t> exponents;              // [tile]
  std::uint64_t mass = 0;                           // Z
  std::uint64_t offset = 0;                         // U
  std::vector<std::uint64_t> counts;                // [key]
};

struct OracleFinding {
  std::string field;
  std::string rtl;
  std::string exact;
};

// Mass, offset and the count of every key. Adds what was compared to `checked`.
std::optional<OracleFinding> check_counts(const ObservedHead& head, unsigned samples_log2,
                                          std::uint64_t& checked);

// Outputs of one head from its counts: sum of count times value over S, 8 fraction bits, to
// nearest, ties to even.
//   values   [key][stride], as they lie in memory
//   outputs  [head_dimension], as they lie in memory
std::optional<OracleFinding> check_outputs(const std::vector<std::uint64_t>& counts,
                                           unsigned samples_log2, const std::int8_t* values,
                                           std::uint32_t stride,
                                           const std::vector<std::int16_t>& outputs,
                                           std::uint64_t& checked);

}  // namespace santa::cosim
