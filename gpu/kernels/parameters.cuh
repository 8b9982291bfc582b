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
constexpr int kMaximumParts = 4;

// Places for what blocks exchange of different pairs: a block overwrites what it wrote four pairs
// ago, which the others have read when they have answered to what it wrote two pairs ago.
constexpr int kExchanges = 4;

// The keys of a pair (request, KV head) are cut in `splits` shares, whatever the batch, so that its
// sums are rounded the same. A team of blocks exchanges results and takes the pairs team, team +
// teams, ...; of many pairs a block takes several shares, so that there are more teams.
struct Parameters {
  DecodeArguments arguments;
  int group = 0;
  int splits = 0;
  int parts = 1;  // shares of a block
  int teams = 0;
  int rounds = 0;                          // pairs of a team, at most
  int processors = 0;                      // of the device: blocks, at most
  int next_request = 0, next_kv_head = 0;  // of a team: teams / kv_heads, and the rest
  int buffers = 0;                         // requests whose scores a block holds
  int block_tokens_log2 = 0;
  std::int64_t feature_bytes = 0;  // between features of feature-major keys
  int outputs_per_share = 0;  // of a pair's group * head_dimension, summed up where the share is

  std::uint32_t* epochs = nullptr;  // [processors], exchanges so far; all the same between launches
  ulonglong2* masses = nullptr;     // [team][exchange][head slot][split]
  std::uint64_t* partials = nullptr;  // [team][exchange][owner][source][outputs_per_share]
  char* rehearsals = nullptr;         // [block][rehearsal_bytes], ValueSample's own exchange
  std::size_t rehearsal_bytes = 0;
  float* sorted = nullptr;  // [block][turn][head slot][sample], of kIndependent
  float* scores =
      nullptr;  // [block][buffer][handover_floats] where shared memory does not hold them
  std::size_t part_floats = 0;      // of a share: its runs and scores
  std::size_t handover_floats = 0;  // of the parts of a pair
};

}  // namespace santa::gpu
