// Which requests are recorded as vectors.
#pragma once

#include <cstdint>

#include "santa/cosim/request.hpp"
#include "santa/cosim/unit_parameters.hpp"

namespace santa::cosim {

// Request `number`, from 1: small, and unlike its neighbours. Score schemes, groups and head
// dimensions take turns, some requests are of real tensors and the others of integers; every
// seventh is of a scheme that the unit in RTL does not have. The same number is the same request
// everywhere.
CosimRequest vector_request(const UnitParameters& unit, std::uint64_t number);

}  // namespace santa::cosim
