#include "santa/cosim/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <stdexcept>

#include "santa/arithmetic/weight.hpp"

namespace santa::cosim {
namespace {

constexpr const char* kFixedBins[] = {
    "head dimension: 1",
    "head dimension: below the port",
    "head dimension: above the port",
    "head dimension: no power of two",
    "head dimension: largest",
    "context: none",
    "context: one key",
    "context: fewer keys than lanes",
    "context: less than a tile",
    "context: full tiles",
    "context: one key beyond full tiles",
    "context: last tile partial",
    "context: more tiles than key buffers",
    "weights: on chip",
    "weights: spilled",
    "query: no feature needed",
    "query: features skipped",
    "query: every feature needed",
    "query: largest coefficient",
    "query: negative coefficient",
    "query: ratio below the smallest power",
    "query: upper power taken",
    "scale: exponent below 0",
    "scale: exponent 8 or above",
    "scale: both signs minus",
    "tile: weight 0",
    "tile: largest weight",
    "tile: all weights alike",
    "tile: distance 0",
    "tile: distance 1 to 8",
    "tile: distance 9 to 33",
    "tile: distance 34 to 62",
    "tile: distance 63",
    "tile: distance 64 to 127",
    "tile: distance 128 or more",
    "tile: first one without mass",
    "tile: later one without mass",
    "tile: with mass, not drawn from",
    "draw: offset 0",
    "draw: offset Z - 1",
    "draw: first word rejected",
    "row: count 1",
    "row: count above 1",
    "row: all samples on one key",
    "row: shared by heads",
    "row: first key of a tile",
    "row: last key of a tile",
    "output: negative",
    "output: zero",
    "output: lowest",
    "output: tie rounded to even",
    "memory: read address stalled",
    "memory: read data put off",
    "memory: write address stalled",
    "memory: write data stalled",
    "memory: write answer put off",
    "memory: words of ids interleaved",
    "memory: order by bursts",
    "memory: ready after valid",
    "memory: write address after data",
    "memory: alternating ready",
    "driver: interrupt",
    "driver: polling",
    "driver: queue full, submission refused",
    "driver: several requests queued",
    "driver: reset under way",
    "driver: reset while rows are drawn",
    "completion: 0",
    "completion: 1",
    "completion: 2",
    "completion: 3",
};

}  // namespace

Coverage::Coverage(const UnitParameters& unit) : unit_(unit) {
  for (const char* name : {"exact", "bernoulli", "bernoulli-group"}) {
    add(fmt::format("scores: {}", name));
  }
  for (std::uint32_t g = 1; g <= unit.group_heads; ++g) add(fmt::format("group: {}", g));
  for (unsigned s = 0; s <= arithmetic::kMaxSamplesLog2; ++s)
    add(fmt::format("samples: {}", 1U << s));
  for (const char* name : kFixedBins) add(name);
}

void Coverage::hit(const std::string& name, std::uint64_t times) {
  const auto bin = std::find_if(bins_.begin(), bins_.end(),
                                [&](const CoverageBin& b) { return b.name == name; });
  if (bin == bins_.end()) throw std::logic_error("no coverage bin " + name);
  bin->hits += times;
}

void Coverage::merge(const Coverage& other) {
  for (std::size_t i = 0; i < bins_.size(); ++i) bins_[i].hits += other.bins_[i].hits;
}

std::size_t Coverage::bins_hit() const {
  return static_cast<std::size_t>(std::count_if(
      bins_.begin(), bins_.end(), [](const CoverageBin& bin) { return bin.hits > 0; }));
}

void Coverage::sample(const ScoreboardRequest& request) {
  if (!request.runs) return;
  sample_shape(request);
  sample_query(request);
  sample_weights(request);
  sample_draws(request);
  sample_outputs(request);
}

void Coverage::sample_shape(const ScoreboardRequest& request) {
  const CosimRequest& r = request.request;
  const std::uint32_t d = r.head_dimension();
  const std::uint32_t n = r.context;
  const std::uint32_t rest = n % unit_.tile_keys;
  const auto when = [&](bool met, const char* name) { hit(name, met ? 1 : 0); };
  hit("scores: " + std::string(attention::to_string(r.request.query.scheme)));
  hit(fmt::format("group: {}", r.group()));
  hit(fmt::format("samples: {}", r.options.samples));
  when(d == 1, "head dimension: 1");
  when(d < unit_.port_bytes, "head dimension: below the port");
  when(d > unit_.port_bytes, "head dimension: above the port");
  when(power_of_two_from(d) != d, "head dimension: no power of two");
  when(d == unit_.max_head_dimension, "head dimension: largest");
  when(n == 0, "context: none");
  when(n == 1, "context: one key");
  when(n > 0 && n < unit_.scan_lanes, "context: fewer keys than lanes");
  when(n > 0 && n < unit_.tile_keys, "context: less than a tile");
  when(n > 0 && rest == 0, "context: full tiles");
  when(n > unit_.tile_keys && rest == 1, "context: one key beyond full tiles");
  when(rest != 0, "context: last tile partial");
  when(r.tiles() > unit_.key_buffer_tiles, "context: more tiles than key buffers");
  const bool spilled = scratch_bytes(unit_, n, r.group()) > 0;
  when(n > 0 && !spilled, "weights: on chip");
  when(spilled, "weights: spilled");
}

void Coverage::sample_query(const ScoreboardRequest& request) {
  const attention::QueryOperands& query = request.request.request.query;
  const attention::EncodedQuery& encoded = request.expected.result.query;
  const std::size_t needed = encoded.needed_features.size();
  const auto when = [&](bool met, const char* name) { hit(name, met ? 1 : 0); };
  when(needed == 0, "query: no feature needed");
  when(needed > 0 && needed < query.head_dimension, "query: features skipped");
  when(needed == query.head_dimension, "query: every feature needed");
  const int largest = query.scheme == attention::ScoreScheme::kExact
                          ? static_cast<int>(arithmetic::kMaxExactCoefficient)
                          : 1 << query.draws_log2;
  bool at_most = false;
  bool negative = false;
  for (const std::int16_t c : encoded.coefficients) {
    at_most = at_most || std::abs(int{c}) >= largest;
    negative = negative || c < 0;
  }
  when(at_most, "query: largest coefficient");
  when(negative, "query: negative coefficient");
  bool below = false;
  bool upper = false;
  for (std::size_t i = 0; i < query.ratio.size(); ++i) {
    below = below || query.ratio[i].exponent == arithmetic::kRatioZeroExponent;
    upper = upper || query.ratio[i].upper_probability != 0;
  }
  when(below, "query: ratio below the smallest power");
  when(upper, "query: upper power taken");
  for (const arithmetic::ScaleFactor& scale : query.scale) {
    when(scale.exponent < 0, "scale: exponent below 0");
    when(scale.exponent >= 8, "scale: exponent 8 or above");
    when(scale.sign_a < 0 && scale.sign_b < 0, "scale: both signs minus");
  }
}

void Coverage::sample_weights(const ScoreboardRequest& request) {
  const CosimRequest& r = request.request;
  const auto when = [&](bool met, const char* name) { hit(name, met ? 1 : 0); };
  for (std::uint32_t g = 0; g < r.group(); ++g) {
    const attention::HeadStatistics& head = request.expected.result.heads[g];
    for (std::uint32_t t = 0; t < r.tiles(); ++t) {
      const std::uint16_t* weights =
          request.expected.weights.data() + request.expected.index(r, t, g);
      const auto [low, high] = std::minmax_element(weights, weights + r.valid_keys(t));
      when(*low == 0, "tile: weight 0");
      when(*high == arithmetic::kExponentialTable.back(), "tile: largest weight");
      when(*low == *high && r.valid_keys(t) > 1, "tile: all weights alike");
      const std::int64_t distance =
          std::int64_t{head.exponent} -
          request.expected.result.tiles[std::size_t{t} * r.group() + g].exponent;
      when(distance == 0, "tile: distance 0");
      when(distance >= 1 && distance <= 8, "tile: distance 1 to 8");
      when(distance >= 9 && distance <= 33, "tile: distance 9 to 33");
      when(distance >= 34 && distance <= 62, "tile: distance 34 to 62");
      when(distance == 63, "tile: distance 63");
      when(distance >= 64 && distance <= 127, "tile: distance 64 to 127");
      when(distance >= 128, "tile: distance 128 or more");
      const bool empty = head.prefix_mass[t] == head.prefix_mass[t + 1];
      when(empty && t == 0, "tile: first one without mass");
      when(empty && t > 0, "tile: later one without mass");
      bool drawn = false;
      for (const attention::SampledRow& row : request.expected.result.rows) {
        drawn = drawn || (row.key / unit_.tile_keys == t && row.counts[g] > 0);
      }
      when(!empty && !drawn, "tile: with mass, not drawn from");
    }
  }
}

void Coverage::sample_draws(const ScoreboardRequest& request) {
  const CosimRequest& r = request.request;
  const auto when = [&](bool met, const char* name) { hit(name, met ? 1 : 0); };
  for (std::size_t g = 0; g < request.expected.offsets.size(); ++g) {
    const std::uint64_t mass = request.expected.result.heads[g].mass;
    std::uint64_t mask = mass - 1;
    for (unsigned shift = 1; shift < 64; shift <<= 1) mask |= mask >> shift;
    when(request.expected.offsets[g] == 0, "draw: offset 0");
    when(request.expected.offsets[g] == mass - 1, "draw: offset Z - 1");
    when((r.request.value_streams[g] & mask) >= mass, "draw: first word rejected");
  }
  for (const attention::SampledRow& row : request.expected.result.rows) {
    unsigned heads = 0;
    for (std::uint32_t g = 0; g < r.group(); ++g) {
      heads += row.counts[g] > 0 ? 1U : 0U;
      when(row.counts[g] == 1, "row: count 1");
      when(row.counts[g] > 1, "row: count above 1");
      when(row.counts[g] == r.options.samples, "row: all samples on one key");
    }
    when(heads > 1, "row: shared by heads");
    when(row.key % unit_.tile_keys == 0, "row: first key of a tile");
    when(row.key % unit_.tile_keys == unit_.tile_keys - 1, "row: last key of a tile");
  }
}

void Coverage::sample_outputs(const ScoreboardRequest& request) {
  const CosimRequest& r = request.request;
  const std::uint32_t d = r.head_dimension();
  const auto when = [&](bool met, const char* name) { hit(name, met ? 1 : 0); };
  std::vector<std::int32_t> sums(request.expected.result.output.size(), 0);
  for (const attention::SampledRow& row : request.expected.result.rows) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += std::int32_t{row.counts[i / d]} * r.cache->value_row(row.key)[i % d];
    }
  }
  const unsigned samples_log2 = r.samples_log2();
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::int16_t output = request.expected.result.output[i];
    when(output < 0, "output: negative");
    when(output == 0, "output: zero");
    when(output == std::numeric_limits<std::int16_t>::min(), "output: lowest");
    if (samples_log2 <= arithmetic::kOutputFractionBits) continue;
    const std::int32_t unit = 1 << (samples_log2 - arithmetic::kOutputFractionBits);
    when((sums[i] & (unit - 1)) == unit / 2, "output: tie rounded to even");
  }
}

void Coverage::sample(const MemoryCounters& counters, const MemoryBehaviour& behaviour) {
  // The unit always takes read data and answers: only the memory can hold them up.
  hit("memory: read address stalled", counters.stalled_cycles[0]);
  hit("memory: read data put off", counters.words_put_off);
  hit("memory: write address stalled", counters.stalled_cycles[2]);
  hit("memory: write data stalled", counters.stalled_cycles[3]);
  hit("memory: write answer put off", counters.answers_put_off);
  hit("memory: words of ids interleaved", counters.interleaved_words);
  hit("memory: order by bursts", behaviour.order == ReadOrder::kBursts ? 1 : 0);
  hit("memory: ready after valid", behaviour.ready_after_valid ? 1 : 0);
  hit("memory: write address after data", behaviour.aw_waits_for_w ? 1 : 0);
  hit("memory: alternating ready", behaviour.ar.alternate ? 1 : 0);
}

}  // namespace santa::cosim
