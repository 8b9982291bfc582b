// Functional coverage: which situations a run has met.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "santa/cosim/axi_memory.hpp"
#include "santa/cosim/scoreboard.hpp"
#include "santa/cosim/unit_parameters.hpp"

namespace santa::cosim {

struct CoverageBin {
  std::string name;  // "tiles: last one partial"
  std::uint64_t hits = 0;
};

class Coverage {
 public:
  explicit Coverage(const UnitParameters& unit);

  // What a request is, and what the golden model says happens inside.
  void sample(const ScoreboardRequest& request);
  void sample(const MemoryCounters& counters, const MemoryBehaviour& behaviour);
  // Any bin by name; throws std::logic_error if there is none, so that names cannot drift.
  void hit(const std::string& name, std::uint64_t times = 1);

  void merge(const Coverage& other);
  const std::vector<CoverageBin>& bins() const { return bins_; }
  std::size_t bins_hit() const;

 private:
  void add(const std::string& name) { bins_.push_back({name, 0}); }
  void sample_shape(const ScoreboardRequest& request);
  void sample_query(const ScoreboardRequest& request);
  void sample_weights(const ScoreboardRequest& request);
  void sample_draws(const ScoreboardRequest& request);
  void sample_outputs(const ScoreboardRequest& request);

  UnitParameters unit_;
  std::vector<CoverageBin> bins_;
};

}  // namespace santa::cosim
