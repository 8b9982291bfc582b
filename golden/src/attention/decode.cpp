#include "santa/attention/decode.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "santa/arithmetic/quotient.hpp"
#include "santa/arithmetic/sampler.hpp"
#include "santa/arithmetic/weight.hpp"
#include "santa/error.hpp"

namespace santa::attention {
namespace {

bool is_power_of_two(std::uint32_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

// One decode in progress: the pieces that the value schemes share.
struct Decoder {
  const KvHead& cache;
  std::uint32_t context;
  const DecodeRequest& request;
  const DecodeOptions& options;
  DecodeWorkspace& workspace;
  DecodeResult result{};

  std::uint32_t group() const { return request.query.group; }
  std::uint32_t tiles() const { return (context + cache.tile_keys - 1) / cache.tile_keys; }
  std::size_t padded_context() const { return static_cast<std::size_t>(tiles()) * cache.tile_keys; }
  std::uint32_t valid_keys(std::uint32_t tile) const {
    return std::min(cache.tile_keys, context - tile * cache.tile_keys);
  }
  const std::uint16_t* weights(std::uint32_t head) const {
    return workspace.weights.data() + head * padded_context();
  }

  void score_and_weigh();
  void sample();
  void take_top_k();
  void accumulate_counts();
  void accumulate_weighted(const std::vector<std::vector<std::uint32_t>>& keys);
  void accumulate_dense();
  void write_quotient(std::uint32_t head, const std::vector<std::int64_t>& sums,
                      std::uint64_t mass);
  void count_scores();
};

void Decoder::score_and_weigh() {
  const std::uint32_t tile_keys = cache.tile_keys;
  const bool keep_scores = options.values == ValueScheme::kTopK;
  workspace.weights.resize(padded_context() * group());
  workspace.scores.resize(keep_scores ? padded_context() * group()
                                      : static_cast<std::size_t>(tile_keys) * group());
  std::vector<std::int32_t> tile_scores(static_cast<std::size_t>(tile_keys) * group());
  result.tiles.resize(static_cast<std::size_t>(tiles()) * group());
  for (std::uint32_t t = 0; t < tiles(); ++t) {
    score_tile(result.query, cache.tile(t), tile_keys, tile_scores.data());
    for (std::uint32_t g = 0; g < group(); ++g) {
      std::int32_t* scores = tile_scores.data() + static_cast<std::size_t>(g) * tile_keys;
      const std::size_t offset = g * padded_context() + static_cast<std::size_t>(t) * tile_keys;
      result.tiles[static_cast<std::size_t>(t) * group() + g] =
          weigh_tile(scores, valid_keys(t), tile_keys, result.query.scale[g],
                     workspace.weights.data() + offset);
      if (keep_scores) std::copy(scores, scores + tile_keys, workspace.scores.data() + offset);
    }
  }
  for (std::uint32_t g = 0; g < group(); ++g) {
    result.heads.push_back(combine_tiles(result.tiles.data() + g, tiles(), group()));
    result.log_sum_exp.push_back(log_sum_exp(result.heads.back()));
  }
}

void Decoder::sample() {
  const unsigned samples_log2 = static_cast<unsigned>(std::ilogb(options.samples));
  std::vector<std::vector<std::uint64_t>> thresholds;
  for (std::uint32_t g = 0; g < group(); ++g) {
    thresholds.push_back(make_thresholds(options.values, result.heads[g], samples_log2,
                                         request.value_streams[g], &result.sampler_words));
  }
  std::vector<std::uint32_t> cursor(group(), 0);
  std::vector<std::uint16_t> counts(static_cast<std::size_t>(cache.tile_keys) * group());
  for (std::uint32_t t = 0; t < tiles(); ++t) {
    std::uint32_t drawn = 0;
    std::fill(counts.begin(), counts.end(), std::uint16_t{0});
    for (std::uint32_t g = 0; g < group(); ++g) {
      const std::uint16_t* tile_weights =
          weights(g) + static_cast<std::size_t>(t) * cache.tile_keys;
      const std::uint32_t taken =
          sample_tile(result.heads[g], t, tile_weights, valid_keys(t), thresholds[g], cursor[g],
                      samples_log2, counts.data() + static_cast<std::size_t>(g) * cache.tile_keys);
      cursor[g] += taken;
      drawn += taken;
    }
    if (drawn > 0) append_rows(counts.data(), group(), cache.tile_keys, t, result.rows);
  }
}

// Sum of c_n V[n], then a shift: no division, no multiplication in the unit.
void Decoder::accumulate_counts() {
  const std::uint32_t d = cache.head_dimension;
  const unsigned samples_log2 = static_cast<unsigned>(std::ilogb(options.samples));
  std::vector<std::int32_t> sums(static_cast<std::size_t>(group()) * d, 0);
  for (const SampledRow& row : result.rows) {
    const std::int8_t* value = cache.value_row(row.key);
    for (std::uint32_t g = 0; g < group(); ++g) {
      const std::int32_t count = row.counts[g];
      if (count == 0) continue;
      std::int32_t* sum = sums.data() + static_cast<std::size_t>(g) * d;
      for (std::uint32_t i = 0; i < d; ++i) sum[i] += count * value[i];
      result.operations.value_adds += static_cast<std::uint64_t>(count) * d;
      result.operations.value_elements_read += static_cast<std::uint64_t>(count) * d;
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    result.output[i] = arithmetic::normalize(sums[i], samples_log2);
  }
}

void Decoder::take_top_k() {
  std::vector<std::vector<std::uint32_t>> keys;
  for (std::uint32_t g = 0; g < group(); ++g) {
    keys.push_back(
        select_top_k(workspace.scores.data() + g * padded_context(), context, options.samples));
  }
  accumulate_weighted(keys);
  std::vector<std::uint32_t> next(group(), 0);
  for (;;) {  // merge of the heads' ascending lists
    std::uint32_t key = arithmetic::kMaxContext;
    for (std::uint32_t g = 0; g < group(); ++g) {
      if (next[g] < keys[g].size()) key = std::min(key, keys[g][next[g]]);
    }
    if (key == arithmetic::kMaxContext) break;
    SampledRow row;
    row.key = key;
    for (std::uint32_t g = 0; g < group(); ++g) {
      if (next[g] < keys[g].size() && keys[g][next[g]] == key) {
        row.counts[g] = 1;
        ++next[g];
      }
    }
    result.rows.push_back(row);
  }
}

// Output of a multiply-accumulate unit.
void Decoder::write_quotient(std::uint32_t head, const std::vector<std::int64_t>& sums,
                             std::uint64_t mass) {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    result.output[head * sums.size() + i] = arithmetic::value_quotient(sums[i], mass);
  }
}

void Decoder::accumulate_weighted(const std::vector<std::vector<std::uint32_t>>& keys) {
  const std::uint32_t d = cache.head_dimension;
  for (std::uint32_t g = 0; g < group(); ++g) {
    std::vector<std::int64_t> sums(d, 0);
    std::uint64_t mass = 0;
    for (const std::uint32_t key : keys[g]) {
      const std::uint64_t weight =
          arithmetic::tile_mass(weights(g)[key], result.heads[g].distance[key / cache.tile_keys]);
      mass += weight;
      const std::int8_t* value = cache.value_row(key);
      for (std::uint32_t i = 0; i < d; ++i) sums[i] += static_cast<std::int64_t>(weight) * value[i];
      result.operations.value_adds += d;
      result.operations.value_multiplies += d;
      result.operations.value_elements_read += d;
    }
    write_quotient(g, sums, mass);
  }
}

void Decoder::accumulate_dense() {
  const std::uint32_t d = cache.head_dimension;
  std::vector<std::int64_t> tile_sums(d);
  for (std::uint32_t g = 0; g < group(); ++g) {
    std::vector<std::int64_t> sums(d, 0);
    for (std::uint32_t t = 0; t < tiles(); ++t) {
      std::fill(tile_sums.begin(), tile_sums.end(), 0);
      const std::uint32_t first = t * cache.tile_keys;
      for (std::uint32_t k = 0; k < valid_keys(t); ++k) {
        const std::int64_t weight = weights(g)[first + k];
        const std::int8_t* value = cache.value_row(first + k);
        for (std::uint32_t i = 0; i < d; ++i) tile_sums[i] += weight * value[i];
        result.operations.value_adds += d;
        result.operations.value_multiplies += d;
        result.operations.value_elements_read += d;
      }
      for (std::uint32_t i = 0; i < d; ++i) {
        sums[i] += arithmetic::tile_value_sum(tile_sums[i], result.heads[g].distance[t]);
      }
    }
    write_quotient(g, sums, result.heads[g].mass);
  }
}

// The paper's units: elements, each key once for the whole group.
void Decoder::count_scores() {
  OperationCounts& counts = result.operations;
  const std::uint64_t features = result.query.needed_features.size();
  counts.key_elements_read = features * context;
  counts.scores_written = static_cast<std::uint64_t>(context) * group();
  counts.outputs_written = result.output.size();
  if (!is_sampled(options.values)) {  // multiply-accumulate units do not skip or recode
    counts.key_elements_read = static_cast<std::uint64_t>(context) * cache.head_dimension;
    counts.score_adds = counts.key_elements_read * group();
    counts.score_multiplies = counts.score_adds;
    return;
  }
  for (const std::int16_t coefficient : result.query.coefficients) {
    counts.score_adds += static_cast<std::uint64_t>(arithmetic::digit_count(coefficient)) * context;
  }
}

}  // namespace

void check_options(const DecodeOptions& options) {
  const bool power_needed = is_sampled(options.values);
  const bool used = options.values != ValueScheme::kDense;
  if (used && (options.samples == 0 || options.samples > arithmetic::kMaxSamples ||
               (power_needed && !is_power_of_two(options.samples)))) {
    throw input_error("--samples", "", "got " + std::to_string(options.samples),
                      std::string(power_needed ? "a power of two" : "a number") + " from 1 to " +
                          std::to_string(arithmetic::kMaxSamples));
  }
  if (is_bernoulli(options.scores) && (!is_power_of_two(options.bernoulli_draws) ||
                                       options.bernoulli_draws > arithmetic::kMaxBernoulliDraws)) {
    throw input_error("--bernoulli", "", "got " + std::to_string(options.bernoulli_draws),
                      "a power of two from 1 to " + std::to_string(arithmetic::kMaxBernoulliDraws));
  }
}

DecodeResult decode(const KvHead& cache, std::uint32_t context, const DecodeRequest& request,
                    const DecodeOptions& options, DecodeWorkspace& workspace) {
  Decoder decoder{cache, context, request, options, workspace};
  DecodeResult& result = decoder.result;
  result.query = encode_query(request.query, request.score_stream);
  result.output.assign(static_cast<std::size_t>(decoder.group()) * cache.head_dimension, 0);
  decoder.score_and_weigh();
  decoder.count_scores();
  switch (options.values) {
    case ValueScheme::kDense:
      decoder.accumulate_dense();
      break;
    case ValueScheme::kTopK:
      decoder.take_top_k();
      break;
    default:
      decoder.sample();
      decoder.accumulate_counts();
      break;
  }
  return std::move(result);
}

std::vector<float> dequantize_output(const std::vector<std::int16_t>& output, const KvHead& cache) {
  std::vector<double> step;  // a power of two each, so products are exact
  for (const std::int8_t exponent : cache.value_exponent) {
    step.push_back(std::ldexp(1.0, exponent - static_cast<int>(arithmetic::kOutputFractionBits)));
  }
  std::vector<float> real(output.size());
  for (std::size_t i = 0; i < output.size(); ++i) {
    real[i] = static_cast<float>(output[i] * step[i % cache.head_dimension]);
  }
  return real;
}

std::vector<float> dequantize_output(const DecodeResult& result, const KvHead& cache) {
  return dequantize_output(result.output, cache);
}

}  // namespace santa::attention
