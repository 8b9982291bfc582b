// Recorded vectors on a built unit: which fit it, and as requests of a scenario.
#pragma once

#include <string>
#include <vector>

#include "santa/cosim/scenario.hpp"
#include "santa/cosim/unit_parameters.hpp"
#include "santa/vectors/vector.hpp"

namespace santa::cosim {

struct SkippedVector {
  std::string file;
  std::string reason;  // "8 query heads a group, the unit has 4"
};

struct ReplaySet {
  std::vector<vectors::Vector> vectors;  // on the unit and on the cycle model
  // Of schemes that the cycle model alone knows, and why each is not for the unit.
  std::vector<vectors::Vector> model_only;
  std::vector<SkippedVector> not_on_unit;
  std::vector<SkippedVector> skipped;
};

// Why the request does not fit the shape of the unit, or the unit does not have its schemes; empty
// if it does.
std::string shape_misfit(const CosimRequest& request, const UnitParameters& unit);
std::string scheme_misfit(const CosimRequest& request);

// Reads every vector of a folder. Throws InputError, with `option` naming the folder, if there is
// none, if one is not as it should be, or if none fits the unit.
ReplaySet load_replays(const std::string& option, const std::string& folder,
                       const UnitParameters& unit);

// The request with what was recorded in the place of what the golden model says.
ScenarioRequest replay_request(const vectors::Vector& vector, Expectation golden);

}  // namespace santa::cosim
