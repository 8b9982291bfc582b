#include "systematic_sampler.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "santa/arithmetic/sampler.hpp"

namespace santa::sim {
namespace {

constexpr unsigned kThresholdBits = arithmetic::kMaxSamplesLog2 + arithmetic::kTotalMassBits;
constexpr unsigned kExponentBits = 24;

// Draws of the head with most of them in the rows from `first` on, below `key_end`.
std::uint64_t most_draws(const std::vector<attention::SampledRow>& rows, std::size_t first,
                         std::uint32_t key_end) {
  std::array<std::uint32_t, arithmetic::kMaxGroup> drawn{};
  for (std::size_t r = first; r < rows.size() && rows[r].key < key_end; ++r) {
    for (std::size_t g = 0; g < drawn.size(); ++g) drawn[g] += rows[r].counts[g];
  }
  return *std::max_element(drawn.begin(), drawn.end());
}

}  // namespace

SystematicSampler::SystematicSampler(const sc_core::sc_module_name& name,
                                     const UnitContext& context,
                                     const attention::DecodeOptions& options, Stash& stash,
                                     Channel<JobPointer>& in, RowPort& out)
    : sc_core::sc_module(name),
      context_(context),
      options_(options),
      samples_log2_(static_cast<unsigned>(std::ilogb(options.samples))),
      stash_(stash),
      in_(in),
      out_(out),
      probe_(context.probe.add_block("systematic_sampler")) {
  using energy::Block;
  using energy::Operation;
  energy::EnergyMeter& meter = context_.meter;
  const auto operation = [&meter](Operation kind, unsigned bits) {
    return meter.operation(Block::systematic_sampler, kind, bits);
  };
  const config::UnitConfig& unit = context_.hardware.unit;
  statistics_read_ = meter.sram_read(Block::weight_unit, "tile_statistics", statistics_bytes(unit),
                                     kStatisticsBits);
  distance_subtract_ = operation(Operation::add_int, kExponentBits);
  mass_shift_ = operation(Operation::shift, arithmetic::kTileSumBits + arithmetic::kMassGuardBits);
  prefix_add_ = operation(Operation::add_int, arithmetic::kTotalMassBits);
  prefix_write_ = operation(Operation::register_write, arithmetic::kTotalMassBits);
  leap_ = meter.operation(Block::lfsr, Operation::lfsr_leap, 64);
  threshold_add_ = operation(Operation::add_int, kThresholdBits);
  threshold_compare_ = operation(Operation::compare, kThresholdBits);
  residual_shift_ = operation(Operation::shift, kThresholdBits);
  stash_read_ =
      meter.sram_read(Block::weight_unit, "weight_stash", stash_bytes(unit), stash_port_bits(unit));
  scan_add_ = operation(Operation::add_int, arithmetic::kTileSumBits);
  scan_compare_ = operation(Operation::compare, kThresholdBits);
  sc_core::sc_spawn([this] { run(); }, sc_core::sc_gen_unique_name("run"));
}

void SystematicSampler::run() {
  for (;;) {
    const JobPointer job = in_.read(probe_);
    combine(*job);
    Draws draws = draw(*job);
    walk(job, draws);
    stash_.release_half(*job);
    out_.batches.write({job, 0, 0, true}, probe_);
  }
}

// First pass over the tiles: masses at the global scale and their total, all heads in parallel.
void SystematicSampler::combine(JobState& state) {
  const std::uint32_t tiles = state.tile_count();
  for (std::uint32_t g = 0; g < state.group(); ++g) {
    state.heads.push_back(attention::combine_tiles(state.tiles.data() + g, tiles, state.group()));
    context_.report.log_sum_exp[state.index].push_back(attention::log_sum_exp(state.heads.back()));
  }
  const std::uint32_t on_chip = stash_.tiles_on_chip(state);
  const std::uint64_t masses = static_cast<std::uint64_t>(tiles) * state.group();
  context_.count(statistics_read_, static_cast<std::uint64_t>(on_chip) * state.group());
  context_.count(distance_subtract_, masses);
  context_.count(mass_shift_, masses);
  context_.count(prefix_add_, masses);
  context_.count(prefix_write_, masses);
  if (tiles == 0) return;
  probe_.fill(pipeline::kTotal);
  StatisticsStream statistics(context_, stash_, state);
  for (std::uint32_t t = 0; t < tiles;) {
    const std::uint32_t end = statistics.end_of_run(t);
    statistics.wait_for(t, probe_);
    probe_.work(end - t, state.index, "total to tile", end);
    t = end;
  }
}

// Random words come one a cycle, after a cycle a head that loads its stream. Independent thresholds
// are then sorted: a merge sort on one comparator a head. Systematic and stratified thresholds come
// in order.
SystematicSampler::Draws SystematicSampler::draw(JobState& state) {
  Draws draws;
  std::uint64_t words = 0;
  for (std::uint32_t g = 0; g < state.group(); ++g) {
    draws.thresholds.push_back(
        attention::make_thresholds(options_.values, state.heads[g], samples_log2_,
                                   state.job->request.value_streams[g], &words));
  }
  draws.cursor.assign(state.group(), 0);
  std::uint64_t cycles = state.tile_count() > 0 ? words + state.group() : 0;
  if (options_.values == attention::ValueScheme::kSanta && state.tile_count() > 0) {
    const std::uint64_t comparisons = static_cast<std::uint64_t>(options_.samples) * samples_log2_;
    cycles += comparisons;
    context_.count(threshold_compare_, comparisons * state.group());
  }
  context_.count(leap_, words);
  context_.report.operations.random_words += words;
  probe_.work(cycles, state.index, "draw", state.index);
  return draws;
}

// Second pass: one cycle a tile to see that no threshold falls into it; a tile that receives one is
// scanned.
void SystematicSampler::walk(const JobPointer& job, Draws& draws) {
  JobState& state = *job;
  const std::uint32_t tiles = state.tile_count();
  if (tiles == 0) return;
  SampleTotals& samples = context_.report.samples;
  counts_.resize(static_cast<std::size_t>(state.group()) * state.cache().tile_keys);
  probe_.fill(pipeline::kWalk);
  StatisticsStream statistics(context_, stash_, state);
  sc_core::sc_time free = time_now();  // end of the work that is booked
  std::uint64_t skipped = 0;
  const auto pass_skipped = [&](std::uint32_t tile) {
    if (skipped > 0) free = probe_.occupy(free, skipped, state.index, "to tile", tile);
    skipped = 0;
    probe_.wait_until(free);
  };
  std::uint32_t known = 0;  // tiles whose statistics are there
  for (std::uint32_t t = 0; t < tiles; ++t) {
    if (t >= known) {
      pass_skipped(t);
      statistics.wait_for(t, probe_);
      free = std::max(free, time_now());
      known = statistics.end_of_run(t);
    }
    ++skipped;
    if (!falls_into(state, draws, t)) continue;
    pass_skipped(t);
    free = scan_tile(job, draws, t, statistics);
    ++samples.tiles_scanned;
  }
  pass_skipped(tiles);
  out_.leaving.take(probe_);  // the last rows have left
  out_.leaving.release();
  samples.tiles_total += tiles;
  context_.count(threshold_compare_, static_cast<std::uint64_t>(tiles) * state.group());
  const std::uint64_t drawn = static_cast<std::uint64_t>(state.group()) << samples_log2_;
  context_.count(threshold_add_, drawn);
  context_.count(residual_shift_, drawn);
  samples.drawn += drawn;
}

// Chunk after chunk of scan_lanes keys: a cycle for each threshold of the head with most of them,
// and one to see that there is no further one. Rows leave one a cycle while the next chunk is
// scanned; the tile ends with its last threshold. Returns when.
sc_core::sc_time SystematicSampler::scan_tile(const JobPointer& job, Draws& draws,
                                              std::uint32_t tile, StatisticsStream& statistics) {
  JobState& state = *job;
  const Clock& clock = context_.clock;
  const std::uint32_t lanes = static_cast<std::uint32_t>(context_.hardware.unit.scan_lanes);
  const std::uint32_t keys = state.cache().tile_keys;
  std::vector<attention::SampledRow>& rows = context_.report.rows[state.index];
  const std::size_t first = rows.size();
  scan(state, draws, tile, rows);
  const sc_core::sc_time entered = time_now() + clock.cycles(pipeline::kEnter);
  sc_core::sc_time now = entered;
  sc_core::sc_time complete = entered;  // all of a spilled tile is here
  sc_core::sc_time spilled_chunk;       // time between its chunks
  if (!stash_.on_chip(state, tile)) {
    probe_.wait_until(entered);
    statistics.wait_until_quiet();
    const ByteRange range = stash_.spilled_weights(state, tile);
    context_.port.read_and_wait(Stream::kStash, range.address, range.bytes);
    const std::uint64_t arriving = context_.stream_cycles(range.bytes);
    complete = time_now() + clock.cycles(pipeline::kSpilledWeights);
    spilled_chunk = clock.cycles(arriving) / static_cast<double>(keys / lanes);
    now = complete - clock.cycles(arriving) + spilled_chunk;
  }
  std::uint64_t cycles = 0;
  std::size_t row = first;
  for (std::uint32_t chunk = 0; row < rows.size(); ++chunk) {
    const std::uint32_t key_end = tile * keys + (chunk + 1) * lanes;
    const std::uint64_t most = most_draws(rows, row, key_end);
    const sc_core::sc_time begun = now;
    now += clock.cycles(most + 1);
    cycles += most + 1;
    if (most > 0) now = emit(job, row, key_end, now);
    now = std::max(now, begun + spilled_chunk);
  }
  context_.report.samples.unique_rows += rows.size() - first;
  const sc_core::sc_time work = clock.cycles(cycles);
  const sc_core::sc_time end = std::max({now, complete, entered + work});
  return probe_.occupy(end - work, cycles, state.index, "scan tile", tile);
}

// Hands the rows below `key_end` over at `time`, or when those before them have left. A time that
// has passed stays as it is: weights of a spilled tile are known to be there once all of them are.
sc_core::sc_time SystematicSampler::emit(const JobPointer& job, std::size_t& row,
                                         std::uint32_t key_end, const sc_core::sc_time& time) {
  const std::vector<attention::SampledRow>& rows = context_.report.rows[job->index];
  if (time > time_now()) sc_core::wait(time - time_now());
  const sc_core::sc_time asked = time_now();
  out_.leaving.take(probe_);
  const sc_core::sc_time left = time_now();
  const std::size_t first = row;
  while (row < rows.size() && rows[row].key < key_end) ++row;
  out_.batches.write({job, first, row, false}, probe_);
  return left > asked ? left : time;
}

bool SystematicSampler::falls_into(const JobState& state, const Draws& draws,
                                   std::uint32_t tile) const {
  for (std::uint32_t g = 0; g < state.group(); ++g) {
    const auto& thresholds = draws.thresholds[g];
    if (draws.cursor[g] < thresholds.size() &&
        arithmetic::threshold_within(thresholds[draws.cursor[g]],
                                     state.heads[g].prefix_mass[tile + 1], samples_log2_)) {
      return true;
    }
  }
  return false;
}

// Appends the rows of the tile that some head drew, ascending by key.
void SystematicSampler::scan(const JobState& state, Draws& draws, std::uint32_t tile,
                             std::vector<attention::SampledRow>& rows) {
  const attention::KvHead& cache = state.cache();
  const std::uint32_t valid = cache.tile_valid_keys(tile);
  std::fill(counts_.begin(), counts_.end(), std::uint16_t{0});
  for (std::uint32_t g = 0; g < state.group(); ++g) {
    const std::uint16_t* weights = state.weights.data() + g * state.padded_context() +
                                   static_cast<std::size_t>(tile) * cache.tile_keys;
    draws.cursor[g] += attention::sample_tile(
        state.heads[g], tile, weights, valid, draws.thresholds[g], draws.cursor[g], samples_log2_,
        counts_.data() + static_cast<std::size_t>(g) * cache.tile_keys);
  }
  attention::append_rows(counts_.data(), state.group(), cache.tile_keys, tile, rows);
  const std::uint64_t lanes = context_.config_u64(context_.hardware.unit.scan_lanes);
  const std::uint64_t weights_read = static_cast<std::uint64_t>(state.group()) * valid;
  if (stash_.on_chip(state, tile)) {
    context_.count(stash_read_, state.group() * divide_up(valid, lanes));
  }
  context_.count(scan_add_, weights_read);
  context_.count(scan_compare_, weights_read);
}

}  // namespace santa::sim
