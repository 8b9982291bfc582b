#include "santa/attention/kv_head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "santa/arithmetic/limits.hpp"
#include "santa/error.hpp"

namespace santa::attention {
namespace {

using arithmetic::kMaxContext;
using arithmetic::kMaxHeadDimension;
using arithmetic::kMaxTileKeys;
using arithmetic::kMinTileKeys;

// Largest magnitude of a symmetric integer.
double largest_quantized(const char* key, std::uint32_t bits) {
  if (bits != 4 && bits != 8) {
    throw input_error("key/value cache", key, "got " + std::to_string(bits), "4 or 8");
  }
  return bits == 8 ? 127.0 : 7.0;
}

void check_range(const char* key, std::uint64_t value, std::uint64_t low, std::uint64_t high) {
  if (value < low || value > high) {
    throw input_error("key/value cache", key, "got " + std::to_string(value),
                      std::to_string(low) + " to " + std::to_string(high));
  }
}

KvHead make_head(std::uint32_t context, std::uint32_t head_dimension, std::uint32_t tile_keys) {
  check_range("context", context, 0, kMaxContext);
  check_range("head_dimension", head_dimension, 1, kMaxHeadDimension);
  check_range("tile_keys", tile_keys, kMinTileKeys, kMaxTileKeys);
  if ((tile_keys & (tile_keys - 1)) != 0) {
    throw input_error("key/value cache", "tile_keys", "got " + std::to_string(tile_keys),
                      "a power of two");
  }
  KvHead head;
  head.context = context;
  head.head_dimension = head_dimension;
  head.tile_keys = tile_keys;
  head.keys.assign(static_cast<std::size_t>(head.tiles()) * head_dimension * tile_keys, 0);
  head.values.resize(static_cast<std::size_t>(context) * head_dimension);
  head.key_scale.assign(head_dimension, 0.0);
  head.value_exponent.assign(head_dimension, 0);
  return head;
}

// Largest magnitude of each feature.
std::vector<double> feature_maxima(const float* rows, std::uint32_t count,
                                   std::uint32_t head_dimension) {
  std::vector<float> maxima(head_dimension, 0.0F);
  for (std::uint32_t n = 0; n < count; ++n) {
    const float* row = rows + static_cast<std::size_t>(n) * head_dimension;
    for (std::uint32_t i = 0; i < head_dimension; ++i) {
      maxima[i] = std::max(maxima[i], std::abs(row[i]));
    }
  }
  return {maxima.begin(), maxima.end()};
}

// Smallest e with magnitude <= largest * 2^e; 0 for a feature that is 0 everywhere.
std::int8_t power_of_two_exponent(double magnitude, double largest) {
  if (magnitude == 0.0) return 0;
  int exponent = 0;
  std::frexp(magnitude / largest, &exponent);
  // frexp gives magnitude/largest in [2^(exponent-1), 2^exponent): step down when it is that power.
  if (magnitude <= std::ldexp(largest, exponent - 1)) --exponent;
  if (exponent < -120 || exponent > 120) {
    throw input_error("values", "magnitude", fmt::format("got {}", static_cast<float>(magnitude)),
                      fmt::format("0 or a largest magnitude per feature between 2^{} and 2^{}",
                                  std::ilogb(largest) + 1 - 120, std::ilogb(largest) + 120));
  }
  return static_cast<std::int8_t>(exponent);
}

// Copies [token][feature] int8 rows into the feature-major tile of `token`.
void store_key_row(KvHead& head, std::uint32_t token, const std::int8_t* row) {
  std::int8_t* tile = head.keys.data() + static_cast<std::size_t>(token / head.tile_keys) *
                                             head.head_dimension * head.tile_keys;
  const std::uint32_t slot = token % head.tile_keys;
  for (std::uint32_t i = 0; i < head.head_dimension; ++i) {
    tile[static_cast<std::size_t>(i) * head.tile_keys + slot] = row[i];
  }
}

// Rounds to nearest, ties to even, by adding and subtracting 1.5 * 2^52.
inline std::int8_t round_to_int8(double scaled) {
  constexpr double kRounder = 6755399441055744.0;
  return static_cast<std::int8_t>((scaled + kRounder) - kRounder);
}

}  // namespace

KvHead quantize_kv_head(const float* keys, const float* values, std::uint32_t context,
                        std::uint32_t head_dimension, std::uint32_t tile_keys,
                        const CacheBits& bits) {
  const double largest_key = largest_quantized("key_bits", bits.key);
  const double largest_value = largest_quantized("value_bits", bits.value);
  KvHead head = make_head(context, head_dimension, tile_keys);
  head.key_bits = bits.key;
  head.value_bits = bits.value;
  const std::vector<double> key_max = feature_maxima(keys, context, head_dimension);
  const std::vector<double> value_max = feature_maxima(values, context, head_dimension);

  std::vector<double> key_divisor(head_dimension, 1.0);
  std::vector<double> value_inverse(head_dimension, 0.0);
  for (std::uint32_t i = 0; i < head_dimension; ++i) {
    head.key_scale[i] = key_max[i] / largest_key;
    if (key_max[i] > 0.0) key_divisor[i] = key_max[i];
    head.value_exponent[i] = power_of_two_exponent(value_max[i], largest_value);
    value_inverse[i] = std::ldexp(1.0, -head.value_exponent[i]);
  }

  std::vector<std::int8_t> row(head_dimension);
  for (std::uint32_t n = 0; n < context; ++n) {
    const float* key = keys + static_cast<std::size_t>(n) * head_dimension;
    const float* value = values + static_cast<std::size_t>(n) * head_dimension;
    std::int8_t* value_row = head.values.data() + static_cast<std::size_t>(n) * head_dimension;
    for (std::uint32_t i = 0; i < head_dimension; ++i) {
      // Divided, not multiplied by an inverse: the quotient of a tie is exact, so it goes to even.
      row[i] = round_to_int8(static_cast<double>(key[i]) * largest_key / key_divisor[i]);
      value_row[i] = round_to_int8(static_cast<double>(value[i]) * value_inverse[i]);
    }
    store_key_row(head, n, row.data());
  }
  return head;
}

KvHead adopt_kv_head(const std::int8_t* keys, const std::int8_t* values, const float* key_scale,
                     const float* value_scale, std::uint32_t context, std::uint32_t head_dimension,
                     std::uint32_t tile_keys) {
  KvHead head = make_head(context, head_dimension, tile_keys);
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
