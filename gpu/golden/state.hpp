// A request with its part of the workspace, as the kernels see it.
#pragma once

#include <cstdint>

#include "santa/gpu/golden.hpp"

namespace santa::gpu {

struct GoldenState {
  GoldenRequest request;
  unsigned samples_log2 = 0;
  // Workspace, zero before the first kernel.
  std::uint64_t* encoder_words = nullptr;    // random words of the encoder
  std::uint32_t* cumulative = nullptr;       // [group][n], of the weights in each tile
  std::uint64_t* prefix_mass = nullptr;      // [group][tiles + 1]
  std::uint64_t* thresholds = nullptr;       // [group][S], in the order of the draws
  std::uint32_t* counts = nullptr;           // [group][n], draws; 1 for the keys of top-k
  std::uint64_t* selected_mass = nullptr;    // [group], of the keys of top-k
  unsigned long long* value_sums = nullptr;  // [group][d], two's complement
};

}  // namespace santa::gpu
