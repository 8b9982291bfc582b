// Contexts up to the longest that a descriptor can ask for, the shortest first: what is wrong shows
// early.
#include <algorithm>

#include "santa/arithmetic/limits.hpp"
#include "santa/cosim/generator.hpp"
#include "santa/cosim/integer_data.hpp"

namespace santa::cosim {

std::vector<CosimRequest> long_requests(const UnitParameters& unit) {
  Random random(0x10A6);
  std::vector<CosimRequest> requests;
  const auto add = [&](const Recipe& recipe) -> CosimRequest& {
    requests.push_back(make_request(recipe, unit.tile_keys, random));
    return requests.back();
  };
  Recipe r;
  r.workload = "long context, a port word a key";
  r.context = arithmetic::kMaxContext / 16 + 1;
  r.head_dimension = std::min(unit.max_head_dimension, unit.port_bytes);
  r.samples_log2 = 9;
  add(r);
  r = Recipe();
  r.workload = "long context, thresholds at the last borders of tiles";
  r.context = arithmetic::kMaxContext / 16 + unit.tile_keys;
  r.group = unit.group_heads;
  r.samples_log2 = 12;
  r.octaves = 1.0;
  CosimRequest& borders = add(r);
  for (std::uint32_t g = 0; g < r.group; ++g) {
    steer_to_border(borders, g, r.context - (3 + 2 * g) * unit.tile_keys, true);
  }
  r = Recipe();
  r.workload = "long context, the last key leads";
  r.context = arithmetic::kMaxContext / 8 - unit.tile_keys - 1;
  r.keys = KeyProfile::kRising;
  r.octaves = 30.0;
  add(r);
  r = Recipe();
  r.workload = "long context of a whole group, Bernoulli";
  r.context = arithmetic::kMaxContext / 4 + 3;
  r.head_dimension = 3;
  r.group = unit.group_heads;
  r.scores = attention::ScoreScheme::kBernoulliGroup;
  r.octaves = 0.5;  // large masses of every head
  CosimRequest& group = add(r);
  for (std::uint32_t g = 0; g < r.group; ++g) steer_offset(group, g, OffsetCorner::kLast);
  r = Recipe();
  r.workload = "longest context, equal scores";  // the largest mass, drawn from end to end
  r.context = arithmetic::kMaxContext;
  r.keys = KeyProfile::kConstant;
  r.samples_log2 = 12;
  add(r);
  return requests;
}

}  // namespace santa::cosim
