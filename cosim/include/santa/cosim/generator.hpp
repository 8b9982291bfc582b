// Which requests a co-simulation runs: random ones within the unit's limits, and a list of inputs
// that have broken other designs. The same seed gives the same requests everywhere.
#pragma once

#include <cstdint>
#include <vector>

#include "santa/cosim/random.hpp"
#include "santa/cosim/request.hpp"
#include "santa/cosim/unit_parameters.hpp"

namespace santa::cosim {

// `effort` bounds context times head dimension.
CosimRequest random_request(const UnitParameters& unit, std::uint32_t effort, Random& random);

// Each kind has a workload name of its own. Contexts that overflow the stash, and the longest run
// of equal scores, are there where they have at most `most_context` keys.
std::vector<CosimRequest> directed_requests(const UnitParameters& unit, std::uint32_t most_context);

// Requests of 2^16 to 2^20 keys, the longest context of a descriptor, with few features: what only
// they reach are the highest bits of keys, tiles, masses and thresholds, and the longest runs of
// the memory port. One takes the verilated unit up to some million cycles.
std::vector<CosimRequest> long_requests(const UnitParameters& unit);

// Gaussian tensors, quantised and prepared as the command line does it.
struct RealShape {
  std::uint32_t context = 0;
  std::uint32_t head_dimension = 0;
  std::uint32_t group = 0;
};
CosimRequest gaussian_request(const RealShape& shape, const attention::DecodeOptions& options,
                              std::uint32_t tile_keys, std::uint64_t seed);

}  // namespace santa::cosim
