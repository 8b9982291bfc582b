#include "job_state.hpp"

namespace santa::sim {
namespace {

constexpr std::uint64_t kRegionAlignment = 4096;

std::uint64_t operand_bytes(const attention::QueryOperands& query) {
  return (query.magnitude.size() + query.ratio.size()) * 4;
}

class Allocator {
 public:
  std::uint64_t reserve(std::uint64_t bytes) {
    const std::uint64_t address = next_;
    next_ += (bytes + kRegionAlignment - 1) / kRegionAlignment * kRegionAlignment;
    return address;
  }

 private:
  std::uint64_t next_ = 0;
};

}  // namespace

std::vector<JobAddresses> make_address_map(const std::vector<Job>& jobs, bool fp16) {
  std::vector<JobAddresses> map;
  Allocator memory;
  for (const Job& job : jobs) {
    const attention::KvHead& cache = *job.cache;
    const ElementBits bits = fp16 ? kFp16Bits : bits_of(cache);
    const std::uint64_t group = job.request.query.group;
    const std::uint64_t padded = static_cast<std::uint64_t>(cache.tiles()) * cache.tile_keys;
    JobAddresses addresses;
    addresses.query = memory.reserve(operand_bytes(job.request.query));
    addresses.key = memory.reserve(padded * packed_bytes(cache.head_dimension, bits.key));
    addresses.value = memory.reserve(static_cast<std::uint64_t>(cache.context) *
                                     packed_bytes(cache.head_dimension, bits.value));
    addresses.stash =
        memory.reserve(padded * group * 2 + static_cast<std::uint64_t>(cache.tiles()) * group * 8);
    addresses.output = memory.reserve(group * cache.head_dimension * 2);
    map.push_back(addresses);
  }
  return map;
}

std::vector<JobAddresses> make_unit_address_map(const std::vector<Job>& jobs,
                                                const config::UnitConfig& unit) {
  std::vector<JobAddresses> map;
  Allocator memory;
  for (const Job& job : jobs) {
    const attention::KvHead& cache = *job.cache;
    const std::uint64_t key_stride =
        row_stride_bytes(packed_bytes(cache.head_dimension, cache.key_bits), unit);
    const std::uint64_t value_stride =
        row_stride_bytes(packed_bytes(cache.head_dimension, cache.value_bits), unit);
    const std::uint64_t output_stride = 2 * row_stride_bytes(cache.head_dimension, unit);
    const std::uint64_t full_tiles = cache.context / cache.tile_keys;
    const std::uint64_t tail = cache.context % cache.tile_keys;
    const std::uint64_t padded = static_cast<std::uint64_t>(cache.tiles()) * cache.tile_keys;
    const std::uint64_t group = job.request.query.group;
    const std::uint64_t tile_bytes =
        cache.head_dimension * packed_bytes(cache.tile_keys, cache.key_bits);
    JobAddresses addresses;
    addresses.descriptor = memory.reserve(kDescriptorBytes);
    addresses.query = memory.reserve(operand_bytes(job.request.query));
    addresses.key = memory.reserve(full_tiles * tile_bytes + tail * key_stride);
    addresses.value = memory.reserve(cache.context * value_stride);
    addresses.stash =
        memory.reserve(padded * power_of_two_above(group) * 2 + cache.tiles() * entry_bytes(unit));
    addresses.output = memory.reserve(group * output_stride);
    map.push_back(addresses);
  }
  return map;
}

}  // namespace santa::sim
