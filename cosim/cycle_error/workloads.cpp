#include "workloads.hpp"

#include <algorithm>

#include "santa/cosim/generator.hpp"

namespace santa::cosim {
namespace {

constexpr std::uint32_t kOutstanding = 64;
constexpr std::uint32_t kFeaturesTimesKeys = 1U << 16;  // of the longest request

// Keys whose weights fit half of the stash.
std::uint32_t keys_on_chip(const UnitParameters& unit, std::uint32_t group) {
  std::uint32_t heads = 1;
  while (heads < group) heads <<= 1;
  return unit.stash_kib * 256 / heads;
}

CosimRequest random_shape(const UnitParameters& unit, bool spills, std::uint64_t seed) {
  Random random(seed);
  RealShape shape;
  shape.head_dimension = std::min(unit.max_head_dimension, random.pick({16U, 32U, 64U, 80U, 128U}));
  shape.group = 1 + random.below(unit.group_heads);
  std::uint32_t longest = kFeaturesTimesKeys / shape.head_dimension;
  if (!spills) longest = std::min(longest, keys_on_chip(unit, shape.group));
  shape.context = 1 + random.below(longest);
  attention::DecodeOptions options;
  options.scores = random.pick({attention::ScoreScheme::kExact, attention::ScoreScheme::kBernoulli,
                                attention::ScoreScheme::kBernoulliGroup});
  options.bernoulli_draws = random.pick({1U, 4U, 8U, 16U});
  options.samples = random.pick({1U, 16U, 64U, 256U});
  return gaussian_request(shape, options, unit.tile_keys, seed);
}

}  // namespace

const std::vector<MemoryClass>& memory_classes() {
  static const std::vector<MemoryClass> classes = {
      {"latency 10 cycles", 10, 0.0, false},       {"latency 100 cycles", 100, 0.0, false},
      {"one word in ten stalls", 20, 0.1, false},  {"every second word stalls", 20, 0.5, false},
      {"memory of the description", 0, 0.0, true},
  };
  return classes;
}

CycleWorkload make_cycle_workload(const BuiltModel& model, const config::HardwareConfig& hardware,
                                  const MemoryClass& memory, std::uint64_t index) {
  CycleWorkload workload{
      memory.name, random_shape(model.parameters, memory.stall == 0.0, index), {}, hardware};
  workload.scenario = timed_scenario({workload.request}, hardware);
  workload.scenario.seed_of_addresses = index;
  if (memory.description) return workload;
  const double port_gb_per_s =
      static_cast<double>(hardware.unit.port_bytes) * hardware.clock_mhz * 1e-3;
  config::MemoryConfig& model_memory = workload.hardware.memory;
  model_memory.channels = 1;
  model_memory.channel_gb_per_s = port_gb_per_s;
  model_memory.latency_ns = memory.latency_cycles * 1e3 / hardware.clock_mhz;
  model_memory.max_outstanding = kOutstanding;
  model_memory.access_bytes = std::min(model_memory.access_bytes, hardware.unit.port_bytes);
  workload.scenario.timing = MemoryTiming::of(workload.hardware);
  workload.scenario.behaviour.r.probability = memory.stall;
  model_memory.channel_gb_per_s = port_gb_per_s * (1.0 - memory.stall);
  return workload;
}

}  // namespace santa::cosim
