#include "santa/attention/growing_kv_head.hpp"

#include <cstddef>
#include <string>

#include "kv_quantizer.hpp"
#include "santa/arithmetic/limits.hpp"
#include "santa/error.hpp"

namespace santa::attention {

GrowingKvHead::GrowingKvHead(std::uint32_t head_dimension, std::uint32_t tile_keys,
                             const CacheBits& bits)
    : head_(make_kv_head(0, head_dimension, tile_keys)),
      quantizer_(std::make_unique<KvQuantizer>(head_dimension, bits)) {
  head_.key_bits = bits.key;
  head_.value_bits = bits.value;
}

GrowingKvHead::GrowingKvHead(const GrowingKvHead& other)
    : rows_(other.rows_),
      head_(other.head_),
      quantizer_(std::make_unique<KvQuantizer>(*other.quantizer_)) {}

GrowingKvHead::GrowingKvHead(GrowingKvHead&&) noexcept = default;
GrowingKvHead::~GrowingKvHead() = default;

void GrowingKvHead::append(const float* keys, const float* values, std::uint32_t count) {
  if (count > arithmetic::kMaxContext - head_.context) {
    throw input_error("key/value cache", "context",
                      "got " + std::to_string(std::uint64_t{head_.context} + count),
                      "0 to " + std::to_string(arithmetic::kMaxContext));
  }
  const KvQuantizer::Changed changed = quantizer_->widen(keys, values, count);
  for (const auto& rows : rows_) {
    for (const std::uint32_t feature : changed.keys) {
      quantizer_->write_key_feature(head_, feature, rows->first, rows->keys.data(), rows->count);
    }
    for (const std::uint32_t feature : changed.values) {
      quantizer_->write_value_feature(head_, feature, rows->first, rows->values.data(),
                                      rows->count);
    }
  }
  const std::size_t elements = static_cast<std::size_t>(count) * head_.head_dimension;
  rows_.push_back(std::make_shared<const Rows>(
      Rows{head_.context, count, {keys, keys + elements}, {values, values + elements}}));
  head_.context += count;
  head_.keys.resize(static_cast<std::size_t>(head_.tiles()) * head_.head_dimension *
                    head_.tile_keys);
  head_.values.resize(static_cast<std::size_t>(head_.context) * head_.head_dimension);
  quantizer_->write_scales(head_);
  quantizer_->write_rows(head_, rows_.back()->first, keys, values, count);
}

std::vector<float> GrowingKvHead::keys() const {
  std::vector<float> all;
  for (const auto& rows : rows_) all.insert(all.end(), rows->keys.begin(), rows->keys.end());
  return all;
}

std::vector<float> GrowingKvHead::values() const {
  std::vector<float> all;
  for (const auto& rows : rows_) all.insert(all.end(), rows->values.begin(), rows->values.end());
  return all;
}

}  // namespace santa::attention
