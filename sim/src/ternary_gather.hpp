// ternary_gather: adds and subtracts shifted keys, one lane a key and head.
#pragma once

#include <vector>

#include "channel.hpp"
#include "fetchers.hpp"
#include "key_fetch.hpp"
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
  TernaryGather(const sc_core::sc_module_name& name, const UnitContext& context, KeyBuffer& in,
                Credits& banks, ScoreBuffers& out);

 private:
  void run();
  // Books the passes over a burst; returns when they end.
  sc_core::sc_time add_burst(const KeyBurst& burst);
  std::uint64_t tail_cycles(const JobState& state) const;
  void finish_tile(const KeyBurst& burst);
  void count_energy(const JobState& state, std::uint32_t valid_keys);

  UnitContext context_;
  KeyBuffer& in_;
  Credits& banks_;
  ScoreBuffers& out_;
  BlockProbe& probe_;
  sc_core::sc_time free_;     // end of the passes booked so far
  std::uint64_t cycles_ = 0;  // booked for the tile in work
  unsigned buffer_ = 0;       // the score buffer of the next tile
  energy::Handle buffer_write_;
  energy::Handle buffer_read_;
  energy::Handle shift_;
  energy::Handle add_;
  energy::Handle accumulator_write_;
};

}  // namespace santa::sim
