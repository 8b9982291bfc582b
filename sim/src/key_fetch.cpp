#include "key_fetch.hpp"

namespace santa::sim {

KeyFetch::KeyFetch(const sc_core::sc_module_name& name, const UnitContext& context,
                   std::size_t jobs, Channel<JobPointer>& in, OrderedFetcher<TileToken>& tiles)
    : sc_core::sc_module(name),
      context_(context),
      jobs_(jobs),
      in_(in),
      tiles_(tiles),
      probe_(context.probe.add_block("key_fetch")) {
  sc_core::sc_spawn([this] { run(); }, sc_core::sc_gen_unique_name("run"));
}

void KeyFetch::run() {
  std::vector<ByteRange> reads;
  for (std::size_t j = 0; j < jobs_; ++j) {
    const JobPointer state = in_.read(probe_);
    probe_.fill(pipeline::kKeys);
    const attention::KvHead& cache = state->cache();
    const std::uint64_t tile_bytes =
        static_cast<std::uint64_t>(cache.head_dimension) * cache.tile_keys;
    for (std::uint32_t t = 0; t < state->tile_count(); ++t) {
      const std::uint64_t base = state->addresses.key + t * tile_bytes;
      const std::uint32_t valid = cache.tile_valid_keys(t);
      reads.clear();
      if (valid < cache.tile_keys) {
        // The tile still being filled lies key-major: all its bytes, in one run.
        reads.push_back(
            {base, valid * row_stride_bytes(cache.head_dimension, context_.hardware.unit)});
      } else {
        for (const auto& [first, count] : state->feature_runs) {
          reads.push_back({base + static_cast<std::uint64_t>(first) * cache.tile_keys,
                           static_cast<std::uint64_t>(count) * cache.tile_keys});
        }
      }
      tiles_.fetch({state, t}, reads, probe_);
    }
    if (state->tile_count() == 0) tiles_.fetch({state, 0}, nullptr, 0, probe_);
  }
}

}  // namespace santa::sim
