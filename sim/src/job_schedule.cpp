#include "job_schedule.hpp"

#include <algorithm>
#include <numeric>

namespace santa::sim {

std::vector<std::vector<std::uint32_t>> deal_jobs(const std::vector<Job>& jobs, std::size_t units) {
  std::vector<std::uint32_t> order(jobs.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return jobs[a].cache->context > jobs[b].cache->context;
  });
  std::vector<std::vector<std::uint32_t>> hands(units);
  std::vector<std::uint64_t> tokens(units, 0);
  for (const std::uint32_t job : order) {
    const auto least = std::min_element(tokens.begin(), tokens.end());
    *least += jobs[job].cache->context;
    hands[static_cast<std::size_t>(least - tokens.begin())].push_back(job);
  }
  for (auto& hand : hands) std::sort(hand.begin(), hand.end());
  return hands;
}

}  // namespace santa::sim
