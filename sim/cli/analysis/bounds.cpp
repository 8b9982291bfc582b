#include "analysis/bounds.hpp"

#include <algorithm>

#include "analysis/result_file.hpp"

namespace santa::cli {
namespace {

constexpr double kLimitedFrom = 0.8;
constexpr double kShownShare = 0.01;

void sort_shares(std::vector<Share>& shares) {
  std::stable_sort(shares.begin(), shares.end(),
                   [](const Share& a, const Share& b) { return a.fraction > b.fraction; });
}

std::vector<Resource> resources_of(const Json& report) {
  const double cycles = number_at(report, "latency.cycles");
  std::vector<Resource> resources;
  const auto add = [&](const std::string& name, double busy) {
    resources.push_back({name, busy, 0.0, ""});
  };
  add("memory bandwidth", number_at(report, "memory.busy_fraction"));
  const double read_bytes = number_at(report, "traffic.query_bytes") +
                            number_at(report, "traffic.key_bytes") +
                            number_at(report, "traffic.value_bytes");
  const double port_bytes = number_at(report, "configuration.unit.port_bytes");
  if (port_bytes > 0.0) add("memory port, reads", read_bytes / port_bytes / cycles);
  for (const auto& [name, counters] : at_key(report, "blocks").items()) {
    const double busy = number_at(counters, "busy_cycles");
    if (busy > 0.0) add(name, busy / cycles);
  }
  std::stable_sort(resources.begin(), resources.end(), [](const Resource& a, const Resource& b) {
    return a.busy_fraction > b.busy_fraction;
  });
  for (std::size_t i = 0; i < resources.size(); ++i) {
    const Resource& next = resources[i == 0 && resources.size() > 1 ? 1 : 0];
    resources[i].floor_fraction = next.busy_fraction;
    resources[i].floor_name = next.name;
  }
  return resources;
}

}  // namespace

Diagnosis diagnose(const Json& report) {
  Diagnosis diagnosis;
  diagnosis.resources = resources_of(report);
  diagnosis.limited = diagnosis.resources.front().busy_fraction >= kLimitedFrom;
  const double requests =
      number_at(report, "memory.read_requests") + number_at(report, "memory.write_requests");
  diagnosis.mean_outstanding =
      requests * number_at(report, "memory.mean_latency_ns") / number_at(report, "latency.ns");
  diagnosis.memory_limit = text_at(report, "memory.limit");
  const double bytes = number_at(report, "traffic.total_bytes");
  for (const char* stream : {"query", "key", "value", "stash", "output"}) {
    const double part = number_at(report, std::string("traffic.") + stream + "_bytes");
    if (part > 0.0) diagnosis.traffic.push_back({stream, part / bytes});
  }
  const double energy = number_at(report, "energy.total_pj.mid");
  for (const auto& [name, range] : at_key(report, "energy.parts_pj").items()) {
    const double part = number_at(range, "mid") / energy;
    if (part >= kShownShare) diagnosis.energy.push_back({name, part});
  }
  sort_shares(diagnosis.traffic);
  sort_shares(diagnosis.energy);
  return diagnosis;
}

}  // namespace santa::cli
