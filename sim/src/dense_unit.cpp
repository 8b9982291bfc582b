#include "dense_unit.hpp"

#include <algorithm>

#include "append.hpp"

namespace santa::sim {
namespace {

constexpr unsigned kBufferPortBits = 512;

// The buffer is halved between keys and values; at least two tiles of each are in flight.
std::uint64_t buffered_tiles(const UnitContext& context, MacFormat format) {
  const config::UnitConfig& unit = context.hardware.unit;
  const auto tile_bytes = static_cast<std::uint64_t>(unit.tile_keys * unit.max_head_dimension);
  const auto half = static_cast<std::uint64_t>(context.hardware.baselines.buffer_kib) * 512;
  return std::max<std::uint64_t>(2, half / (tile_bytes * element_bytes(format)));
}

}  // namespace

DenseUnit::DenseUnit(const sc_core::sc_module_name& name, const UnitContext& context,
                     MacFormat format, const std::vector<Job>& jobs,
                     std::function<void()> job_finished)
    : sc_core::sc_module(name),
      context_(context),
      format_(format),
      jobs_(jobs),
      mac_(context, format),
      fetch_probe_(context.probe.add_block("fetch")),
      mac_probe_(context.probe.add_block("mac_array")),
      softmax_probe_(context.probe.add_block("softmax_unit")),
      keys_(context.port, Stream::kKey, buffered_tiles(context, format)),
      values_(context.port, Stream::kValue, buffered_tiles(context, format)),
      divider_("divider", context, mac_, summed_, std::move(job_finished)) {
  const auto bytes = static_cast<std::uint64_t>(context.hardware.baselines.buffer_kib) * 1024;
  buffer_write_ = context_.meter.sram_write(energy::Block::mac_array, "key_value_buffer", bytes,
                                            kBufferPortBits);
  buffer_read_ = context_.meter.sram_read(energy::Block::mac_array, "key_value_buffer", bytes,
                                          kBufferPortBits);
  sc_core::sc_spawn([this] { fetch(); }, sc_core::sc_gen_unique_name("fetch"));
  sc_core::sc_spawn([this] { multiply(); }, sc_core::sc_gen_unique_name("multiply"));
  sc_core::sc_spawn([this] { make_weights(); }, sc_core::sc_gen_unique_name("make_weights"));
}

void DenseUnit::fetch() {
  const std::vector<JobAddresses> map = make_address_map(jobs_, format_ == MacFormat::kFp16);
  for (std::uint32_t index = 0; index < jobs_.size(); ++index) {
    context_.turn.wait_for(index);
    const JobPointer job = make_job_state(index, jobs_[index], map[index]);
    const attention::KvHead& cache = job->cache();
    // The query comes first; 2 bytes an element, whatever the cache's format.
    context_.port.read_and_wait(
        Stream::kQuery, job->addresses.query,
        static_cast<std::uint64_t>(job->group()) * cache.head_dimension * 2);
    const ElementBits bits = format_ == MacFormat::kFp16 ? kFp16Bits : bits_of(cache);
    const std::uint64_t key_row = packed_bytes(cache.head_dimension, bits.key);
    const std::uint64_t value_row = packed_bytes(cache.head_dimension, bits.value);
    append_row(context_, *job, key_row, value_row);
    for (std::uint32_t t = 0; t < job->tile_count(); ++t) {
      const std::uint64_t first = static_cast<std::uint64_t>(t) * cache.tile_keys;
      const std::uint64_t valid = cache.tile_valid_keys(t);
      keys_.fetch({job, t}, {{job->addresses.key + first * key_row, valid * key_row}},
                  fetch_probe_);
      values_.fetch({job, t}, {{job->addresses.value + first * value_row, valid * value_row}},
                    fetch_probe_);
      const std::uint64_t bytes = valid * (key_row + value_row);
      context_.count(buffer_write_, divide_up(bytes * 8, kBufferPortBits));
      context_.count(buffer_read_, divide_up(bytes * 8, kBufferPortBits));
    }
    if (job->tile_count() == 0) {
      keys_.fetch({job, 0}, nullptr, 0, fetch_probe_);
      values_.fetch({job, 0}, nullptr, 0, fetch_probe_);
    }
  }
}

// Scores run one tile ahead of values, so that the softmax has time.
void DenseUnit::multiply() {
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    TileToken token = keys_.next(mac_probe_);
    const std::uint32_t tiles = std::max<std::uint32_t>(1, token.job->tile_count());
    score(token);
    for (std::uint32_t t = 1; t < tiles; ++t) {
      score(keys_.next(mac_probe_));
      gather(weighed_.read(mac_probe_));
    }
    gather(weighed_.read(mac_probe_));
    summed_.write(token.job, mac_probe_);
  }
}

void DenseUnit::score(const TileToken& token) {
  if (token.job->tile_count() > 0) {
    const attention::KvHead& cache = token.job->cache();
    const std::uint64_t valid = cache.tile_valid_keys(token.tile);
    const std::uint64_t multiplies = valid * cache.head_dimension * token.job->group();
    mac_.count_scores(multiplies);
    context_.report.operations.algorithm.key_elements_read += valid * cache.head_dimension;
    context_.report.operations.algorithm.scores_written += valid * token.job->group();
    mac_probe_.work(mac_.cycles(multiplies), token.job->index, "score tile", token.tile);
  }
  keys_.release();
  scored_.write(token, mac_probe_);
}

void DenseUnit::gather(const TileToken& token) {
  values_.next(mac_probe_);
  if (token.job->tile_count() > 0) {
    const attention::KvHead& cache = token.job->cache();
    const std::uint64_t valid = cache.tile_valid_keys(token.tile);
    const std::uint64_t multiplies = valid * cache.head_dimension * token.job->group();
    mac_.count_values(multiplies);
    context_.report.samples.row_reads += valid;
    mac_probe_.work(mac_.cycles(multiplies), token.job->index, "value tile", token.tile);
  }
  values_.release();
}

void DenseUnit::make_weights() {
  for (;;) {
    const TileToken token = scored_.read(softmax_probe_);
    if (token.job->tile_count() > 0) {
      const std::uint64_t scores =
          static_cast<std::uint64_t>(token.job->cache().tile_valid_keys(token.tile)) *
          token.job->group();
      mac_.count_softmax(scores);
      softmax_probe_.work(
          divide_up(scores, context_.config_u64(context_.hardware.baselines.exp_lanes)),
          token.job->index, "tile", token.tile);
    }
    weighed_.write(token, softmax_probe_);
  }
}

}  // namespace santa::sim
