// Small workloads for the simulator's tests, and a child process for each simulation: SystemC
// elaborates once in a process.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "santa/attention/synthetic.hpp"
#include "santa/sim/simulation.hpp"

namespace santa::sim {

struct Shape {
  attention::LayerShape layer;
  attention::DecodeOptions options;
};

// Jobs of one Gaussian layer with everything they point to.
struct Workload {
  std::vector<std::unique_ptr<attention::KvHead>> heads;
  std::vector<Job> jobs;
};
Workload make_workload(const Shape& shape, std::uint32_t tile_keys, std::uint64_t seed,
                       const attention::CacheBits& bits = {});

const energy::EnergyPack& default_pack();

// Simulates `units` on a preset with overrides ("unit.merge_rows=none").
std::vector<UnitReport> simulate_preset(const std::string& preset,
                                        const std::vector<std::string>& overrides,
                                        const Shape& shape, const std::vector<UnitKind>& units,
                                        bool record_spans = false);

// Runs `body` in a child process and fails the test when an expectation fails in there or the child
// dies. `body` must check something: a child that checks nothing fails.
void in_child(const std::string& what, const std::function<void()>& body);

// Expectation that is counted; use it inside in_child().
void check(bool ok, const std::string& what);
template <typename A, typename B>
void check_equal(const A& a, const B& b, const std::string& what) {
  check(a == b, what + ": " + std::to_string(a) + " against " + std::to_string(b));
}

}  // namespace santa::sim
