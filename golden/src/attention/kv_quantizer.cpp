#include "kv_quantizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

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

// Largest magnitude of each feature, `maxima` included.
std::vector<float> feature_maxima(std::vector<float> maxima, const float* rows,
                                  std::uint32_t count) {
  const std::size_t head_dimension = maxima.size();
  for (std::uint32_t n = 0; n < count; ++n) {
    const float* row = rows + n * head_dimension;
    for (std::size_t i = 0; i < head_dimension; ++i) {
      maxima[i] = std::max(maxima[i], std::abs(row[i]));
    }
  }
  return maxima;
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

// Rounds to nearest, ties to even, by adding and subtracting 1.5 * 2^52.
inline std::int8_t round_to_int8(double scaled) {
  constexpr double kRounder = 6755399441055744.0;
  return static_cast<std::int8_t>((scaled + kRounder) - kRounder);
}

// Divided, not multiplied by an inverse: the quotient of a tie is exact, so it goes to even.
inline std::int8_t quantized_key(float key, double largest, double divisor) {
  return round_to_int8(static_cast<double>(key) * largest / divisor);
}

inline std::int8_t quantized_value(float value, double inverse) {
  return round_to_int8(static_cast<double>(value) * inverse);
}

}  // namespace

KvHead make_kv_head(std::uint32_t context, std::uint32_t head_dimension, std::uint32_t tile_keys) {
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

void store_key_row(KvHead& head, std::uint32_t token, const std::int8_t* row) {
  std::int8_t* tile = head.keys.data() + static_cast<std::size_t>(token / head.tile_keys) *
                                             head.head_dimension * head.tile_keys;
  const std::uint32_t slot = token % head.tile_keys;
  for (std::uint32_t i = 0; i < head.head_dimension; ++i) {
    tile[static_cast<std::size_t>(i) * head.tile_keys + slot] = row[i];
  }
}

KvQuantizer::KvQuantizer(std::uint32_t head_dimension, const CacheBits& bits)
    : head_dimension_(head_dimension),
      largest_key_(largest_quantized("key_bits", bits.key)),
      largest_value_(largest_quantized("value_bits", bits.value)),
      key_max_(head_dimension, 0.0F),
      value_max_(head_dimension, 0.0F),
      value_exponent_(head_dimension, 0),
      key_divisor_(head_dimension, 1.0),
      value_inverse_(head_dimension, 1.0),
      row_(head_dimension) {}

KvQuantizer::Changed KvQuantizer::widen(const float* keys, const float* values,
                                        std::uint32_t count) {
  std::vector<float> key_max = feature_maxima(key_max_, keys, count);
  std::vector<float> value_max = feature_maxima(value_max_, values, count);
  std::vector<std::int8_t> exponents(head_dimension_);
  for (std::uint32_t i = 0; i < head_dimension_; ++i) {
    exponents[i] = power_of_two_exponent(static_cast<double>(value_max[i]), largest_value_);
  }
  Changed changed;
  for (std::uint32_t i = 0; i < head_dimension_; ++i) {
    if (key_max[i] != key_max_[i]) changed.keys.push_back(i);
    if (exponents[i] != value_exponent_[i]) changed.values.push_back(i);
    key_divisor_[i] = key_max[i] > 0.0F ? static_cast<double>(key_max[i]) : 1.0;
    value_inverse_[i] = std::ldexp(1.0, -exponents[i]);
  }
  key_max_ = std::move(key_max);
  value_max_ = std::move(value_max);
  value_exponent_ = std::move(exponents);
  return changed;
}

void KvQuantizer::write_scales(KvHead& head) const {
  for (std::uint32_t i = 0; i < head_dimension_; ++i) {
    head.key_scale[i] = static_cast<double>(key_max_[i]) / largest_key_;
  }
  head.value_exponent = value_exponent_;
}

void KvQuantizer::write_rows(KvHead& head, std::uint32_t first, const float* keys,
                             const float* values, std::uint32_t count) {
  // Bytes may alias members; pointers of its own let the loop be vectorised.
  const double* divisor = key_divisor_.data();
  const double* inverse = value_inverse_.data();
  const double largest = largest_key_;
  std::int8_t* row = row_.data();
  const std::uint32_t dimension = head_dimension_;
  for (std::uint32_t n = 0; n < count; ++n) {
    const float* key = keys + static_cast<std::size_t>(n) * head_dimension_;
    const float* value = values + static_cast<std::size_t>(n) * head_dimension_;
    std::int8_t* value_row =
        head.values.data() + static_cast<std::size_t>(first + n) * head_dimension_;
    for (std::uint32_t i = 0; i < dimension; ++i) {
      row[i] = quantized_key(key[i], largest, divisor[i]);
      value_row[i] = quantized_value(value[i], inverse[i]);
    }
    store_key_row(head, first + n, row);
  }
}

void KvQuantizer::write_key_feature(KvHead& head, std::uint32_t feature, std::uint32_t first,
                                    const float* keys, std::uint32_t count) const {
  for (std::uint32_t n = 0; n < count; ++n) {
    const std::uint32_t token = first + n;
    const std::size_t tile = token / head.tile_keys;
    head.keys[(tile * head_dimension_ + feature) * head.tile_keys + token % head.tile_keys] =
        quantized_key(keys[static_cast<std::size_t>(n) * head_dimension_ + feature], largest_key_,
                      key_divisor_[feature]);
  }
}

void KvQuantizer::write_value_feature(KvHead& head, std::uint32_t feature, std::uint32_t first,
                                      const float* values, std::uint32_t count) const {
  for (std::uint32_t n = 0; n < count; ++n) {
    head.values[static_cast<std::size_t>(first + n) * head_dimension_ + feature] = quantized_value(
        values[static_cast<std::size_t>(n) * head_dimension_ + feature], value_inverse_[feature]);
  }
}

}  // namespace santa::attention
