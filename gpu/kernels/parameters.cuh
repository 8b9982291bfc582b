// What a launch hands to the decode kernel: DecodeArguments checked, with the shares of the blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "santa/gpu/decode.hpp"

namespace santa::gpu {

constexpr int kStreamWarps = 8;   // read keys, compute scores
constexpr int kSampleWarps = 8;   // draw, gather values, exchange
constexpr int kStreamThreads = 32 * kStreamWarps;
constexpr int kSampleThreads = 32 * kSampleWarps;
constexpr int kBlockThreads = kStreamThreads + kSampleThreads;
constexpr int kMaximumSplits = 128;

// Blocks of one pair (request, KV head): `splits` of them share its keys and exchange results; a team
// of blocks takes the pairs team, team + teams, ...
struct Parameters {
  DecodeArguments arguments;
  int group = 0;
  int splits = 0;
  int teams = 0;
  int next_request = 0, next_kv_head = 0;  // of a team: teams / kv_heads, and the rest
  int steps = 0;             // of a block for maximum_length tokens
  int buffers = 0;           // requests whose scores a block holds
  int block_tokens_log2 = 0;
  int outputs_per_block = 0;  // of a pair's group * head_dimension, summed up by one block

  std::uint32_t* epochs = nullptr;    // [block], exchanges so far
  ulonglong2* masses = nullptr;       // [team][2][head slot][split]
  std::uint64_t* partials = nullptr;  // [team][2][owner][source][outputs_per_block]
  char* rehearsals = nullptr;         // [block][rehearsal_bytes], ValueSample's own exchange
  std::size_t rehearsal_bytes = 0;
  float* sorted = nullptr;            // [block][head slot][sample], of kIndependent
  float* scores = nullptr;            // [block][...] where shared memory does not hold them
  std::size_t scores_per_block = 0;   // floats
};

}  // namespace santa::gpu
