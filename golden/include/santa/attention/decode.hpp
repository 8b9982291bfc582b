// The golden decode of one group of query heads over one KV head: every score and value scheme.
#pragma once

#include <cstdint>
#include <vector>

#include "santa/attention/blocks.hpp"

namespace santa::attention {

struct DecodeOptions {
  ScoreScheme scores = ScoreScheme::kExact;
  std::uint32_t bernoulli_draws = 8;  // B, power of two 1..64
  ValueScheme values = ValueScheme::kSystematic;
  std::uint32_t samples = 256;  // S, power of two 1..4096; k for kTopK
};

// Throws InputError, naming the command line's option, when S or B is out of range.
void check_options(const DecodeOptions& options);

// One request: the group's operands and the states of its random streams.
struct DecodeRequest {
  QueryOperands query;
  std::uint64_t score_stream = 0;            // Lfsr64 state of the query encoder
  std::vector<std::uint64_t> value_streams;  // [group] states of the sampler
};

// Operations that the algorithm performs, counted as they are performed, in the paper's units
// (scalar elements; tables 8 and 10).
struct OperationCounts {
  std::uint64_t score_adds = 0;  // additions of (shifted) keys to accumulators
  std::uint64_t score_multiplies = 0;
  std::uint64_t value_adds = 0;
  std::uint64_t value_multiplies = 0;
  std::uint64_t key_elements_read = 0;    // elements of K, each once for the group
  std::uint64_t value_elements_read = 0;  // per query head
  std::uint64_t scores_written = 0;
  std::uint64_t outputs_written = 0;
};

struct DecodeResult {
  std::vector<std::int16_t> output;   // [group][head_dimension], 8.8 in units of V
  std::vector<double> log_sum_exp;    // [group], natural log
  std::vector<SampledRow> rows;       // ascending by key; sampled and top-k schemes
  std::vector<TileStatistics> tiles;  // [tile][group]
  std::vector<HeadStatistics> heads;  // [group]
  EncodedQuery query;
  std::uint64_t sampler_words = 0;  // random words the sampler drew
  OperationCounts operations;
};

// Scratch that grows to the largest request and is reused: no allocation per tile.
class DecodeWorkspace {
 public:
  std::vector<std::int32_t> scores;    // [group][padded context], x after weighing
  std::vector<std::uint16_t> weights;  // [group][padded context]
};

// Decodes one request. Attends to the first `context` tokens of `cache` (at most cache.context).
DecodeResult decode(const KvHead& cache, std::uint32_t context, const DecodeRequest& request,
                    const DecodeOptions& options, DecodeWorkspace& workspace);

// Output in real units: output / 2^8 * 2^value_exponent.
std::vector<float> dequantize_output(const std::vector<std::int16_t>& output, const KvHead& cache);
std::vector<float> dequantize_output(const DecodeResult& result, const KvHead& cache);

}  // namespace santa::attention
