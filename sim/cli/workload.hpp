// From real tensors to requests of the unit, and to what its outputs are judged by.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "input.hpp"
#include "options.hpp"
#include "santa/attention/kv_head.hpp"
#include "santa/config/hardware.hpp"
#include "santa/sim/simulation.hpp"

namespace santa::cli {

// One request by the references, in real units.
struct ReferenceOutput {
  std::vector<double> exact;  // [group][head_dimension], float64 attention of the real tensors
  std::vector<double> log_sum_exp;  // [group], of the same
  std::vector<float> fp16;  // as exact, in the fp16 dense unit's arithmetic; empty if not asked for
};

struct Workload {
  std::deque<attention::KvHead> caches;  // a deque: jobs point into it
  std::vector<sim::Job> jobs;            // layer by layer, KV head by KV head
  std::vector<ReferenceOutput> references;
  // Relative L2 distance of the float64 attention from the model's own output, where the input has
  // one for every layer.
  std::optional<double> reference_to_model;
};

// How caches lie in memory.
struct CacheFormat {
  std::uint32_t tile_keys = 0;
  attention::CacheBits bits;
};
CacheFormat cache_format(const config::HardwareConfig& hardware);

// The cache of one KV head. Throws InputError where the layer holds 8-bit integers and the format
// has fewer bits.
attention::KvHead make_cache(const InputLayer& layer, std::uint32_t kv_head,
                             const CacheFormat& format);

// Quantises every layer and derives the random streams. `progress` is called with the fraction
// done. Throws InputError that names layer and KV head.
Workload prepare_workload(const Input& input, const RunOptions& options, const CacheFormat& format,
                          bool with_fp16, const std::function<void(double)>& progress);

}  // namespace santa::cli
