// ternary_gather: adds and subtracts shifted keys, one lane a key and head.
#pragma once

#include <vector>

#include "channel.hpp"
#include "fetchers.hpp"
#include "unit_context.hpp"

namespace santa::sim {

// Accumulated scores of one tile, in one of the two score buffers.
struct ScoreToken {
  JobPointer job;
  std::uint32_t tile = 0;
  std::vector<std::int32_t>* scores = nullptr;  // [group][tile_keys]
  sc_core::sc_time ready;                       // when the weight unit sees them
};

// The double-buffered score registers: one being accumulated, one being weighed.
struct ScoreBuffers {
  Credits free{2};
  std::vector<std::int32_t> scores[2];
  Channel<ScoreToken> full{2};
};

class TernaryGather : public sc_core::sc_module {
 public:
  TernaryGather(const sc_core::sc_module_name& name, const UnitContext& context,
                OrderedFetcher<TileToken>& in, Credits& banks, ScoreBuffers& out);

 private:
  void run();
  sc_core::sc_time end_of_passes(const TileToken& token, std::uint64_t cycles) const;
  std::uint64_t passes_of_tile(const JobState& state, std::uint32_t tile) const;
  void count_energy(const JobState& state, std::uint32_t valid_keys);

  UnitContext context_;
  OrderedFetcher<TileToken>& in_;
  Credits& banks_;
  ScoreBuffers& out_;
  BlockProbe& probe_;
  sc_core::sc_time free_;  // end of the passes booked so far
  unsigned buffer_ = 0;    // the score buffer of the next tile
  energy::Handle buffer_write_;
  energy::Handle buffer_read_;
  energy::Handle shift_;
  energy::Handle add_;
  energy::Handle accumulator_write_;
};

}  // namespace santa::sim
