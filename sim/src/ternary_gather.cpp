#include "ternary_gather.hpp"

#include <algorithm>

namespace santa::sim {
namespace {

constexpr unsigned kAccumulatorBits = 32;
constexpr unsigned kShiftedKeyBits = 16;  // int8 key shifted by a digit's plane

}  // namespace

TernaryGather::TernaryGather(const sc_core::sc_module_name& name, const UnitContext& context,
                             KeyBuffer& in, Credits& banks, ScoreBuffers& out)
    : sc_core::sc_module(name),
      context_(context),
      in_(in),
      banks_(banks),
      out_(out),
      probe_(context.probe.add_block("ternary_gather")) {
  using energy::Block;
  using energy::Operation;
  energy::EnergyMeter& meter = context_.meter;
  const config::UnitConfig& unit = context_.hardware.unit;
  const std::uint64_t buffer_bytes =
      context_.config_u64(unit.key_buffer_tiles * unit.tile_keys * unit.max_head_dimension);
  const auto port_bits = static_cast<unsigned>(unit.key_lanes * 8);
  buffer_write_ = meter.sram_write(Block::key_fetch, "key_buffer", buffer_bytes, port_bits);
  buffer_read_ = meter.sram_read(Block::key_fetch, "key_buffer", buffer_bytes, port_bits);
  shift_ = meter.operation(Block::ternary_gather, Operation::shift, kShiftedKeyBits);
  add_ = meter.operation(Block::ternary_gather, Operation::add_int, kAccumulatorBits);
  accumulator_write_ =
      meter.operation(Block::ternary_gather, Operation::register_write, kAccumulatorBits);
  sc_core::sc_spawn([this] { run(); }, sc_core::sc_gen_unique_name("run"));
}

void TernaryGather::run() {
  for (;;) {
    // Passes overlap the arrival: what is starved is what lies between the passes.
    const KeyBurst burst = in_.bursts.next(probe_, sc_core::sc_max_time());
    if (burst.first) {
      const sc_core::sc_time arrived = time_now();
      out_.free.take(probe_);
      // Without a score buffer the passes could not start before.
      if (time_now() > arrived) free_ = std::max(free_, time_now());
      if (burst.tile == 0) free_ += context_.clock.cycles(pipeline::kGatherStart);
      cycles_ = 0;
    }
    const sc_core::sc_time before = free_;
    const std::uint64_t cycles_before = cycles_;
    free_ = add_burst(burst);
    const sc_core::sc_time work = context_.clock.cycles(cycles_ - cycles_before);
    if (free_ > before + work) probe_.add_starved(free_ - before - work);
    if (burst.words > 0) in_.room.release_at(free_, burst.words);
    in_.bursts.release();
    if (burst.last) finish_tile(burst);
  }
}

// A full tile is added up as it arrives: a burst ends with its passes, or with those of its last
// word. The tail starts when all of it is there.
sc_core::sc_time TernaryGather::add_burst(const KeyBurst& burst) {
  const Clock& clock = context_.clock;
  const JobState& state = *burst.job;
  if (state.tile_count() == 0) return time_now();
  const bool tail = burst.words == 0 && !state.feature_runs.empty();
  const std::uint64_t cycles = tail ? tail_cycles(state) : burst.cycles;
  cycles_ += cycles;
  const sc_core::sc_time arrived = time_now() + clock.cycles(pipeline::kKeyFifo);
  const sc_core::sc_time work = clock.cycles(cycles);
  if (burst.words == 0) return std::max(free_, arrived) + work;
  const std::uint64_t port_bytes = context_.config_u64(context_.hardware.unit.port_bytes);
  const sc_core::sc_time stream = clock.cycles(context_.stream_cycles(burst.words * port_bytes));
  const sc_core::sc_time first = arrived > stream ? arrived - stream : sc_core::SC_ZERO_TIME;
  const sc_core::sc_time last_word = clock.cycles(divide_up(cycles, burst.words));
  return std::max({free_ + work, first + work, arrived + last_word});
}

// The tail costs a cycle more for each word.
std::uint64_t TernaryGather::tail_cycles(const JobState& state) const {
  const config::UnitConfig& unit = context_.hardware.unit;
  return state.gather_cycles +
         state.query.needed_features.size() * context_.config_u64(unit.tile_keys / unit.key_lanes);
}

void TernaryGather::finish_tile(const KeyBurst& burst) {
  const JobState& state = *burst.job;
  ScoreToken scores{burst.job, burst.tile, &out_.scores[buffer_], {}};
  buffer_ ^= 1U;
  if (state.tile_count() > 0) {
    const attention::KvHead& cache = state.cache();
    scores.scores->resize(static_cast<std::size_t>(state.group()) * cache.tile_keys);
    attention::score_tile(state.query, cache.tile(burst.tile), cache.tile_keys,
                          scores.scores->data());
    const std::uint32_t valid = cache.tile_valid_keys(burst.tile);
    count_energy(state, valid);
    probe_.work_until(free_, cycles_, state.index, "tile", burst.tile);
    if (valid < cache.tile_keys) in_.tail.release();
  }
  if (burst.tile + 1 >= state.tile_count()) banks_.release();
  scores.ready = time_now() + context_.clock.cycles(pipeline::kScores);
  out_.full.write(scores, probe_);
}

void TernaryGather::count_energy(const JobState& state, std::uint32_t valid_keys) {
  const config::UnitConfig& unit = context_.hardware.unit;
  const std::uint64_t features = state.query.needed_features.size();
  const std::uint64_t words = features * divide_up(valid_keys, context_.config_u64(unit.key_lanes));
  context_.count(buffer_write_, words);
  context_.count(buffer_read_, words);
  context_.count(shift_, state.gather_digits * valid_keys);
  context_.count(add_, state.gather_digits * valid_keys);
  context_.count(accumulator_write_, state.gather_writes * valid_keys);
  OperationTotals& operations = context_.report.operations;
  operations.gather_adds += state.gather_digits * valid_keys;
  operations.algorithm.score_adds += state.gather_digits * valid_keys;
  operations.algorithm.key_elements_read += features * valid_keys;
  operations.algorithm.scores_written += static_cast<std::uint64_t>(state.group()) * valid_keys;
}

}  // namespace santa::sim
