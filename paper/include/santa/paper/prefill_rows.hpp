// Value rows that i.i.d. sampling reads in a causal prefill (the paper's appendix F).
#pragma once

#include <array>
#include <cstdint>

namespace santa::paper {

inline constexpr std::array<unsigned, 4> kPrefillSamplesLog2 = {0, 2, 3, 4};  // S 1, 4, 8, 16

// One head of dimension 128, Gaussian queries, keys and values: percent of its `keys` rows that the
// draws of at least one query read, for each budget. Scores, weights and draws are the golden
// model's. `seed` is that of the data and of the draws.
std::array<double, kPrefillSamplesLog2.size()> prefill_rows_percent(std::uint32_t keys,
                                                                    std::uint64_t seed);

}  // namespace santa::paper
