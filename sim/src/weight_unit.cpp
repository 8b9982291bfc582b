#include "weight_unit.hpp"

namespace santa::sim {
namespace {

constexpr unsigned kScaledBits = 38;  // int32 accumulator times 2^6: a shift and two additions
constexpr unsigned kScoreBits = 32;
constexpr unsigned kExponentBits = 24;

}  // namespace

WeightUnit::WeightUnit(const sc_core::sc_module_name& name, const UnitContext& context,
                       Stash& stash, ScoreBuffers& in, Channel<JobPointer>& out)
    : sc_core::sc_module(name),
      context_(context),
      stash_(stash),
      in_(in),
      out_(out),
      probe_(context.probe.add_block("weight_unit")) {
  using energy::Block;
  using energy::Operation;
  const auto operation = [this](Operation kind, unsigned bits) {
    return context_.meter.operation(Block::weight_unit, kind, bits);
  };
  const config::UnitConfig& unit = context_.hardware.unit;
  scale_add_ = operation(Operation::add_int, kScaledBits);
  scale_shift_ = operation(Operation::shift, kScaledBits);
  compare_ = operation(Operation::compare, kScoreBits);
  score_write_ = operation(Operation::register_write, kScoreBits);
  subtract_ = operation(Operation::add_int, kExponentBits);
  table_ = operation(Operation::table_read, kWeightBits);
  weight_shift_ = operation(Operation::shift, kWeightBits + 1);
  weight_round_ = operation(Operation::add_int, kWeightBits + 1);
  sum_ = operation(Operation::add_int, arithmetic::kTileSumBits);
  sum_write_ = operation(Operation::register_write, arithmetic::kTileSumBits);
  stash_write_ = context_.meter.sram_write(Block::weight_unit, "weight_stash", stash_bytes(unit),
                                           stash_port_bits(unit));
  statistics_write_ = context_.meter.sram_write(Block::weight_unit, "tile_statistics",
                                                statistics_bytes(unit), kStatisticsBits);
  sc_core::sc_spawn([this] { run(); }, sc_core::sc_gen_unique_name("run"));
}

void WeightUnit::run() {
  for (;;) {
    const ScoreToken token = in_.full.read(probe_);
    probe_.wait_until(token.ready);
    if (token.tile == 0) stash_.take_half(*token.job, probe_);
    if (token.job->tile_count() > 0) weigh(token);
    in_.free.release();
    if (token.tile + 1 >= token.job->tile_count()) {
      wait_for_spills();
      probe_.fill(pipeline::kWeighed);
      out_.write(token.job, probe_);
    }
  }
}

void WeightUnit::weigh(const ScoreToken& token) {
  JobState& state = *token.job;
  const attention::KvHead& cache = state.cache();
  const std::uint32_t valid = cache.tile_valid_keys(token.tile);
  for (std::uint32_t g = 0; g < state.group(); ++g) {
    const std::size_t offset =
        g * state.padded_context() + static_cast<std::size_t>(token.tile) * cache.tile_keys;
    state.tiles[static_cast<std::size_t>(token.tile) * state.group() + g] = attention::weigh_tile(
        token.scores->data() + static_cast<std::size_t>(g) * cache.tile_keys, valid,
        cache.tile_keys, state.query.scale[g], state.weights.data() + offset);
  }
  const bool on_chip = stash_.on_chip(state, token.tile);
  count_energy(state, valid, on_chip);
  // One pass finds the maximum, a second one makes and adds the weights.
  const std::uint64_t pass_cycles =
      divide_up(cache.tile_keys, context_.config_u64(context_.hardware.unit.weight_lanes));
  const std::uint64_t cycles = 2 * pass_cycles + pipeline::kWeigh;
  if (!on_chip) wait_for_spill_buffer(state, pass_cycles);
  probe_.work(cycles, state.index, "tile", token.tile);
  if (!on_chip) {
    spill(stash_.spilled_weights(state, token.tile));
    spill(stash_.spilled_statistics(state, token.tile, 1));
  }
}

// Weights go out while they are made; the next spilled tile starts when all of this one has left.
void WeightUnit::wait_for_spill_buffer(const JobState& state, std::uint64_t pass_cycles) {
  const config::UnitConfig& unit = context_.hardware.unit;
  const std::uint64_t port_bytes = context_.config_u64(unit.port_bytes);
  const sc_core::sc_time now = time_now();
  if (spill_free_ > now) {
    probe_.add_blocked(spill_free_ - now);
    sc_core::wait(spill_free_ - now);
  }
  const std::uint64_t words = divide_up(stash_.tile_bytes(state), port_bytes);
  const std::uint64_t stash_word =
      divide_up(context_.config_u64(2 * unit.group_heads * unit.scan_lanes), port_bytes);
  const std::uint64_t weights = std::max(pass_cycles + pipeline::kSpillFirst + words,
                                         2 * pass_cycles + pipeline::kSpillLast + stash_word);
  spill_free_ = time_now() + context_.clock.cycles(weights + pipeline::kSpillEntry +
                                                   divide_up(entry_bytes(unit), port_bytes));
}

void WeightUnit::spill(const ByteRange& range) {
  ++spills_;
  context_.port.write(Stream::kStash, range.address, range.bytes, [this] {
    if (--spills_ == 0) spilled_.notify();
  });
}

// Nobody reads back what is not in memory yet.
void WeightUnit::wait_for_spills() {
  const sc_core::sc_time start = time_now();
  while (spills_ > 0) sc_core::wait(spilled_);
  probe_.add_blocked(time_now() - start);
}

void WeightUnit::count_energy(const JobState& state, std::uint32_t valid_keys, bool on_chip) {
  const std::uint64_t weights = static_cast<std::uint64_t>(state.group()) * valid_keys;
  context_.count(scale_add_, 3 * weights);  // two terms of kappa and the rounding
  context_.count(scale_shift_, weights);
  context_.count(compare_, weights);
  context_.count(score_write_, weights);
  context_.count(subtract_, weights);
  context_.count(table_, weights);
  context_.count(weight_shift_, weights);
  context_.count(weight_round_, weights);
  context_.count(sum_, weights);
  context_.count(sum_write_, weights);
  if (on_chip) {
    const std::uint64_t lanes = context_.config_u64(context_.hardware.unit.scan_lanes);
    context_.count(stash_write_, state.group() * divide_up(valid_keys, lanes));
    context_.count(statistics_write_, state.group());
  }
  context_.report.operations.exponentials += weights;
}

}  // namespace santa::sim
