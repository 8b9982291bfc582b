#include "topk_unit.hpp"

#include <algorithm>

#include "append.hpp"

namespace santa::sim {
namespace {

constexpr unsigned kBufferPortBits = 512;
constexpr unsigned kScoreBits = 32;
constexpr unsigned kScoreBytes = 4;
constexpr unsigned kHistogramBits = 20;

// A quarter of the buffer holds keys in flight, at least two tiles.
std::uint64_t buffered_tiles(const UnitContext& context) {
  const config::UnitConfig& unit = context.hardware.unit;
  const auto tile_bytes = static_cast<std::uint64_t>(unit.tile_keys * unit.max_head_dimension);
  const auto quarter = static_cast<std::uint64_t>(context.hardware.baselines.buffer_kib) * 256;
  return std::max<std::uint64_t>(2, quarter / tile_bytes);
}

}  // namespace

TopKUnit::TopKUnit(const sc_core::sc_module_name& name, const UnitContext& context, std::uint32_t k,
                   const std::vector<Job>& jobs, std::function<void()> job_finished)
    : sc_core::sc_module(name),
      context_(context),
      k_(k),
      jobs_(jobs),
      mac_(context, MacFormat::kInt8),
      fetch_probe_(context.probe.add_block("fetch")),
      mac_probe_(context.probe.add_block("mac_array")),
      selector_probe_(context.probe.add_block("topk_selector")),
      row_probe_(context.probe.add_block("value_fetch")),
      value_probe_(context.probe.add_block("value_array")),
      keys_(context.port, Stream::kKey, buffered_tiles(context)),
      rows_(context.port, Stream::kValue,
            context.config_u64(context.hardware.unit.row_buffer_rows)),
      divider_("divider", context, mac_, summed_, std::move(job_finished)) {
  using energy::Block;
  using energy::Operation;
  energy::EnergyMeter& meter = context_.meter;
  const auto bytes = static_cast<std::uint64_t>(context.hardware.baselines.buffer_kib) * 1024;
  buffer_write_ = meter.sram_write(Block::mac_array, "key_score_buffer", bytes, kBufferPortBits);
  buffer_read_ = meter.sram_read(Block::mac_array, "key_score_buffer", bytes, kBufferPortBits);
  histogram_add_ = meter.operation(Block::topk_selector, Operation::add_int, kHistogramBits);
  histogram_write_ =
      meter.operation(Block::topk_selector, Operation::register_write, kHistogramBits);
  filter_compare_ = meter.operation(Block::topk_selector, Operation::compare, kScoreBits);
  sc_core::sc_spawn([this] { fetch(); }, sc_core::sc_gen_unique_name("fetch"));
  sc_core::sc_spawn([this] { multiply(); }, sc_core::sc_gen_unique_name("multiply"));
  sc_core::sc_spawn([this] { select(); }, sc_core::sc_gen_unique_name("select"));
  sc_core::sc_spawn([this] { fetch_rows(); }, sc_core::sc_gen_unique_name("fetch_rows"));
  sc_core::sc_spawn([this] { accumulate(); }, sc_core::sc_gen_unique_name("accumulate"));
}

void TopKUnit::fetch() {
  const std::vector<JobAddresses> map = make_address_map(jobs_, false);
  for (std::uint32_t index = 0; index < jobs_.size(); ++index) {
    context_.turn.wait_for(index);
    const JobPointer job = make_job_state(index, jobs_[index], map[index]);
    append_row(context_, *job, job->key_row_bytes(), job->value_row_bytes());
    const attention::KvHead& cache = job->cache();
    context_.port.read_and_wait(
        Stream::kQuery, job->addresses.query,
        static_cast<std::uint64_t>(job->group()) * cache.head_dimension * 2);
    for (std::uint32_t t = 0; t < job->tile_count(); ++t) {
      const std::uint64_t row_bytes = job->key_row_bytes();
      const std::uint64_t offset = static_cast<std::uint64_t>(t) * cache.tile_keys * row_bytes;
      const std::uint64_t bytes = cache.tile_valid_keys(t) * row_bytes;
      keys_.fetch({job, t}, {{job->addresses.key + offset, bytes}}, fetch_probe_);
      context_.count(buffer_write_, divide_up(bytes * 8, kBufferPortBits));
      context_.count(buffer_read_, divide_up(bytes * 8, kBufferPortBits));
    }
    if (job->tile_count() == 0) keys_.fetch({job, 0}, nullptr, 0, fetch_probe_);
  }
}

void TopKUnit::multiply() {
  for (;;) {
    const TileToken token = keys_.next(mac_probe_);
    if (token.tile == 0) score_halves_.take(mac_probe_);
    if (token.job->tile_count() > 0) score(token);
    keys_.release();
    if (token.tile + 1 >= token.job->tile_count()) scored_.write(token.job, mac_probe_);
  }
}

void TopKUnit::score(const TileToken& token) {
  const JobState& state = *token.job;
  const attention::KvHead& cache = state.cache();
  const std::uint64_t valid = cache.tile_valid_keys(token.tile);
  const std::uint64_t scores = valid * state.group();
  mac_.count_scores(scores * cache.head_dimension);
  context_.count(histogram_add_, scores);
  context_.count(histogram_write_, scores);
  OperationTotals& operations = context_.report.operations;
  operations.algorithm.key_elements_read += valid * cache.head_dimension;
  operations.algorithm.scores_written += scores;
  mac_probe_.work(mac_.cycles(scores * cache.head_dimension), state.index, "score tile",
                  token.tile);
  if (scores_fit(state)) {
    context_.count(buffer_write_, divide_up(scores * kScoreBits, kBufferPortBits));
  } else {
    const std::uint64_t tile_bytes =
        static_cast<std::uint64_t>(cache.tile_keys) * state.group() * kScoreBytes;
    context_.port.write(Stream::kStash, state.addresses.stash + token.tile * tile_bytes,
                        scores * kScoreBytes, nullptr);
  }
}

// Scores of two requests at a time, a quarter of the buffer each.
bool TopKUnit::scores_fit(const JobState& state) const {
  const auto quarter = static_cast<std::uint64_t>(context_.hardware.baselines.buffer_kib) * 256;
  return state.padded_context() * state.group() * kScoreBytes <= quarter;
}

void TopKUnit::select() {
  for (;;) {
    const JobPointer job = scored_.read(selector_probe_);
    filter(*job);
    score_halves_.release();
    attention::DecodeRequest request;
    request.query = job->job->exact_query;
    attention::DecodeOptions options;
    options.values = attention::ValueScheme::kTopK;
    options.samples = k_;
    attention::DecodeResult result =
        attention::decode(job->cache(), job->cache().context, request, options, workspace_);
    context_.report.outputs[job->index] = std::move(result.output);
    context_.report.log_sum_exp[job->index] = std::move(result.log_sum_exp);
    context_.report.samples.unique_rows += result.rows.size();
    for (const attention::SampledRow& row : result.rows) {
      selected_.write({job, row, false}, selector_probe_);
    }
    context_.report.rows[job->index] = std::move(result.rows);
    selected_.write({job, {}, true}, selector_probe_);
  }
}

void TopKUnit::filter(const JobState& state) {
  const std::uint64_t scores = static_cast<std::uint64_t>(state.cache().context) * state.group();
  if (scores == 0) return;
  bool arrived = true;
  sc_core::sc_event arrival;
  if (scores_fit(state)) {
    context_.count(buffer_read_, divide_up(scores * kScoreBits, kBufferPortBits));
  } else {
    arrived = false;
    context_.port.read(Stream::kStash, state.addresses.stash, scores * kScoreBytes, [&] {
      arrived = true;
      arrival.notify();
    });
  }
  context_.count(filter_compare_, scores);
  selector_probe_.work(
      divide_up(scores, context_.config_u64(context_.hardware.baselines.select_lanes)), state.index,
      "filter", state.index);
  while (!arrived) sc_core::wait(arrival);
}

void TopKUnit::fetch_rows() {
  for (;;) {
    RowToken token = selected_.read(row_probe_);
    if (token.last) {
      rows_.fetch(std::move(token), nullptr, 0, row_probe_);
      continue;
    }
    const std::uint64_t row_bytes = token.job->value_row_bytes();
    const ByteRange range{token.job->addresses.value + token.row.key * row_bytes, row_bytes};
    // Heads that selected the same key share its read unless the configuration says otherwise; one
    // head never selects a key twice.
    std::uint64_t reads = 1;
    if (context_.hardware.unit.merge_rows != config::MergeRows::kGroup) {
      reads =
          static_cast<std::uint64_t>(std::count_if(token.row.counts.begin(), token.row.counts.end(),
                                                   [](std::uint16_t count) { return count > 0; }));
    }
    context_.report.samples.row_reads += reads;
    rows_.fetch(std::move(token), std::vector<ByteRange>(reads, range), row_probe_);
  }
}

void TopKUnit::accumulate() {
  for (;;) {
    const RowToken token = rows_.next(value_probe_);
    if (!token.last) {
      const auto heads =
          static_cast<std::uint64_t>(std::count_if(token.row.counts.begin(), token.row.counts.end(),
                                                   [](std::uint16_t count) { return count > 0; }));
      const std::uint64_t multiplies = heads * token.job->head_dimension();
      mac_.count_softmax(heads);
      mac_.count_values(multiplies);
      context_.report.samples.drawn += heads;
      value_probe_.work(mac_.cycles(multiplies), token.job->index, "row", token.row.key);
    }
    rows_.release();
    if (token.last) summed_.write(token.job, value_probe_);
  }
}

}  // namespace santa::sim
