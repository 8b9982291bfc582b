// Variance and distinct keys of the three samplers on real heads (the paper's appendices D, L, M).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "santa/attention/head.hpp"

namespace santa::paper {

inline constexpr std::array<attention::ValueScheme, 3> kSamplers = {
    attention::ValueScheme::kSanta, attention::ValueScheme::kStratified,
    attention::ValueScheme::kSystematic};

// One query head under one sampler with one budget.
struct DrawStatistics {
  double variance = 0.0;        // trace of the covariance of the output, from the replicates
  double keys = 0.0;            // distinct keys, mean over the replicates
  double exact_variance = 0.0;  // float64, of the real tensors' softmax
  double exact_keys = 0.0;      // the same
  double one_draw = 0.0;        // variance of a single draw, float64
};

// Every query head of a group: [head][sampler][budget].
//   samples_log2  budgets
//   replicates    draws of each, at least 2
std::vector<std::array<std::vector<DrawStatistics>, kSamplers.size()>> measure_draws(
    const attention::Head& head, const std::vector<unsigned>& samples_log2, unsigned replicates,
    std::uint64_t seed);

}  // namespace santa::paper
