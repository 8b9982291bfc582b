// One request of a co-simulation: systematic values, scores of one of the unit's schemes.
#pragma once

#include "santa/vectors/request.hpp"

namespace santa::cosim {

using CosimRequest = vectors::Request;
using vectors::expect;
using vectors::Expectation;

}  // namespace santa::cosim
