// One request of integers, and everything the golden model says about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "santa/attention/decode.hpp"
#include "santa/attention/kv_head.hpp"

namespace santa::vectors {

struct Request {
  std::string workload;  // its class, for reports: "random", "equal scores", ...
  std::shared_ptr<const attention::KvHead> cache;
  std::uint32_t context = 0;  // at most cache->context
  attention::DecodeRequest request;
  attention::DecodeOptions options;

  std::uint32_t group() const { return request.query.group; }
  std::uint32_t head_dimension() const { return request.query.head_dimension; }
  std::uint32_t tiles() const { return (context + cache->tile_keys - 1) / cache->tile_keys; }
  std::uint32_t valid_keys(std::uint32_t tile) const {
    const std::uint32_t left = context - tile * cache->tile_keys;
    return left < cache->tile_keys ? left : cache->tile_keys;
  }
  unsigned samples_log2() const;
};

// What every border between the blocks must carry.
struct Expectation {
  attention::DecodeResult result;
  std::vector<std::int32_t> accumulators;  // [tile][head][tile_keys]
  std::vector<std::uint16_t> weights;      // [tile][head][tile_keys]
  std::vector<std::uint64_t> offsets;      // [head] U; empty without keys or systematic sampling

  std::size_t index(const Request& request, std::uint32_t tile, std::uint32_t head) const {
    return (static_cast<std::size_t>(tile) * request.group() + head) * request.cache->tile_keys;
  }
};
Expectation expect(const Request& request);

}  // namespace santa::vectors
