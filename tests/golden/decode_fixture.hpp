// Small layers for the decode tests, and what a decode of one KV head drew.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "santa/arithmetic/lfsr.hpp"
#include "santa/attention/head.hpp"

namespace santa::attention {

inline LayerShape one_head(std::uint32_t group, std::uint32_t head_dimension,
                           std::uint32_t context) {
  return {group, 1, head_dimension, context};
}

// Counts of one query head, by key.
inline std::vector<std::uint32_t> counts_of(const DecodeResult& result, std::uint32_t head,
                                            std::uint32_t context) {
  std::vector<std::uint32_t> counts(context, 0);
  for (const SampledRow& row : result.rows) counts[row.key] = row.counts[head];
  return counts;
}

}  // namespace santa::attention
