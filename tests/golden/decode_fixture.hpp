// Small layers for the decode tests, and a decode of one KV head under any seed.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "santa/arithmetic/lfsr.hpp"
#include "santa/attention/decode.hpp"
#include "santa/attention/synthetic.hpp"

namespace santa::attention {

// One KV head with its group of real-valued queries.
struct Head {
  LayerTensors tensors;
  KvHead cache;

  Head(LayerTensors layer, std::uint32_t tile_keys)
      : tensors(std::move(layer)),
        cache(quantize_kv_head(tensors.key.data(), tensors.value.data(), tensors.shape.context,
                               tensors.shape.head_dimension, tile_keys)) {}

  QueryOperands operands(ScoreScheme scheme, std::uint32_t draws) const {
    return prepare_query(tensors.query.data(), tensors.shape.query_heads,
                         tensors.shape.head_dimension, cache.key_scale.data(),
                         tensors.softmax_scale, scheme, draws);
  }
  DecodeRequest request(const DecodeOptions& options, std::uint64_t seed) const {
    using arithmetic::StreamPurpose;
    DecodeRequest result;
    result.query = operands(options.scores, options.bernoulli_draws);
    result.score_stream = arithmetic::derive_stream(seed, {0, 0, 0, 0, StreamPurpose::kScores});
    for (std::uint32_t g = 0; g < tensors.shape.query_heads; ++g) {
      result.value_streams.push_back(
          arithmetic::derive_stream(seed, {0, 0, g, 0, StreamPurpose::kValues}));
    }
    return result;
  }
  // What the int8 cache stands for, in real numbers.
  std::vector<float> dequantized_keys() const {
    const std::uint32_t d = cache.head_dimension;
    std::vector<float> keys(static_cast<std::size_t>(cache.context) * d);
    for (std::uint32_t n = 0; n < cache.context; ++n) {
      for (std::uint32_t i = 0; i < d; ++i) {
        const std::int8_t key = cache.tile(
            n /
            cache.tile_keys)[static_cast<std::size_t>(i) * cache.tile_keys + n % cache.tile_keys];
        keys[static_cast<std::size_t>(n) * d + i] = static_cast<float>(key * cache.key_scale[i]);
      }
    }
    return keys;
  }
  std::vector<float> dequantized_values() const {
    const std::uint32_t d = cache.head_dimension;
    std::vector<float> values(cache.values.size());
    for (std::size_t e = 0; e < values.size(); ++e) {
      values[e] = std::ldexp(static_cast<float>(cache.values[e]), cache.value_exponent[e % d]);
    }
    return values;
  }
};

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
