// The memory at the unit's AXI4 port. Reads take their data when the address is accepted and writes
// take effect when they are answered, the latest and earliest moments that AXI allows, so a unit
// that does not wait for an answer is found out.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "santa/cosim/axi_rules.hpp"
#include "santa/cosim/byte_memory.hpp"
#include "santa/cosim/findings.hpp"
#include "santa/cosim/memory_timing.hpp"
#include "santa/cosim/pins.hpp"
#include "santa/cosim/random.hpp"

namespace santa::cosim {

// When a channel pauses: ready stays low, or a new valid is put off.
struct ChannelStall {
  double probability = 0.0;
  bool alternate = false;  // every second cycle: 1010...
};

enum class ReadOrder : std::uint8_t {
  kAccepted,     // as the addresses came
  kBursts,       // ids in any order, a burst in one run
  kInterleaved,  // any id at every word
};

struct MemoryBehaviour {
  ChannelStall ar, r, aw, w, b;
  ReadOrder order = ReadOrder::kAccepted;
  bool ready_after_valid = false;  // no ready before valid is seen
  bool aw_waits_for_w = false;     // no AWREADY before WVALID is seen
};

// Reads or writes that touch [begin, end) are answered with `response`.
struct InjectedError {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint8_t response = kRespSlaveError;
  bool on_reads = true;
  bool on_writes = true;
};

struct MemoryCounters {
  std::uint64_t read_bursts = 0;
  std::uint64_t read_words = 0;
  std::uint64_t read_words_of[4] = {};  // by id
  std::uint64_t write_bursts = 0;
  std::uint64_t write_words = 0;
  std::uint64_t write_words_of[2] = {};  // by id, with the last word of the burst
  std::uint64_t errors_sent = 0;
  std::uint64_t stalled_cycles[5] = {};  // valid without ready: ar, r, aw, w, b
  std::uint64_t words_put_off = 0;       // cycles in which a word was there and the memory paused
  std::uint64_t answers_put_off = 0;
  std::uint64_t interleaved_words = 0;  // of another id than the word before, inside a burst
  std::uint64_t most_outstanding = 0;
};

class AxiMemory {
 public:
  AxiMemory(std::uint32_t port_bytes, const MemoryTiming& timing, const MemoryBehaviour& behaviour,
            std::uint64_t seed);

  ByteMemory& bytes() { return bytes_; }
  const ByteMemory& bytes() const { return bytes_; }
  void inject(const InjectedError& error) { errors_.push_back(error); }
  void clear_errors() { errors_.clear(); }

  // One cycle: what the unit drives and what was driven to it before the edge; `to_unit` becomes
  // what is driven after it.
  void clock(const AxiFromUnit& unit, AxiToUnit& to_unit, bool reset);

  // Nothing accepted waits for an answer.
  bool idle() const;
  const MemoryCounters& counters() const { return counters_; }
  const Findings& findings() const { return findings_; }
  std::uint64_t rules_checked() const { return rules_.checked(); }

 private:
  struct ReadWord {
    BusWord data{};
    std::uint8_t response = kRespOkay;
    std::uint64_t ready_fs = 0;
  };
  struct ReadBurst {
    AxiAddress address;
    std::uint64_t order = 0;
    std::uint32_t next = 0;
    std::vector<ReadWord> words;
  };
  struct WriteWord {
    BusWord data{};
    BusStrobes strobes{};
    bool last = false;
  };
  struct WriteBurst {
    AxiAddress address;
    std::vector<WriteWord> words;
    std::uint64_t ready_fs = 0;
    bool served = false;
    bool allowed = true;
  };

  void accept_read(const AxiAddress& address);
  void accept_write_word(const AxiFromUnit& unit);
  void match_writes();
  void commit(const WriteBurst& burst);
  void check_hazard(const AxiAddress& address, bool write);
  std::uint8_t response_of(std::uint64_t begin, std::uint64_t end, bool write) const;
  void drive_ready(const AxiFromUnit& unit, AxiToUnit& to_unit);
  void drive_read(AxiToUnit& to_unit);
  void drive_answer(AxiToUnit& to_unit);
  ReadBurst* choose_read();
  std::size_t choose_answer();
  bool pauses(const ChannelStall& stall);
  bool any_word_ready() const;
  bool any_answer_ready() const;
  void reset_traffic(AxiToUnit& to_unit);
  std::uint64_t outstanding() const;
  std::uint64_t now_fs() const { return cycle_ * timing_.period_fs; }

  std::uint32_t port_bytes_;
  MemoryTiming timing_;
  MemoryBehaviour behaviour_;
  Random random_;
  ByteMemory bytes_;
  Findings findings_;
  AxiRules rules_;
  ChannelBookings bookings_;
  MemoryCounters counters_;
  std::vector<InjectedError> errors_;
  std::uint64_t cycle_ = 0;
  std::uint64_t order_ = 0;
  std::deque<ReadBurst> reads_[4];     // by id
  int read_in_progress_ = -1;          // id whose burst has begun and not ended
  std::deque<WriteBurst> writes_;      // addresses accepted, in order, until answered
  std::size_t answered_ = 0;           // the one on the answer channel
  std::deque<WriteWord> early_words_;  // data without an address yet
};

}  // namespace santa::cosim
