#include "model_limits.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace santa::cli {
namespace {

constexpr double kLimitedFrom = 0.8;  // as `santasim explain` has it
constexpr double kNsPerUs = 1e3;

}  // namespace

std::vector<std::string> blocks_of(const MethodResult& method) {
  std::vector<std::string> blocks;
  for (std::size_t m = 0; m < model_metrics().size(); ++m) {
    const std::string& block = model_metrics()[m].block;
    if (block.empty() || !(method.step[m].value > 0.0)) continue;
    if (std::find(blocks.begin(), blocks.end(), block) == blocks.end()) blocks.push_back(block);
  }
  return blocks;
}

std::vector<StepResource> resources_of(const MethodView& view) {
  const MethodResult& method = view.method;
  const config::HardwareConfig& hardware = view.run.hardware;
  const double step_ns = method.of("latency_ns").value;
  const double step_cycles = step_ns * hardware.clock_mhz / kNsPerUs;
  std::vector<StepResource> resources;
  resources.push_back({"memory bandwidth", method.of("memory.busy_ns").value / step_ns});
  double read_bytes = 0.0;
  for (const char* stream : {"query", "key", "value"}) {
    read_bytes += method.of(std::string("traffic_bytes.") + stream).value;
  }
  const auto ports = static_cast<double>(hardware.unit.port_bytes * hardware.system.units);
  resources.push_back({"memory port, reads", read_bytes / ports / step_cycles});
  for (const std::string& block : blocks_of(method)) {
    const std::string key = fmt::format("blocks.{}.busy_cycles", block);
    resources.push_back({block, method.of(key).value / step_cycles});
  }
  std::stable_sort(resources.begin(), resources.end(),
                   [](const StepResource& a, const StepResource& b) {
                     return a.busy_fraction > b.busy_fraction;
                   });
  return resources;
}

std::string limit_of(const MethodView& view) {
  const StepResource busiest = resources_of(view).front();
  return busiest.busy_fraction >= kLimitedFrom ? busiest.name : "latency";
}

}  // namespace santa::cli
