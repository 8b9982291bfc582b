// From real-valued tensors to requests of the unit.
#pragma once

#include <cstdint>
#include <vector>

#include "santa/attention/decode.hpp"
#include "santa/attention/synthetic.hpp"

namespace santa::attention {

// Which streams a request draws from, under the user's seed (docs/numerics.md, section 8).
struct StreamPlace {
  std::uint64_t seed = 1;  // not 0
  std::uint64_t request = 0;
  std::uint64_t layer = 0;
  std::uint64_t kv_head = 0;
  std::uint64_t step = 0;
};

// Derives the streams of a request whose query is set: that of the scores from the KV head, those
// of the draws from each query head.
void set_streams(DecodeRequest& request, const StreamPlace& place);

// One KV head with its group of real-valued queries, quantised as the unit stores it.
struct Head {
  LayerTensors tensors;  // shape.kv_heads is 1: shape.query_heads is the group
  KvHead cache;

  // Throws InputError as quantize_kv_head() does.
  Head(LayerTensors layer, std::uint32_t tile_keys);

  // Throws InputError as prepare_query() does.
  QueryOperands operands(ScoreScheme scheme, std::uint32_t draws) const;
  // A request whose streams are derived from `seed` alone.
  DecodeRequest request(const DecodeOptions& options, std::uint64_t seed) const;

  // What the integer cache stands for, in real numbers, [context][head_dimension].
  std::vector<float> dequantized_keys() const;
  std::vector<float> dequantized_values() const;
};

}  // namespace santa::attention
