#include "key_fetch.hpp"

#include <algorithm>

namespace santa::sim {
namespace {

constexpr std::uint64_t kBurstBytes = 4096;      // no burst crosses a multiple
constexpr std::uint64_t kManyBursts = 1U << 30;  // room is counted in words

std::uint64_t as_u64(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

std::uint64_t buffer_words(const config::UnitConfig& unit) {
  return as_u64((unit.key_buffer_tiles - 1) * unit.max_head_dimension * unit.tile_keys /
                unit.port_bytes);
}

}  // namespace

KeyBuffer::KeyBuffer(MemoryPort& port, const config::UnitConfig& unit)
    : burst_words(std::max<std::uint64_t>(
          1, std::min(buffer_words(unit) / 2, kBurstBytes / as_u64(unit.port_bytes)))),
      room(std::max<std::uint64_t>(buffer_words(unit), 1)),
      bursts(port, Stream::kKey, kManyBursts) {}

KeyFetch::KeyFetch(const sc_core::sc_module_name& name, const UnitContext& context,
                   std::size_t jobs, Channel<JobPointer>& in, KeyBuffer& out)
    : sc_core::sc_module(name),
      context_(context),
      jobs_(jobs),
      in_(in),
      out_(out),
      probe_(context.probe.add_block("key_fetch")) {
  sc_core::sc_spawn([this] { run(); }, sc_core::sc_gen_unique_name("run"));
}

void KeyFetch::run() {
  for (std::size_t j = 0; j < jobs_; ++j) {
    const JobPointer job = in_.read(probe_);
    probe_.fill(pipeline::kKeys);
    const attention::KvHead& cache = job->cache();
    for (std::uint32_t t = 0; t < job->tile_count(); ++t) {
      if (cache.tile_valid_keys(t) < cache.tile_keys) {
        fetch_tail(job, t);
      } else {
        fetch_full_tile(job, t);
      }
    }
    if (job->tile_count() == 0) out_.bursts.fetch({job, 0, 0, 0, true, true}, nullptr, 0, probe_);
  }
}

void KeyFetch::fetch_full_tile(const JobPointer& job, std::uint32_t tile) {
  const std::uint64_t base = job->tile_address(tile);
  const std::uint64_t feature_bytes = job->feature_bytes();
  KeyBurst burst{job, tile, 0, 0, true, false};
  if (job->feature_runs.empty()) {
    burst.last = true;
    burst.cycles =
        context_.config_u64(context_.hardware.unit.tile_keys / context_.hardware.unit.key_lanes);
    out_.bursts.fetch(burst, nullptr, 0, probe_);
    return;
  }
  for (std::size_t r = 0; r < job->feature_runs.size(); ++r) {
    const auto& [first, count] = job->feature_runs[r];
    const ByteRange range{base + first * feature_bytes, count * feature_bytes};
    fetch_run(burst, range, job->run_cycles[r], r + 1 == job->feature_runs.size());
    burst.first = false;
  }
}

// One run of features in bursts; the gather's cycles are shared out by their words.
void KeyFetch::fetch_run(KeyBurst burst, const ByteRange& range, std::uint64_t cycles,
                         bool last_run) {
  const std::uint64_t port_bytes = context_.config_u64(context_.hardware.unit.port_bytes);
  const std::uint64_t end = range.address + range.bytes;
  std::uint64_t cycles_given = 0;
  for (std::uint64_t address = range.address; address < end;) {
    const std::uint64_t stop = std::min(
        {end, (address / kBurstBytes + 1) * kBurstBytes, address + out_.burst_words * port_bytes});
    const std::uint64_t cycles_up_to = cycles * (stop - range.address) / range.bytes;
    burst.words = divide_up(stop - address, port_bytes);
    burst.cycles = cycles_up_to - cycles_given;
    burst.last = last_run && stop == end;
    out_.room.take(probe_, burst.words);
    const ByteRange read{address, stop - address};
    out_.bursts.fetch(burst, &read, 1, probe_);
    burst.first = false;
    cycles_given = cycles_up_to;
    address = stop;
  }
}

// The tile still being filled lies key-major: all its bytes, in one run.
void KeyFetch::fetch_tail(const JobPointer& job, std::uint32_t tile) {
  const std::uint64_t stride = row_stride_bytes(job->key_row_bytes(), context_.hardware.unit);
  const ByteRange read{job->tile_address(tile), job->cache().tile_valid_keys(tile) * stride};
  out_.tail.take(probe_);
  out_.bursts.fetch({job, tile, 0, 0, true, true}, &read, 1, probe_);
}

}  // namespace santa::sim
