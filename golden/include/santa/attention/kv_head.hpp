// One KV head of the cache as the unit stores it, and the quantiser from real tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace santa::attention {

// Keys and values of one KV head, int8 (docs/numerics.md, section 1).
// Key of token n, feature i, real value keys * key_scale[i], lies at
// [n / tile_keys][i][n % tile_keys]: feature-major inside a tile, so a skipped feature skips one
// contiguous run. Slots of the last tile beyond the context hold 0 and are never weighed.
struct KvHead {
  std::uint32_t context = 0;         // tokens, 0..2^20
  std::uint32_t head_dimension = 0;  // 1..1024
  std::uint32_t tile_keys = 0;       // power of two, 16..1024
  std::vector<std::int8_t> keys;     // [tiles][head_dimension][tile_keys]
  std::vector<std::int8_t> values;   // [context][head_dimension]
  std::vector<double> key_scale;     // [head_dimension]; 0 for a feature that is 0 everywhere
  std::vector<std::int8_t> value_exponent;  // [head_dimension]; value = values * 2^exponent

  std::uint32_t tiles() const { return (context + tile_keys - 1) / tile_keys; }
  std::uint32_t tile_valid_keys(std::uint32_t tile) const {
    const std::uint32_t left = context - tile * tile_keys;
    return left < tile_keys ? left : tile_keys;
  }
  const std::int8_t* tile(std::uint32_t index) const {
    return keys.data() + static_cast<std::size_t>(index) * head_dimension * tile_keys;
  }
  const std::int8_t* value_row(std::uint32_t key) const {
    return values.data() + static_cast<std::size_t>(key) * head_dimension;
  }
};

// Quantises one KV head: keys symmetric int8 with one real scale per feature (largest magnitude
// over 127), values symmetric int8 with one power of two per feature (the smallest that holds the
// largest magnitude in 127). Rounds to nearest, ties to even.
//   keys, values   [context][head_dimension], row-major, finite
// Throws InputError when a dimension is out of range or a feature's largest value needs an exponent
// beyond -120..120: it is above 127 * 2^120, or not 0 and not above 127 * 2^-121.
KvHead quantize_kv_head(const float* keys, const float* values, std::uint32_t context,
                        std::uint32_t head_dimension, std::uint32_t tile_keys);

// Takes over data that is int8 already.
//   key_scale      [head_dimension], >= 0
//   value_scale    [head_dimension], exact powers of two
KvHead adopt_kv_head(const std::int8_t* keys, const std::int8_t* values, const float* key_scale,
                     const float* value_scale, std::uint32_t context, std::uint32_t head_dimension,
                     std::uint32_t tile_keys);

}  // namespace santa::attention
