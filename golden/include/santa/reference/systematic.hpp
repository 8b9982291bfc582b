// What systematic draws do, exactly, and how many different keys each scheme draws: float64 and
// independent of the integer model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace santa::reference {

// Expected squared error of systematic sampling around the exact output. There is no formula for
// it, but the estimate is constant in the offset between the places where a threshold passes from
// one key to the next: this integrates over those pieces, all of them.
//   probabilities  [context], sum 1
//   values         [context][head_dimension]
double variance_systematic(const std::vector<double>& probabilities, const float* values,
                           std::size_t head_dimension, std::uint64_t samples);

// Probability that a key is among `samples` draws, for each key.
std::vector<double> drawn_iid(const std::vector<double>& probabilities, std::uint64_t samples);
std::vector<double> drawn_stratified(const std::vector<double>& probabilities,
                                     std::uint64_t samples);
std::vector<double> drawn_systematic(const std::vector<double>& probabilities,
                                     std::uint64_t samples);

}  // namespace santa::reference
