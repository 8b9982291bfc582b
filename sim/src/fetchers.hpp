// Streams that keep several transfers in flight and hand them on in order: tiles and value rows.
#pragma once

#include <deque>
#include <vector>

#include "channel.hpp"
#include "job_state.hpp"
#include "memory_port.hpp"

namespace santa::sim {

// Hands tokens on in order, each once all its transfers have arrived. The number of tokens between
// fetch() and release() is limited: those are the buffers.
template <typename Token>
class OrderedFetcher {
 public:
  OrderedFetcher(MemoryPort& port, Stream stream, std::uint64_t buffers)
      : port_(port), stream_(stream), credits_(buffers), ready_(buffers) {}

  // Takes a buffer (waits for one) and starts the reads. A token without reads is ready at once.
  void fetch(Token token, const ByteRange* reads, std::size_t count, BlockProbe& probe) {
    credits_.take(probe);
    slots_.push_back({std::move(token), count});
    Slot& slot = slots_.back();  // a deque: the reference survives pushes and pops at the ends
    for (std::size_t r = 0; r < count; ++r) {
      port_.read(stream_, reads[r].address, reads[r].bytes, [this, &slot] {
        --slot.reads_left;
        hand_on();
      });
    }
    if (count == 0) hand_on();
  }
  void fetch(Token token, const std::vector<ByteRange>& reads, BlockProbe& probe) {
    fetch(std::move(token), reads.data(), reads.size(), probe);
  }

  // Next token in order, once its data is there.
  Token next(BlockProbe& probe) { return ready_.read(probe); }
  // The same for a block that has booked work until `busy_until`: it starves from then on only.
  Token next(BlockProbe& probe, const sc_core::sc_time& busy_until) {
    return ready_.read(probe, busy_until);
  }

  // The consumer is done with the oldest token's buffer.
  void release() { credits_.release(); }
  // The same, at a time to come.
  void release_at(const sc_core::sc_time& time) { credits_.release_at(time); }

 private:
  struct Slot {
    Token token;
    std::uint64_t reads_left = 0;
  };

  void hand_on() {
    while (!slots_.empty() && slots_.front().reads_left == 0) {
      ready_.push(std::move(slots_.front().token));
      slots_.pop_front();
    }
  }

  MemoryPort& port_;
  Stream stream_;
  Credits credits_;
  std::deque<Slot> slots_;
  Channel<Token> ready_;
};

struct TileToken {
  JobPointer job;
  std::uint32_t tile = 0;
};

// Keys that arrive in one burst, part of a tile.
struct KeyBurst {
  JobPointer job;
  std::uint32_t tile = 0;
  std::uint64_t words = 0;   // of the port
  std::uint64_t cycles = 0;  // that the gather takes for them; 0 for the tail, which waits for all
  bool first = false;        // of its tile
  bool last = false;
};

struct RowToken {
  JobPointer job;
  attention::SampledRow row;
  bool last = false;  // no row: the job's end
};

// Rows first..end-1 of UnitReport::rows[job]: those that one chunk of keys emits.
struct RowBatch {
  JobPointer job;
  std::size_t first = 0;
  std::size_t end = 0;
  bool last = false;  // no rows: the job's end
};

// From the sampler to the value gather: one chunk's rows wait to leave, one a cycle.
struct RowPort {
  Credits leaving{1};
  Channel<RowBatch> batches{2};
};

}  // namespace santa::sim
