// The token that a decode step adds to the cache: Job::append.
#pragma once

#include "job_state.hpp"
#include "unit_context.hpp"

namespace santa::sim {

// Writes the new key and value of a cache that lies row by row. Nothing without Job::append.
void append_row(const UnitContext& context, const JobState& job, std::uint64_t key_row_bytes,
                std::uint64_t value_row_bytes);

// The same as the adder-only unit does it: the key goes to the tile still being filled, which lies
// key-major. The key that fills the tile brings its transposition: the other rows are read, and the
// whole tile is written feature by feature, through the key buffer. Reads of the tile follow in the
// port's order.
void append_to_tile(const UnitContext& context, const JobState& job);

}  // namespace santa::sim
