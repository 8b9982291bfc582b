// Synthetic inputs of any shape from a seed. They are no model's data and are labelled so.
#pragma once

#include <cstdint>
#include <vector>

namespace santa::attention {

struct LayerShape {
  std::uint32_t query_heads = 0;
  std::uint32_t kv_heads = 0;  // divides query_heads
  std::uint32_t head_dimension = 0;
  std::uint32_t context = 0;
  std::uint32_t group() const { return query_heads / kv_heads; }
};

// One layer of real-valued inputs.
struct LayerTensors {
  LayerShape shape;
  double softmax_scale = 0.0;
  std::vector<float> query;  // [query_heads][head_dimension]
  std::vector<float> key;    // [kv_heads][context][head_dimension]
  std::vector<float> value;  // [kv_heads][context][head_dimension]
};

// Queries, keys and values i.i.d. N(0, 1), as in the paper's appendices F and Q. `seed` is mixed
// with `layer`, so layers differ. softmax_scale is 1/sqrt(head_dimension).
LayerTensors make_gaussian(const LayerShape& shape, std::uint64_t seed, std::uint64_t layer);

// Gaussian, with one key (at a place drawn from the seed) that takes most of the attention of every
// query head, about 95 % for a group of one: the shape of a retrieval ("needle") step.
LayerTensors make_needle(const LayerShape& shape, std::uint64_t seed, std::uint64_t layer);

}  // namespace santa::attention
