#include "santa/attention/kv_head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "kv_quantizer.hpp"
#include "santa/error.hpp"

namespace santa::attention {

KvHead quantize_kv_head(const float* keys, const float* values, std::uint32_t context,
                        std::uint32_t head_dimension, std::uint32_t tile_keys,
                        const CacheBits& bits) {
  KvHead head = make_kv_head(context, head_dimension, tile_keys);
  KvQuantizer quantizer(head_dimension, bits);
  head.key_bits = bits.key;
  head.value_bits = bits.value;
  quantizer.widen(keys, values, context);
  quantizer.write_scales(head);
  quantizer.write_rows(head, 0, keys, values, context);
  return head;
}

KvHead adopt_kv_head(const std::int8_t* keys, const std::int8_t* values, const float* key_scale,
                     const float* value_scale, std::uint32_t context, std::uint32_t head_dimension,
                     std::uint32_t tile_keys) {
  KvHead head = make_kv_head(context, head_dimension, tile_keys);
  for (std::uint32_t i = 0; i < head_dimension; ++i) {
    if (!(key_scale[i] >= 0.0F) || !std::isfinite(key_scale[i])) {
      throw input_error("key_scale", "feature " + std::to_string(i),
                        fmt::format("got {}", key_scale[i]), "a finite number, 0 or more");
    }
    int exponent = 0;
    if (!(value_scale[i] > 0.0F) || !std::isfinite(value_scale[i]) ||
        std::frexp(value_scale[i], &exponent) != 0.5F || exponent < -119 || exponent > 121) {
      throw input_error("value_scale", "feature " + std::to_string(i),
                        fmt::format("got {}", value_scale[i]), "a power of two, 2^-120 to 2^120");
    }
    head.key_scale[i] = static_cast<double>(key_scale[i]);
    head.value_exponent[i] = static_cast<std::int8_t>(exponent - 1);
  }
  std::copy(values, values + head.values.size(), head.values.begin());
  for (std::uint32_t n = 0; n < context; ++n) {
    store_key_row(head, n, keys + static_cast<std::size_t>(n) * head_dimension);
  }
  return head;
}

}  // namespace santa::attention
