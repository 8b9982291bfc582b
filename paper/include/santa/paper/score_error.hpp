// Error of Bernoulli scores (the paper's appendix C.1).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "santa/attention/scheme.hpp"
#include "santa/paper/estimate.hpp"
#include "santa/paper/parallel.hpp"

namespace santa::paper {

inline constexpr std::array<std::uint32_t, 7> kScoreDraws = {1, 2, 4, 8, 16, 32, 64};  // B

// One estimator over all instances: mean relative L2 error at each B, mean of the instances'
// slopes of log(error) on log(B).
struct ErrorCurve {
  std::array<Sample, kScoreDraws.size()> errors;
  Sample slopes;
};

struct ScoreErrors {
  ErrorCurve golden;
  ErrorCurve paper;       // equations 5, 8 and 9 in float64, real keys, norm = max |q|
  ErrorCurve same_units;  // the same with the unit's step of each feature and its int8 keys
};

// Instances of dimension 128 and 1024 keys: q of N(0, 1), K of N(0, 1) / sqrt(128).
//   scheme  kBernoulli (stratified) or kBernoulliIid
//   seed    of data and draws
ScoreErrors measure_score_errors(attention::ScoreScheme scheme, std::uint64_t seed,
                                 const Execution& execution);

}  // namespace santa::paper
