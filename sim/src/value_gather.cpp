#include "value_gather.hpp"

#include <algorithm>

namespace santa::sim {
namespace {

constexpr unsigned kAccumulatorBits = 32;

}  // namespace

ValueGather::ValueGather(const sc_core::sc_module_name& name, const UnitContext& context,
                         RowPort& in, Credits& sums, Channel<JobPointer>& out)
    : sc_core::sc_module(name),
      context_(context),
      in_(in),
      sums_(sums),
      out_(out),
      fetch_probe_(context.probe.add_block("value_fetch")),
      probe_(context.probe.add_block("value_gather")),
      rows_(context.port, Stream::kValue,
            context.config_u64(context.hardware.unit.row_buffer_rows)) {
  using energy::Block;
  using energy::Operation;
  energy::EnergyMeter& meter = context_.meter;
  const config::UnitConfig& unit = context_.hardware.unit;
  const std::uint64_t buffer_bytes =
      context_.config_u64(unit.row_buffer_rows * unit.max_head_dimension);
  const auto port_bits = static_cast<unsigned>(unit.value_lanes * 8);
  buffer_write_ = meter.sram_write(Block::value_gather, "row_buffer", buffer_bytes, port_bits);
  buffer_read_ = meter.sram_read(Block::value_gather, "row_buffer", buffer_bytes, port_bits);
  shift_ = meter.operation(Block::value_gather, Operation::shift, kAccumulatorBits);
  add_ = meter.operation(Block::value_gather, Operation::add_int, kAccumulatorBits);
  accumulator_write_ =
      meter.operation(Block::value_gather, Operation::register_write, kAccumulatorBits);
  sc_core::sc_spawn([this] { fetch(); }, sc_core::sc_gen_unique_name("fetch"));
  sc_core::sc_spawn([this] { accumulate(); }, sc_core::sc_gen_unique_name("accumulate"));
}

// One row a cycle.
void ValueGather::fetch() {
  sc_core::sc_time next;  // row may leave
  for (;;) {
    const RowBatch batch = in_.batches.read(fetch_probe_, next);
    for (std::size_t r = batch.first; r < batch.end; ++r) {
      fetch_probe_.wait_until(next);
      fetch_row(batch.job, attention::SampledRow(context_.report.rows[batch.job->index][r]));
      next = time_now() + context_.clock.cycles(1);
    }
    if (!batch.last) in_.leaving.release_at(next);
    if (batch.last) rows_.fetch({batch.job, {}, true}, nullptr, 0, fetch_probe_);
  }
}

// One read for the whole group, one a head, or one a draw.
void ValueGather::fetch_row(const JobPointer& job, const attention::SampledRow& row) {
  const config::MergeRows merge = context_.hardware.unit.merge_rows;
  if (merge == config::MergeRows::kGroup) {
    start_read({job, row, false});
    return;
  }
  for (std::uint32_t g = 0; g < job->group(); ++g) {
    const std::uint16_t count = row.counts[g];
    if (count == 0) continue;
    RowToken single{job, {}, false};
    single.row.key = row.key;
    single.row.counts[g] = merge == config::MergeRows::kHead ? count : std::uint16_t{1};
    const std::uint32_t reads = merge == config::MergeRows::kHead ? 1U : count;
    for (std::uint32_t r = 0; r < reads; ++r) start_read(single);
  }
}

void ValueGather::start_read(RowToken token) {
  const std::uint64_t row_bytes = token.job->value_row_bytes();
  const ByteRange range{token.job->addresses.value +
                            token.row.key * row_stride_bytes(row_bytes, context_.hardware.unit),
                        row_bytes};
  ++context_.report.samples.row_reads;
  rows_.fetch(std::move(token), &range, 1, fetch_probe_);
}

// Rows that arrive together are booked one behind the other without waiting for each.
void ValueGather::accumulate() {
  sc_core::sc_time free;
  bool first = true;
  for (;;) {
    const RowToken token = rows_.next(probe_, free);
    if (first) {
      sums_.take(probe_);
      free = std::max(free, time_now());
      first = false;
    }
    if (!token.last) {
      const std::uint64_t cycles = add_row(token);
      const sc_core::sc_time ready = time_now() + context_.clock.cycles(pipeline::kRow);
      free = probe_.occupy(std::max(free, ready), cycles, token.job->index, "row", token.row.key);
      rows_.release_at(free);
      continue;
    }
    probe_.wait_until(free);
    rows_.release_at(time_now());
    first = true;
    out_.write(token.job, probe_);
  }
}

std::uint64_t ValueGather::add_row(const RowToken& token) {
  JobState& state = *token.job;
  const std::uint32_t d = state.head_dimension();
  const std::int8_t* value = state.cache().value_row(token.row.key);
  OperationTotals& operations = context_.report.operations;
  std::uint64_t digits_total = 0;
  std::uint64_t slowest = 0;
  for (std::uint32_t g = 0; g < state.group(); ++g) {
    const std::int32_t count = token.row.counts[g];
    if (count == 0) continue;
    std::int32_t* sums = state.sums.data() + static_cast<std::size_t>(g) * d;
    for (std::uint32_t i = 0; i < d; ++i) sums[i] += count * value[i];
    const std::uint64_t digits = arithmetic::digit_count(count);
    digits_total += digits;
    slowest = std::max(slowest, digits);
    operations.algorithm.value_adds += static_cast<std::uint64_t>(count) * d;
    operations.algorithm.value_elements_read += static_cast<std::uint64_t>(count) * d;
  }
  operations.value_adds_executed += digits_total * d;
  const std::uint64_t passes =
      divide_up(d, context_.config_u64(context_.hardware.unit.value_lanes));
  context_.count(buffer_write_, passes);
  context_.count(buffer_read_, passes);
  context_.count(shift_, digits_total * d);
  context_.count(add_, digits_total * d);
  context_.count(accumulator_write_, digits_total * d);
  return passes * slowest;
}

}  // namespace santa::sim
