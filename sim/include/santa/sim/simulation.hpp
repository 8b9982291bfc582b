// One decode step on simulated hardware: systems of sampled units and of their baselines, each on
// its own copy of the same memory system, in one SystemC elaboration. No SystemC type appears in
// this header.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "santa/attention/decode.hpp"
#include "santa/attention/kv_head.hpp"
#include "santa/config/hardware.hpp"
#include "santa/energy/meter.hpp"
#include "santa/sim/dram_counters.hpp"

namespace santa::sim {

// One request: a group of query heads over one KV head. Jobs are dealt out to the units of a system
// and run in order there; the scores of the next overlap the sampling of the current one.
struct Job {
  std::uint32_t layer = 0;
  std::uint32_t kv_head = 0;
  const attention::KvHead* cache = nullptr;  // outlives the simulation
  attention::DecodeRequest request;          // operands and stream states, for the sampled unit
  attention::QueryOperands exact_query;      // prepared with ScoreScheme::kExact, for the baselines
  // The last token of the cache is new: the step writes its key and value first. Needs a context of
  // 1 or more.
  bool append = false;
};

enum class UnitKind : std::uint8_t {
  kSampled,    // adder-only unit: ternary gather, systematic sampler, value gather
  kDenseInt8,  // multiply-accumulate unit, int8 keys and values, streams both
  kDenseFp16,  // the same with fp16 operands and twice the bytes; timing and energy only
  kTopK,       // int8 multiply-accumulate scores, selector, k value rows
};
std::string to_string(UnitKind kind);  // "sampled", "dense", "dense_fp16", "topk"

// A unit to simulate. `options.samples` is S for kSampled and k for kTopK. The dense and top-k
// units always score exactly: they take Job::exact_query and leave options.scores alone.
struct UnitRequest {
  UnitKind kind = UnitKind::kSampled;
  attention::DecodeOptions options;
};

// Bytes moved over the memory port by stream, after rounding to the memory's access granularity.
struct Traffic {
  std::uint64_t query_bytes = 0;
  std::uint64_t key_bytes = 0;
  std::uint64_t value_bytes = 0;
  std::uint64_t stash_bytes = 0;  // weights that did not fit on chip, written and read back
  std::uint64_t output_bytes = 0;
  std::uint64_t append_bytes = 0;  // the new token's key and value, and a transposed tile
  std::uint64_t total_bytes() const {
    return query_bytes + key_bytes + value_bytes + stash_bytes + output_bytes + append_bytes;
  }
  Traffic& operator+=(const Traffic& other);
};

// What the memory model saw; with several parts of a memory, added up or averaged over them.
struct MemoryCounters {
  std::uint64_t read_requests = 0;
  std::uint64_t write_requests = 0;
  std::uint64_t activates = 0;
  std::uint64_t row_hits = 0;
  double busy_fraction = 0.0;    // of the peak bandwidth over the run
  double mean_latency_ns = 0.0;  // request accepted to response
  double peak_outstanding = 0.0;
  std::optional<DramCounters> dram;  // of the dram model
};

// One block of a unit over the run. With several units, the name begins with "unit0.".
struct BlockCounters {
  std::string block;
  std::uint64_t busy_cycles = 0;     // doing work
  std::uint64_t starved_cycles = 0;  // waiting for input
  std::uint64_t blocked_cycles = 0;  // waiting for room downstream or for memory credit
};

// A span of work for the timeline.
struct Span {
  std::uint16_t block = 0;  // index into UnitReport::blocks
  std::uint32_t job = 0;
  std::string name;  // "tile 12", "prefix", "row 4711", ...
  double start_ns = 0.0;
  double end_ns = 0.0;
};

// Counted as the simulated unit performs them, in scalar elements.
struct OperationTotals {
  attention::OperationCounts algorithm;   // the paper's units (tables 8 and 10)
  std::uint64_t gather_adds = 0;          // additions of shifted keys in the ternary gather
  std::uint64_t value_adds_executed = 0;  // after draws of one row are merged and recoded
  std::uint64_t multiplies = 0;           // of any width; 0 for the sampled unit
  std::uint64_t divides = 0;              // 0 for the sampled unit
  std::uint64_t exponentials = 0;
  std::uint64_t random_words = 0;  // 64-bit LFSR words
  OperationTotals& operator+=(const OperationTotals& other);
};

struct SampleTotals {
  std::uint64_t drawn = 0;            // sum of counts over query heads
  std::uint64_t unique_rows = 0;      // distinct (KV head, key)
  std::uint64_t row_reads = 0;        // value rows fetched
  std::uint64_t features_needed = 0;  // sum over jobs of features fetched
  std::uint64_t features_total = 0;
  std::uint64_t tiles_scanned = 0;  // tiles whose weights the sampler read
  std::uint64_t tiles_total = 0;
  SampleTotals& operator+=(const SampleTotals& other);
};

// What all units of one kind did together.
struct UnitReport {
  UnitKind kind = UnitKind::kSampled;
  attention::DecodeOptions options;
  std::uint64_t latency_cycles = 0;
  double latency_ns = 0.0;
  std::vector<double> unit_latency_ns;  // by unit, when its last request ended; 0 without one
  Traffic traffic;
  MemoryCounters memory;
  std::vector<BlockCounters> blocks;
  OperationTotals operations;
  SampleTotals samples;
  energy::EnergyReport energy;
  // Per job, as golden decode gives them. Empty for kDenseFp16.
  std::vector<std::vector<std::int16_t>> outputs;        // [job][group * head_dimension]
  std::vector<std::vector<attention::SampledRow>> rows;  // [job]
  std::vector<std::vector<double>> log_sum_exp;          // [job][group]
  std::vector<Span> spans;                               // only when asked for
};

struct SimulationRequest {
  const config::HardwareConfig* hardware = nullptr;
  const energy::EnergyPack* energy_pack = nullptr;
  std::vector<Job> jobs;
  std::vector<UnitRequest> units;
  bool record_spans = false;
  bool dense_outputs = true;  // whether the dense int8 unit's outputs are wanted; they take time
  // Sees every burst of the first unit's memory; only of the dram model.
  DramObserver dram_observer;
  // Called from time to time with the fraction of jobs finished (0..1) over all units.
  std::function<void(double)> progress;
};

// Simulates every unit of the request. May be called once in a process: SystemC elaborates once.
// Throws InputError when the hardware cannot hold the request (group or head dimension too large,
// more bytes than the dram model's memory has),
// VerificationError when an internal check of the results fails.
std::vector<UnitReport> simulate(const SimulationRequest& request);

}  // namespace santa::sim
