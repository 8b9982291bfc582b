// Integers of one KV head's cache from real numbers, by the largest magnitude of each feature so
// far (docs/numerics.md, section 1).
#pragma once

#include <cstdint>
#include <vector>

#include "santa/attention/kv_head.hpp"

namespace santa::attention {

// A head with room for `context` tokens and no scales yet. Throws InputError when a dimension is
// out of range.
KvHead make_kv_head(std::uint32_t context, std::uint32_t head_dimension, std::uint32_t tile_keys);

// Copies [token][feature] int8 rows into the feature-major tile of `token`.
void store_key_row(KvHead& head, std::uint32_t token, const std::int8_t* row);

class KvQuantizer {
 public:
  // Throws InputError for a width that is not 8 or 4.
  KvQuantizer(std::uint32_t head_dimension, const CacheBits& bits);

  // Features whose keys, or whose values, have other integers than before.
  struct Changed {
    std::vector<std::uint32_t> keys;
    std::vector<std::uint32_t> values;
  };
  // Lets the scales hold `count` more rows. Throws InputError as quantize_kv_head() does, and is as
  // before then.
  Changed widen(const float* keys, const float* values, std::uint32_t count);
  void write_scales(KvHead& head) const;

  // Rows `first` to `first + count` of the head, which has room for them, in all features.
  void write_rows(KvHead& head, std::uint32_t first, const float* keys, const float* values,
                  std::uint32_t count);
  // The same of one feature, of keys or of values.
  void write_key_feature(KvHead& head, std::uint32_t feature, std::uint32_t first,
                         const float* keys, std::uint32_t count) const;
  void write_value_feature(KvHead& head, std::uint32_t feature, std::uint32_t first,
                           const float* values, std::uint32_t count) const;

 private:
  std::uint32_t head_dimension_;
  double largest_key_;
  double largest_value_;
  std::vector<float> key_max_;
  std::vector<float> value_max_;
  std::vector<std::int8_t> value_exponent_;
  std::vector<double> key_divisor_;
  std::vector<double> value_inverse_;
  std::vector<std::int8_t> row_;
};

}  // namespace santa::attention
