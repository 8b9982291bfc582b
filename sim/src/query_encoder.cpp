#include "query_encoder.hpp"

#include "append.hpp"

namespace santa::sim {
namespace {

constexpr unsigned kOperandBits = 24;  // Q8.16
// A 64-bit random word has four lanes of 16 bits.
constexpr std::uint64_t kOperandsPerCycle = 4;
constexpr unsigned kCoefficientBits = 16;  // plane masks of plus and minus digits, 8 each

}  // namespace

QueryEncoder::QueryEncoder(const sc_core::sc_module_name& name, const UnitContext& context,
                           const std::vector<Job>& jobs, Credits& banks, Channel<JobPointer>& out)
    : sc_core::sc_module(name),
      context_(context),
      jobs_(jobs),
      banks_(banks),
      out_(out),
      probe_(context.probe.add_block("query_encoder")) {
  using energy::Block;
  using energy::Operation;
  energy::EnergyMeter& meter = context_.meter;
  round_ = meter.operation(Block::query_encoder, Operation::add_int, kOperandBits);
  compare_ = meter.operation(Block::query_encoder, Operation::compare, kOperandBits);
  recode_ = meter.operation(Block::query_encoder, Operation::add_int, kCoefficientBits);
  coefficient_write_ =
      meter.operation(Block::query_encoder, Operation::register_write, kCoefficientBits);
  leap_ = meter.operation(Block::lfsr, Operation::lfsr_leap, 64);
  sc_core::sc_spawn([this] { run(); }, sc_core::sc_gen_unique_name("run"));
}

void QueryEncoder::run() {
  const std::vector<JobAddresses> map = make_unit_address_map(jobs_, context_.hardware.unit);
  probe_.fill(pipeline::kSubmit);
  for (std::uint32_t index = 0; index < jobs_.size(); ++index) {
    context_.turn.wait_for(index);
    JobPointer state = make_job_state(index, jobs_[index], map[index]);
    append_to_tile(context_, *state);
    const attention::QueryOperands& operands = state->job->request.query;
    context_.port.read_and_wait(Stream::kQuery, state->addresses.descriptor, kDescriptorBytes);
    banks_.take(probe_);
    probe_.fill(pipeline::kDescriptor);
    const std::uint64_t bytes = (operands.magnitude.size() + operands.ratio.size()) * 4;
    context_.port.read_and_wait(Stream::kQuery, state->addresses.query, bytes);
    encode(*state);
    // The operands of a feature: one a head, and the shared one of group scores.
    const std::uint64_t slots =
        (operands.magnitude.size() + operands.ratio.size()) / state->head_dimension();
    const std::uint64_t cycles = std::max(
        state->head_dimension() * divide_up(slots, kOperandsPerCycle), state->query.lfsr_words);
    // Operands are encoded as they arrive.
    const std::uint64_t arriving = context_.stream_cycles(bytes);
    probe_.fill(pipeline::kEncode);
    const std::uint64_t left = cycles > arriving ? cycles - arriving : 0;
    probe_.work_until(time_now() + context_.clock.cycles(left), cycles, index, "query", index);
    out_.write(std::move(state), probe_);
  }
}

void QueryEncoder::encode(JobState& state) {
  const attention::DecodeRequest& request = state.job->request;
  state.query = attention::encode_query(request.query, request.score_stream);
  for (const std::uint32_t feature : state.query.needed_features) {
    auto& runs = state.feature_runs;
    if (!runs.empty() && runs.back().first + runs.back().second == feature) {
      ++runs.back().second;
    } else {
      runs.emplace_back(feature, 1);
    }
  }
  plan_gather(state);
  state.tiles.resize(static_cast<std::size_t>(state.tile_count()) * state.group());
  state.sums.assign(static_cast<std::size_t>(state.group()) * state.head_dimension(), 0);
  count_energy(state);
  SampleTotals& samples = context_.report.samples;
  samples.features_needed += state.query.needed_features.size();
  samples.features_total += state.head_dimension();
  context_.report.operations.random_words += state.query.lfsr_words;
}

// The gather consumes `digit_lanes` signed digits of each head's coefficient a cycle; the heads go
// through a feature in step, so the one with most digits sets the pace.
void QueryEncoder::plan_gather(JobState& state) const {
  const config::UnitConfig& unit = context_.hardware.unit;
  const std::uint64_t digit_lanes = context_.config_u64(unit.digit_lanes);
  const std::uint64_t words = context_.config_u64(unit.tile_keys / unit.key_lanes);
  auto run = state.feature_runs.begin();
  for (const std::uint32_t feature : state.query.needed_features) {
    while (feature >= run->first + run->second) ++run;
    state.run_cycles.resize(static_cast<std::size_t>(run - state.feature_runs.begin()) + 1);
    std::uint64_t slowest = 0;
    for (std::uint32_t g = 0; g < state.group(); ++g) {
      const std::uint64_t digits = arithmetic::digit_count(
          state.query.coefficients[static_cast<std::size_t>(g) * state.head_dimension() + feature]);
      state.gather_digits += digits;
      state.gather_writes += divide_up(digits, digit_lanes);
      slowest = std::max(slowest, divide_up(digits, digit_lanes));
    }
    state.run_cycles.back() += slowest * words;
    state.gather_cycles += slowest * words;
  }
}

void QueryEncoder::count_energy(const JobState& state) {
  const attention::QueryOperands& operands = state.job->request.query;
  const std::uint64_t coefficients = state.query.coefficients.size();
  context_.count(round_, operands.magnitude.size());
  if (operands.scheme == attention::ScoreScheme::kBernoulliIid) {
    context_.count(compare_, coefficients << operands.draws_log2);
  }
  if (operands.scheme == attention::ScoreScheme::kBernoulliGroup) {
    context_.count(compare_, coefficients);
  }
  context_.count(recode_, coefficients);
  context_.count(coefficient_write_, coefficients);
  context_.count(leap_, state.query.lfsr_words);
}

}  // namespace santa::sim
