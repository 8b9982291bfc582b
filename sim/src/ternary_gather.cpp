#include "ternary_gather.hpp"

namespace santa::sim {
namespace {

constexpr unsigned kAccumulatorBits = 32;
constexpr unsigned kShiftedKeyBits = 16;  // int8 key shifted by a digit's plane

}  // namespace

TernaryGather::TernaryGather(const sc_core::sc_module_name& name, const UnitContext& context,
                             OrderedFetcher<TileToken>& in, Credits& banks, ScoreBuffers& out)
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
    const TileToken token = in_.next(probe_);
    const sc_core::sc_time arrived = sc_core::sc_time_stamp();
    out_.free.take(probe_);
    // Without a score buffer the passes could not start before.
    if (sc_core::sc_time_stamp() > arrived) free_ = std::max(free_, sc_core::sc_time_stamp());
    const JobState& state = *token.job;
    ScoreToken scores{token.job, token.tile, &out_.scores[buffer_], {}};
    buffer_ ^= 1U;
    if (state.tile_count() > 0) {
      const attention::KvHead& cache = state.cache();
      scores.scores->resize(static_cast<std::size_t>(state.group()) * cache.tile_keys);
      attention::score_tile(state.query, cache.tile(token.tile), cache.tile_keys,
                            scores.scores->data());
      count_energy(state, cache.tile_valid_keys(token.tile));
      const std::uint64_t cycles = passes_of_tile(state, token.tile);
      free_ = std::max(end_of_passes(token, cycles), arrived);
      probe_.work_until(free_, cycles, state.index, "tile", token.tile);
    }
    in_.release();
    if (token.tile + 1 >= state.tile_count()) banks_.release();
    scores.ready = sc_core::sc_time_stamp() + context_.clock.cycles(pipeline::kScores);
    out_.full.write(scores, probe_);
  }
}

// The tail costs a cycle more for each word; without a needed feature the scores are cleared.
std::uint64_t TernaryGather::passes_of_tile(const JobState& state, std::uint32_t tile) const {
  const config::UnitConfig& unit = context_.hardware.unit;
  const std::uint64_t words = context_.config_u64(unit.tile_keys / unit.key_lanes);
  const std::uint64_t features = state.query.needed_features.size();
  if (features == 0) return words;
  const attention::KvHead& cache = state.cache();
  const bool tail = cache.tile_valid_keys(tile) < cache.tile_keys;
  return state.gather_cycles + (tail ? features * words : 0);
}

// A full tile is added up as it arrives: it ends with its passes, or with those of its last word.
// The tail starts when all of it is there. `arrived` is now.
sc_core::sc_time TernaryGather::end_of_passes(const TileToken& token, std::uint64_t cycles) const {
  const Clock& clock = context_.clock;
  const JobState& state = *token.job;
  const attention::KvHead& cache = state.cache();
  const std::uint64_t features = state.query.needed_features.size();
  const sc_core::sc_time now = sc_core::sc_time_stamp();
  const sc_core::sc_time ready =
      token.tile == 0 ? free_ + clock.cycles(pipeline::kGatherStart) : free_;
  const sc_core::sc_time last = now + clock.cycles(pipeline::kKeyFifo);
  if (cache.tile_valid_keys(token.tile) < cache.tile_keys) {
    return std::max(ready, last) + clock.cycles(cycles);
  }
  const std::uint64_t arriving = context_.stream_cycles(features * cache.tile_keys);
  const std::uint64_t last_word =
      features == 0
          ? 0
          : divide_up(cycles, features * context_.config_u64(context_.hardware.unit.tile_keys /
                                                             context_.hardware.unit.key_lanes));
  const sc_core::sc_time work = clock.cycles(cycles);
  sc_core::sc_time from_first = last + work;
  const sc_core::sc_time stream = clock.cycles(arriving);
  from_first = from_first > stream ? from_first - stream : sc_core::SC_ZERO_TIME;
  return std::max({ready + work, from_first, last + clock.cycles(last_word)});
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
