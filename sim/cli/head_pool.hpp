// Caches of any length drawn from the heads of a trace: where the data of `santasim model` comes
// from (docs/models.md).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "input.hpp"
#include "santa/arithmetic/lfsr.hpp"
#include "santa/attention/kv_head.hpp"
#include "workload.hpp"

namespace santa::cli {

// One group of query heads over one KV head of the source, its cache cut into windows of one tile.
class HeadSource {
 public:
  // Windows begin every this many tokens, or every tile where that is shorter.
  static constexpr std::uint32_t kWindowStride = 32;

  // Throws InputError where the head has fewer tokens than a tile.
  HeadSource(const InputLayer& layer, std::uint32_t kv_head, const CacheFormat& format);

  // A cache of `context` tokens. As long as the source: the source itself. Else its first tile,
  // then windows drawn uniformly with replacement, then its last tokens in the last tile, full or
  // not.
  attention::KvHead draw(std::uint32_t context, arithmetic::Lfsr64& random);

  std::uint32_t group() const { return group_; }
  // Query head `index` modulo the group, [head_dimension].
  const float* query(std::uint32_t index) const {
    return query_.data() + static_cast<std::size_t>(index % group_) * whole_.head_dimension;
  }
  double softmax_scale() const { return softmax_scale_; }
  const attention::KvHead& whole() const { return whole_; }

 private:
  attention::KvHead::Page window(std::uint32_t index) const;
  // The last `tokens` of the source, 1 to a tile.
  attention::KvHead::Page last(std::uint32_t tokens);
  // Keys first..first+count-1, feature-major, the rest of the tile 0.
  void copy_keys(std::uint32_t first, std::uint32_t count, std::int8_t* tile) const;

  attention::KvHead whole_;
  std::vector<float> query_;  // [group][head_dimension]
  std::uint32_t group_ = 0;
  double softmax_scale_ = 0.0;
  std::uint32_t stride_ = 0;
  std::uint32_t windows_ = 0;
  std::vector<std::int8_t> window_keys_;  // [windows][head_dimension][tile_keys]
  std::map<std::uint32_t, std::vector<std::int8_t>> last_keys_;  // by number of tokens
};

// The heads that requests are drawn from.
class HeadPool {
 public:
  // Throws InputError for heads of another dimension than `head_dimension`, or with fewer query
  // heads a KV head than `group`.
  HeadPool(const Input& input, std::uint32_t head_dimension, std::uint32_t group,
           const CacheFormat& format);

  struct Draw {
    attention::KvHead cache;   // of a source: outlived by the pool
    std::vector<float> query;  // [group][head_dimension]
    double softmax_scale = 0.0;
  };
  // One request's KV head and queries: a source, neighbouring query heads of its group, a cache.
  Draw draw(std::uint32_t context, std::uint64_t random_state);

  std::size_t sources() const { return sources_.size(); }

 private:
  std::uint32_t group_;
  std::deque<HeadSource> sources_;
};

}  // namespace santa::cli
