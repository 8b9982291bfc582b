#include "job_state.hpp"

namespace santa::sim {
namespace {

constexpr std::uint64_t kRegionAlignment = 4096;

std::uint64_t operand_bytes(const attention::QueryOperands& query) {
  return (query.magnitude.size() + query.ratio.size()) * 4;
}

}  // namespace

std::vector<JobAddresses> make_address_map(const std::vector<Job>& jobs,
                                           std::uint64_t element_bytes) {
  std::vector<JobAddresses> map;
  std::uint64_t next = 0;
  const auto reserve = [&next](std::uint64_t bytes) {
    const std::uint64_t address = next;
    next += (bytes + kRegionAlignment - 1) / kRegionAlignment * kRegionAlignment;
    return address;
  };
  for (const Job& job : jobs) {
    const attention::KvHead& cache = *job.cache;
    const std::uint64_t group = job.request.query.group;
    const std::uint64_t padded = static_cast<std::uint64_t>(cache.tiles()) * cache.tile_keys;
    JobAddresses addresses;
    addresses.query = reserve(operand_bytes(job.request.query));
    addresses.key = reserve(padded * cache.head_dimension * element_bytes);
    addresses.value =
        reserve(static_cast<std::uint64_t>(cache.context) * cache.head_dimension * element_bytes);
    addresses.stash =
        reserve(padded * group * 2 + static_cast<std::uint64_t>(cache.tiles()) * group * 8);
    addresses.output = reserve(group * cache.head_dimension * 2);
    map.push_back(addresses);
  }
  return map;
}

}  // namespace santa::sim
