// key_fetch: reads the runs of features that some head needs, tile after tile.
#pragma once

#include <vector>

#include "channel.hpp"
#include "fetchers.hpp"
#include "unit_context.hpp"

namespace santa::sim {

// Between key_fetch and ternary_gather: keys in flight or waiting, in order of their arrival.
struct KeyBuffer {
  KeyBuffer(MemoryPort& port, const config::UnitConfig& unit);

  std::uint64_t burst_words;  // longest burst
  Credits room;               // words of full tiles; one tile is the transposing buffer
  Credits tail{1};            // the transposing buffer
  OrderedFetcher<KeyBurst> bursts;
};

class KeyFetch : public sc_core::sc_module {
 public:
  // `jobs` is how many requests will come.
  KeyFetch(const sc_core::sc_module_name& name, const UnitContext& context, std::size_t jobs,
           Channel<JobPointer>& in, KeyBuffer& out);

 private:
  void run();
  void fetch_full_tile(const JobPointer& job, std::uint32_t tile);
  void fetch_tail(const JobPointer& job, std::uint32_t tile);
  void fetch_run(KeyBurst burst, const ByteRange& range, std::uint64_t cycles, bool last_run);

  UnitContext context_;
  std::size_t jobs_;
  Channel<JobPointer>& in_;
  KeyBuffer& out_;
  BlockProbe& probe_;
};

}  // namespace santa::sim
