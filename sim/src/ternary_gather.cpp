#include "ternary_gather.hpp"

namespace santa::sim {
namespace {

constexpr unsigned kAccumulatorBits = 32;
constexpr unsigned kShiftedKeyBits = 16;  // int8 key shifted by a digit's plane

}  // namespace

TernaryGather::TernaryGather(const sc_core::sc_module_name& name, const UnitContext& context,
                             OrderedFetcher<TileToken>& in, ScoreBuffers& out)
    : sc_core::sc_module(name),
      context_(context),
      in_(in),
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
    out_.free.take(probe_);
    const JobState& state = *token.job;
    ScoreToken scores{token.job, token.tile, &out_.scores[buffer_]};
    buffer_ ^= 1U;
    if (state.tile_count() > 0) {
      const attention::KvHead& cache = state.cache();
      scores.scores->resize(static_cast<std::size_t>(state.group()) * cache.tile_keys);
      attention::score_tile(state.query, cache.tile(token.tile), cache.tile_keys,
                            scores.scores->data());
      count_energy(state, cache.tile_valid_keys(token.tile));
      probe_.work(state.gather_cycles, state.index, "tile", token.tile);
    }
    in_.release();
    out_.full.write(scores, probe_);
  }
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
