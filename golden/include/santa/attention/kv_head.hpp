// One KV head of the cache as the unit stores it, and the quantiser from real tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace santa::attention {

// Keys and values of one KV head, int8 (docs/numerics.md, section 1); with 4 bits, an element is
// -7..7 in the low half of the byte that the memory would hold, and has a byte of its own here.
// Key of token n, feature i, real value keys * key_scale[i], lies at
// [n / tile_keys][i][n % tile_keys]: feature-major inside a tile, so a skipped feature skips one
// contiguous run. Slots of the last tile beyond the context are never weighed.
// A cache may be paged: then `keys` and `values` are empty and `pages` has a tile's keys and rows,
// laid out as above, for every tile. They outlive the cache.
struct KvHead {
  std::uint32_t context = 0;         // tokens, 0..2^20
  std::uint32_t head_dimension = 0;  // 1..1024
  std::uint32_t tile_keys = 0;       // power of two, 16..1024
  std::uint32_t key_bits = 8;        // of an element in the unit's memory: 8 or 4
  std::uint32_t value_bits = 8;      // the same
  std::vector<std::int8_t> keys;     // [tiles][head_dimension][tile_keys]
  std::vector<std::int8_t> values;   // [context][head_dimension]
  std::vector<double> key_scale;     // [head_dimension]; 0 for a feature that is 0 everywhere
  std::vector<std::int8_t> value_exponent;  // [head_dimension]; value = values * 2^exponent
  struct Page {
    const std::int8_t* keys = nullptr;    // [head_dimension][tile_keys]
    const std::int8_t* values = nullptr;  // [tile_keys][head_dimension]
  };
  std::vector<Page> pages;  // [tiles], or empty

  std::uint32_t tiles() const { return (context + tile_keys - 1) / tile_keys; }
  std::uint32_t tile_valid_keys(std::uint32_t tile) const {
    const std::uint32_t left = context - tile * tile_keys;
    return left < tile_keys ? left : tile_keys;
  }
  const std::int8_t* tile(std::uint32_t index) const {
    if (!pages.empty()) return pages[index].keys;
    return keys.data() + static_cast<std::size_t>(index) * head_dimension * tile_keys;
  }
  const std::int8_t* value_row(std::uint32_t key) const {
    if (!pages.empty()) {
      return pages[key / tile_keys].values +
             static_cast<std::size_t>(key % tile_keys) * head_dimension;
    }
    return values.data() + static_cast<std::size_t>(key) * head_dimension;
  }
};

// Width of an element in the cache: 8 bits hold -127..127, 4 bits -7..7.
struct CacheBits {
  std::uint32_t key = 8;
  std::uint32_t value = 8;
};

// Quantises one KV head: keys symmetric integers with one real scale per feature (largest magnitude
// over the largest integer), values symmetric with one power of two per feature (the smallest that
// holds the largest magnitude). Rounds to nearest, ties to even.
//   keys, values   [context][head_dimension], row-major, finite
//   bits           8 or 4 each
// Throws InputError when a dimension is out of range or a feature's largest value needs an exponent
// beyond -120..120: with 8 bits, it is above 127 * 2^120, or not 0 and not above 127 * 2^-121.
KvHead quantize_kv_head(const float* keys, const float* values, std::uint32_t context,
                        std::uint32_t head_dimension, std::uint32_t tile_keys,
                        const CacheBits& bits = {});

// Takes over data that is int8 already.
//   key_scale      [head_dimension], >= 0
//   value_scale    [head_dimension], exact powers of two
KvHead adopt_kv_head(const std::int8_t* keys, const std::int8_t* values, const float* key_scale,
                     const float* value_scale, std::uint32_t context, std::uint32_t head_dimension,
                     std::uint32_t tile_keys);

}  // namespace santa::attention
