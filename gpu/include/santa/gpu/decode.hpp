// Decode attention by sampled values on a CUDA device: for one new token of each request, scores
// against all cached keys, S draws from the softmax, and the sum of the drawn value rows over S
// (arXiv 2605.01910, section 3). Draws are unbiased for every value scheme but kTileProportional.
// Scores are those of the query, or of a Bernoulli estimate of it that leaves features of the keys
// unread (section 5).
//
// Nothing is allocated and nothing is copied to the host by a launch, so it can be captured in a
// CUDA graph. The result for a request depends on its own keys, values, query, length, seed, offset
// and number (or only its seed, DecodeArguments::seed_stride), the device and the number of KV
// heads; not on the other requests, and it is the same to the bit each time.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "santa/gpu/status.hpp"

namespace santa::gpu {

enum class ElementType { kBf16, kFp16, kFp8E4M3, kInt8 };

// How the S draws of a query head are spread over the keys' cumulative weight.
enum class ValueScheme {
  kSystematic,   // one offset for all: section 3.1, eq. 8, over the whole context
  kStratified,   // one offset each stratum
  kIndependent,  // S independent draws

  // In tiles of `tile_tokens` adjacent keys, each with one offset and a systematic draw of its own:
  // S2ANTA-prop (algorithms 2 to 5): a tile's draws are S times its share of the weight, rounded so
  // that they add up to S by largest remainder, of equal remainders the lower tile's first. Which
  // tiles are rounded up is no chance, so this is biased: a tile's weight is off by less than 1 /
  // S.
  kTileProportional,
  // S2ANTA-flash (algorithms 6 to 8): every tile, a last one with fewer keys too, draws
  // max(1, round(S / T)) times, T being the tiles of the request's length, halves rounded up; its
  // mean counts by its weight. So the rows drawn are T times that, not S.
  // Both need token-major keys, so exact scores.
  kTileUniform,
};

// What the keys are multiplied with.
enum class ScoreScheme {
  kExact,           // the query
  kBernoulli,       // its estimate by B stratified Bernoulli draws a feature: eq. 5, appendix C.1
  kBernoulliGroup,  // one estimate of the group's mean magnitude, which a head scales to its query:
                    // section 5.1, eq. 10 to 13. Fewer features are read
};

// Order of a KV head's keys in memory.
enum class KeyLayout {
  kTokenMajor,    // features of a token are adjacent
  kFeatureMajor,  // tokens of a feature are adjacent
};

// Keys or values of all requests. The last dimension is contiguous; strides are in elements and may
// be any multiple of 16 bytes, so NHD, HND and interleaved caches are all described.
//   contiguous: element (request, token, KV head, feature) is at
//               request * block_stride + token * token_stride + head * head_stride + feature
//   paged:      the same with block_table[request * table_stride + token / block_tokens] for
//   request
//               and token % block_tokens for token; block_tokens is a power of two, at least 16
// Of feature-major keys token_stride is 1 and features are feature_stride apart, a multiple of 16
// bytes and enough for all tokens of the request or block.
struct CacheView {
  const void* data = nullptr;  // 16-byte aligned, on the device
  std::int64_t block_stride = 0;
  std::int64_t token_stride = 0;
  std::int64_t head_stride = 0;
  std::int64_t feature_stride = 1;     // values and token-major keys: 1
  const float* head_scales = nullptr;  // device, one a KV head; null: 1. Elements times it are real
};

struct DecodeArguments {
  int requests = 0;        // 1 to 65535
  int query_heads = 0;     // a multiple of kv_heads; heads of a group are adjacent
  int kv_heads = 0;        // query_heads / kv_heads, the group, is 1 to 16
  int head_dimension = 0;  // 64, 96, 128, 192 or 256
  int samples = 0;         // S, 1 to 2^20
  ValueScheme scheme = ValueScheme::kSystematic;
  int tile_tokens = 256;  // a multiple of 16, 128 to 1024; kTileProportional and kTileUniform only
  ScoreScheme scores = ScoreScheme::kExact;  // others need feature-major keys
  int bernoulli_draws = 0;                   // B, 1 to 64, of the Bernoulli schemes
  float score_scale = 0;  // of the dot products, usually 1 / sqrt(head_dimension)

  const void* queries = nullptr;  // device, [request][query head][feature], 16-byte aligned
  ElementType query_type = ElementType::kBf16;  // kBf16 or kFp16
  std::int64_t query_request_stride = 0;        // elements, a multiple of 8
  std::int64_t query_head_stride = 0;           // elements, a multiple of 8

  ElementType cache_type = ElementType::kBf16;  // of keys and values
  KeyLayout key_layout = KeyLayout::kTokenMajor;
  CacheView keys, values;
  const std::int32_t* block_table = nullptr;  // device; null: contiguous caches
  std::int64_t table_stride = 0;              // entries a request
  int block_tokens = 0;

  const std::int32_t* lengths = nullptr;  // device, tokens of each request, 0 to maximum_length
  int maximum_length = 0;                 // 1 to 2^22; slots up to it must be readable memory,
                                          // but for paged token-major caches: there only tokens of
                                          // the request are read

  // Counter-based generator (Philox 4x32-10). A step of decoding takes another offset.
  const std::uint64_t* seed = nullptr;    // device, one, or one a request
  const std::uint64_t* offset = nullptr;  // device, one
  int seed_stride = 0;                    // 0: one seed, and the number of a request enters the
                                          // draws; 1: a seed each, and only that enters them

  void* output = nullptr;        // device, [request][query head][feature], type of the queries
  float* log_sum_exp = nullptr;  // device, [request][query head], natural logarithm; may be null
  // Device memory of decode_workspace_bytes, used by one launch at a time. It is zero before its
  // first launch and before one with another number of heads, head dimension or type; requests,
  // lengths, samples and schemes may change. The most for several shapes serves each.
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

// Bytes of workspace for these shapes on the current device; pointers are not looked at. 0 when the
// arguments are refused (last_error says why).
std::size_t decode_workspace_bytes(const DecodeArguments& arguments);

// Launches on the stream; errors of the kernel itself appear at the stream's next synchronisation.
// Two kernels for kTileUniform, four for kTileProportional; for the others one, cooperative, whose
// thread blocks wait for one another.
Status decode(const DecodeArguments& arguments, cudaStream_t stream);

}  // namespace santa::gpu
