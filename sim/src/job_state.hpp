// A request on its way through a unit, and where its data lies in memory.
#pragma once

#include <algorithm>
#include <boost/smart_ptr/local_shared_ptr.hpp>
#include <boost/smart_ptr/make_local_shared.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "santa/sim/simulation.hpp"

namespace santa::sim {

// Byte addresses of one job's data. Jobs lie one after another, each region aligned to 4 KiB.
struct JobAddresses {
  std::uint64_t descriptor = 0;
  std::uint64_t query = 0;
  std::uint64_t key = 0;
  std::uint64_t value = 0;
  std::uint64_t stash = 0;
  std::uint64_t output = 0;
};

// Bits of an element of keys and values.
struct ElementBits {
  std::uint64_t key = 8;
  std::uint64_t value = 8;
};
inline constexpr ElementBits kFp16Bits = {16, 16};
inline ElementBits bits_of(const attention::KvHead& cache) {
  return {cache.key_bits, cache.value_bits};
}
// Bytes of elements that lie one after another.
constexpr std::uint64_t packed_bytes(std::uint64_t elements, std::uint64_t bits) {
  return (elements * bits + 7) / 8;
}

// Lays the jobs out for the multiply-accumulate units: keys and values row by row.
std::vector<JobAddresses> make_address_map(const std::vector<Job>& jobs, bool fp16);

// The same as the adder-only unit lays them out (docs/rtl.md, "Memory layout").
std::vector<JobAddresses> make_unit_address_map(const std::vector<Job>& jobs,
                                                const config::UnitConfig& unit);

inline constexpr std::uint64_t kDescriptorBytes = 256;

// Smallest power of two that is at least `value`; value >= 1.
constexpr std::uint64_t power_of_two_above(std::uint64_t value) {
  std::uint64_t power = 1;
  while (power < value) power <<= 1;
  return power;
}
// From one row of `row_bytes` to the next: value rows, keys of the tail tile.
inline std::uint64_t row_stride_bytes(std::uint64_t row_bytes, const config::UnitConfig& unit) {
  return power_of_two_above(std::max(row_bytes, static_cast<std::uint64_t>(unit.port_bytes)));
}
// Statistics of one spilled tile.
inline std::uint64_t entry_bytes(const config::UnitConfig& unit) {
  return static_cast<std::uint64_t>(std::max(8 * unit.group_heads, unit.port_bytes));
}

struct ByteRange {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

struct JobState {
  std::uint32_t index = 0;
  const Job* job = nullptr;
  JobAddresses addresses;
  attention::EncodedQuery query;
  // Needed features as runs (first feature, count), each one contiguous read in a full tile.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> feature_runs;
  std::uint64_t gather_cycles = 0;               // ternary_gather, per tile
  std::vector<std::uint64_t> run_cycles;         // of it, for each run of features
  std::uint64_t gather_digits = 0;               // additions per key over all heads
  std::uint64_t gather_writes = 0;               // accumulator writes per key over all heads
  std::vector<std::uint16_t> weights;            // [group][tiles * tile_keys]
  std::vector<attention::TileStatistics> tiles;  // [tile][group]
  std::vector<attention::HeadStatistics> heads;  // [group]
  std::vector<std::int32_t> sums;                // [group][head_dimension]

  const attention::KvHead& cache() const { return *job->cache; }
  std::uint32_t group() const { return job->request.query.group; }
  std::uint64_t padded_group() const { return power_of_two_above(group()); }
  std::uint32_t head_dimension() const { return job->cache->head_dimension; }
  std::uint64_t key_row_bytes() const { return packed_bytes(head_dimension(), cache().key_bits); }
  std::uint64_t value_row_bytes() const {
    return packed_bytes(head_dimension(), cache().value_bits);
  }
  // Bytes of the keys of one feature in a full tile.
  std::uint64_t feature_bytes() const { return packed_bytes(cache().tile_keys, cache().key_bits); }
  std::uint64_t tile_address(std::uint32_t tile) const {
    return addresses.key + std::uint64_t{tile} * head_dimension() * feature_bytes();
  }
  std::uint32_t tile_count() const { return job->cache->tiles(); }
  std::size_t padded_context() const {
    return static_cast<std::size_t>(tile_count()) * job->cache->tile_keys;
  }
};
// Every token has one; SystemC runs in one thread, so the count need not be atomic.
using JobPointer = boost::local_shared_ptr<JobState>;

inline JobPointer make_job_state(std::uint32_t index, const Job& job,
                                 const JobAddresses& addresses) {
  JobPointer state = boost::make_local_shared<JobState>();
  state->index = index;
  state->job = &job;
  state->addresses = addresses;
  return state;
}

}  // namespace santa::sim
