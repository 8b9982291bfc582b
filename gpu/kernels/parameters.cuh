// What a launch hands to the decode kernel: DecodeArguments checked, with the shares of the blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "santa/gpu/decode.hpp"

namespace santa::gpu {

constexpr int kStreamWarps = 8;  // read keys, compute scores
constexpr int kSampleWarps = 8;  // draw, gather values, exchange
constexpr int kStreamThreads = 32 * kStreamWarps;
constexpr int kSampleThreads = 32 * kSampleWarps;
constexpr int kBlockThreads = kStreamThreads + kSampleThreads;
constexpr int kMaximumSplits = 128;
constexpr int kMaximumBuffers = 4;

// Places for what blocks exchange of different pairs: a block overwrites what it wrote four pairs
// ago, which the others have read when they have answered to what it wrote two pairs ago.
constexpr int kExchanges = 4;

// Blocks of one pair (request, KV head): `splits` of them share its keys and exchange results; a
// team of blocks takes the pairs team, team + teams, ...
struct Parameters {
  DecodeArguments arguments;
  int group = 0;
  int splits = 0;
  int teams = 0;
  int next_request = 0, next_kv_head = 0;  // of a team: teams / kv_heads, and the rest
  int steps = 0;                           // of a block for maximum_length tokens
  int buffers = 0;                         // requests whose scores a block holds
  int block_tokens_log2 = 0;
  std::int64_t feature_bytes = 0;  // between features of feature-major keys
  int outputs_per_block = 0;       // of a pair's group * head_dimension, summed up by one block

  std::uint32_t* epochs = nullptr;    // [block], exchanges so far
  ulonglong2* masses = nullptr;       // [team][exchange][head slot][split]
  std::uint64_t* partials = nullptr;  // [team][exchange][owner][source][outputs_per_block]
  char* rehearsals = nullptr;         // [block][rehearsal_bytes], ValueSample's own exchange
  std::size_t rehearsal_bytes = 0;
  float* sorted = nullptr;  // [block][turn][head slot][sample], of kIndependent
  float* scores =
      nullptr;  // [block][buffer][handover_floats] where shared memory does not hold them
  std::size_t handover_floats = 0;  // of a pair: its runs and scores
};

}  // namespace santa::gpu
