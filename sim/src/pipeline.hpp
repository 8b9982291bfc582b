// What the pipelines of the RTL add to the cycles of the work itself. Each number is a count of
// registers between two events in rtl/, named beside it; docs/cycle_error.md compares the sums.
#pragma once

#include <cstdint>

namespace santa::sim::pipeline {

// Submission to the read of the descriptor: queue, descriptor_fetch, address register.
inline constexpr std::uint64_t kSubmit = 3;
// Address to data and data to answer, beyond the memory's latency: a register on each side.
inline constexpr std::uint64_t kPort = 2;
// Descriptor's last word to the read of the operands: check, query_encoder, splitter, address.
inline constexpr std::uint64_t kDescriptor = 3;
// Operand at the port to its coefficient: operand FIFO and funnel.
inline constexpr std::uint64_t kEncode = 5;
// Last coefficient to the first key address: hand-over, run list, splitter, address.
inline constexpr std::uint64_t kKeys = 6;
// Key at the port to its first pass.
inline constexpr std::uint64_t kKeyFifo = 3;
// A request's first pass after the last one of the request before: coefficients are read.
inline constexpr std::uint64_t kGatherStart = 5;
// A tile's last pass to its scores: second stage, hand-over.
inline constexpr std::uint64_t kScores = 2;
// A tile in the weight unit, beside its two passes: start and two drained pipelines.
inline constexpr std::uint64_t kWeigh = 8;
// A spilled tile: its first pass to the first word on the port, its passes to the last one, and
// what lies between its weights, its statistics and the next tile.
inline constexpr std::uint64_t kSpillFirst = 9;
inline constexpr std::uint64_t kSpillLast = 7;
inline constexpr std::uint64_t kSpillEntry = 2;
// Last tile weighed to the sampler.
inline constexpr std::uint64_t kWeighed = 2;
// The sampler's total, and its walk, beside a cycle a tile: statistics and masses are read.
inline constexpr std::uint64_t kTotal = 5;
inline constexpr std::uint64_t kWalk = 3;
// A scanned tile before its first chunk: residuals, cumulative weights.
inline constexpr std::uint64_t kEnter = 2;
// A row leaving the sampler to its address (2), and its data at the port to its first pass (3).
inline constexpr std::uint64_t kRow = 5;
// The same for weights of a spilled tile, without the first.
inline constexpr std::uint64_t kSpilledWeights = 3;
// Last pass to the first output; each head's write is asked for in front of its outputs.
inline constexpr std::uint64_t kNormalize = 3;
inline constexpr std::uint64_t kHeadRow = 2;
// Last answer to a write to the completion.
inline constexpr std::uint64_t kComplete = 3;

}  // namespace santa::sim::pipeline
