// weight_unit: tile maximum, shift-and-table exponential, tile sum; writes the weight stash.
#pragma once

#include "channel.hpp"
#include "job_state.hpp"
#include "stash_port.hpp"
#include "ternary_gather.hpp"
#include "unit_context.hpp"

namespace santa::sim {

// The on-chip stash of weights: two halves, one being written while the other is sampled. Tiles
// that do not fit a half live in memory.
class Stash {
 public:
  explicit Stash(const config::UnitConfig& unit)
      : half_bytes_(static_cast<std::uint64_t>(unit.stash_kib) * 1024 / 2),
        entry_bytes_(entry_bytes(unit)) {}

  std::uint64_t tile_bytes(const JobState& state) const {
    return state.padded_group() * state.cache().tile_keys * 2;
  }
  bool on_chip(const JobState& state, std::uint32_t tile) const {
    return tile < whole_tiles(state);
  }
  // Where a spilled tile's weights lie, and behind the weights of all tiles its statistics.
  ByteRange spilled_weights(const JobState& state, std::uint32_t tile) const {
    return {state.addresses.stash + tile * tile_bytes(state), tile_bytes(state)};
  }
  ByteRange spilled_statistics(const JobState& state, std::uint32_t first,
                               std::uint32_t count) const {
    return {state.addresses.stash + state.tile_count() * tile_bytes(state) + first * entry_bytes_,
            count * entry_bytes_};
  }
  std::uint32_t tiles_on_chip(const JobState& state) const {
    const std::uint64_t fit = whole_tiles(state);
    return fit < state.tile_count() ? static_cast<std::uint32_t>(fit) : state.tile_count();
  }

  // A half for the weights of a job, all of them: what is spilled keeps its values here too.
  void take_half(JobState& state, BlockProbe& probe) {
    halves_.take(probe);
    state.weights = std::move(buffers_.back());
    buffers_.pop_back();
    state.weights.resize(state.padded_context() * state.group());
  }
  void release_half(JobState& state) {
    buffers_.push_back(std::move(state.weights));
    halves_.release();
  }

 private:
  // Tiles that fit a half. No tile is empty: model shapes and traces have query heads in each
  // group.
  std::uint64_t whole_tiles(const JobState& state) const {
    return half_bytes_ / tile_bytes(state);  // NOLINT(clang-analyzer-core.DivideZero)
  }

  std::uint64_t half_bytes_;
  std::uint64_t entry_bytes_;
  Credits halves_{2};
  std::vector<std::vector<std::uint16_t>> buffers_{2};
};

class WeightUnit : public sc_core::sc_module {
 public:
  WeightUnit(const sc_core::sc_module_name& name, const UnitContext& context, Stash& stash,
             ScoreBuffers& in, Channel<JobPointer>& out);

 private:
  void run();
  void weigh(const ScoreToken& token);
  void spill(const ByteRange& range);
  void wait_for_spill_buffer(const JobState& state, std::uint64_t pass_cycles);
  void wait_for_spills();
  void count_energy(const JobState& state, std::uint32_t valid_keys, bool on_chip);

  UnitContext context_;
  Stash& stash_;
  ScoreBuffers& in_;
  Channel<JobPointer>& out_;
  BlockProbe& probe_;
  sc_core::sc_time spill_free_;  // the buffer of one spilled tile
  std::uint64_t spills_ = 0;     // writes that memory has not answered
  sc_core::sc_event spilled_;
  energy::Handle scale_add_;
  energy::Handle scale_shift_;
  energy::Handle compare_;
  energy::Handle score_write_;
  energy::Handle subtract_;
  energy::Handle table_;
  energy::Handle weight_shift_;
  energy::Handle weight_round_;
  energy::Handle sum_;
  energy::Handle sum_write_;
  energy::Handle stash_write_;
  energy::Handle statistics_write_;
};

}  // namespace santa::sim
