// A KV head's cache that grows with the sequence.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "santa/attention/kv_head.hpp"

namespace santa::attention {

class KvQuantizer;

// After each append() head() is what quantize_kv_head() makes of all rows so far, bit for bit; only
// features whose scale changed are quantised anew. Copies share the real numbers of earlier rows.
class GrowingKvHead {
 public:
  // Throws InputError as quantize_kv_head() does.
  GrowingKvHead(std::uint32_t head_dimension, std::uint32_t tile_keys, const CacheBits& bits);
  GrowingKvHead(const GrowingKvHead& other);
  GrowingKvHead(GrowingKvHead&&) noexcept;
  GrowingKvHead& operator=(const GrowingKvHead&) = delete;
  ~GrowingKvHead();

  //   keys, values   [count][head_dimension], finite
  // Throws InputError as quantize_kv_head() does, and is as before then.
  void append(const float* keys, const float* values, std::uint32_t count);

  const KvHead& head() const { return head_; }

  // The rows as they were given, [context][head_dimension].
  std::vector<float> keys() const;
  std::vector<float> values() const;

 private:
  struct Rows {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::vector<float> keys;
    std::vector<float> values;
  };
  std::vector<std::shared_ptr<const Rows>> rows_;  // one of each append()
  KvHead head_;
  std::unique_ptr<KvQuantizer> quantizer_;
};

}  // namespace santa::attention
