// The golden model on a CUDA device: the integers of docs/numerics.md, computed with the functions
// of santa/arithmetic, for every score and value scheme. Results are those of
// santa::attention::decode() bit for bit, on every device and for every batch around a request.
// What lies inside is written out as well: coefficients, scores, weights, statistics of tiles and
// heads, drawn rows.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "santa/arithmetic/coefficient.hpp"
#include "santa/arithmetic/weight.hpp"
#include "santa/attention/scheme.hpp"
#include "santa/gpu/status.hpp"

namespace santa::gpu {

// One group of query heads over one KV head. d = head_dimension, n = context, T = tile_keys,
// tiles = ceil(n / T), rows = 1 for group scores and `group` for others. Pointers are to memory of
// the device, aligned to their element; arrays without elements may be null.
//
// The content of the operands is not looked at on the host; it must be within the ranges of
// docs/numerics.md, sections 1 and 2: magnitudes at most 127 or B, multiples of B * 2^-16 for
// independent draws, ratios at most the group, scores below 2^22 octaves, generators not in state
// 0.
struct GoldenRequest {
  std::uint32_t group = 0;           // query heads, 1 to 16
  std::uint32_t head_dimension = 0;  // 1 to 1024
  std::uint32_t context = 0;         // keys, 0 to 2^20
  std::uint32_t tile_keys = 0;       // a power of two, 16 to 1024; results depend on it
  attention::ScoreScheme scores = attention::ScoreScheme::kExact;
  attention::ValueScheme values = attention::ValueScheme::kSystematic;
  std::uint32_t bernoulli_draws = 1;  // B, a power of two 1 to 64; 1 for exact scores
  std::uint32_t samples = 1;          // S, a power of two 1 to 4096; k of top-k, 1 to 4096;
                                      // not looked at for dense values

  const std::uint32_t* magnitude = nullptr;        // [rows][d], Q8.16
  const std::uint8_t* negative = nullptr;          // [group][d], 0 or 1
  const arithmetic::GroupRatio* ratio = nullptr;   // [group][d], group scores only
  const arithmetic::ScaleFactor* scale = nullptr;  // [rows]
  std::uint64_t score_stream = 0;                  // not looked at for exact scores
  const std::uint64_t* value_streams = nullptr;    // [group], sampled values only
  const std::int8_t* keys = nullptr;               // [tiles][d][T]; slots beyond n are not read
  const std::int8_t* values_of_keys = nullptr;     // [n][d]

  // Results; names and units of docs/vectors.md.
  std::int16_t* coefficients = nullptr;    // [group][d]
  std::int32_t* accumulators = nullptr;    // [group][n], scores before the scale
  std::uint16_t* weights = nullptr;        // [group][n], 0.16
  std::int32_t* tile_exponents = nullptr;  // [tiles][group], m
  std::uint32_t* tile_sums = nullptr;      // [tiles][group], l
  std::int32_t* head_exponents = nullptr;  // [group], M
  std::uint64_t* head_masses = nullptr;    // [group], Z
  std::uint64_t* head_offsets = nullptr;   // [group], U; 0 without keys or systematic sampling
  std::uint32_t* row_total = nullptr;      // [1], rows that some head drew; 0 for dense values
  std::uint32_t* row_keys = nullptr;       // [golden_most_rows()], rising
  std::uint16_t* row_counts = nullptr;     // [golden_most_rows()][group]
  std::int16_t* output = nullptr;          // [group][d], 8.8 in steps of the value
};

// Whether the kernels were compiled for the current device's architecture; last_error says what the
// device says if they were not.
bool golden_supported();

// Rows for which row_keys and row_counts need room.
std::uint32_t golden_most_rows(const GoldenRequest& request);

// Bytes of workspace for these requests; pointers in them are not looked at. 0 when a request is
// refused (last_error says which, and why).
//   requests  `count` of them, host memory; 1 to 65535
std::size_t golden_workspace_bytes(const GoldenRequest* requests, int count);

// Launches all requests together on the stream. The workspace, device memory aligned to 256 bytes,
// needs no preparation and belongs to the launch until the stream has passed it. `requests` itself
// may go when the function returns. Errors of the kernels appear at the stream's next
// synchronisation. Not for capture in a graph: the requests are copied to the device.
Status golden_decode(const GoldenRequest* requests, int count, void* workspace,
                     std::size_t workspace_bytes, cudaStream_t stream);

}  // namespace santa::gpu
