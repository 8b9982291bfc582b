// Which requests are recorded as vectors: small ones, unlike their neighbours. The same number is
// the same request everywhere.
#pragma once

#include <cstdint>

#include "santa/cosim/request.hpp"
#include "santa/cosim/unit_parameters.hpp"

namespace santa::cosim {

// Request `number`, from 1. Score schemes, groups and head dimensions take turns, some requests are
// of real tensors and the others of integers; every seventh is of a scheme that the unit in RTL
// does not have.
CosimRequest vector_request(const UnitParameters& unit, std::uint64_t number);

// Request `number` of the diverse set, from 1. The first 20 are every score scheme with every value
// scheme; those after them have the schemes of the unit in RTL. Head dimensions up to 256, groups
// up to 8, lengths from 0 on, budgets from 1 to 4096, flat and peaked scores, integers and real
// tensors, as far as the unit's shape allows.
CosimRequest diverse_request(const UnitParameters& unit, std::uint64_t number);

}  // namespace santa::cosim
