#include "santa/cosim/axi_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace santa::cosim {
namespace {

constexpr int kReadIds = 4;
enum Channel : std::size_t { kAr, kR, kAw, kW, kB };

bool overlap(const AxiAddress& a, const AxiAddress& b, std::uint32_t word_bytes) {
  const auto end = [&](const AxiAddress& x) {
    return x.address + (std::uint64_t{x.length} + 1) * word_bytes;
  };
  return a.address < end(b) && b.address < end(a);
}

}  // namespace

AxiMemory::AxiMemory(std::uint32_t port_bytes, const MemoryTiming& timing,
                     const MemoryBehaviour& behaviour, std::uint64_t seed)
    : port_bytes_(port_bytes),
      timing_(timing),
      behaviour_(behaviour),
      random_(seed),
      rules_(port_bytes, bytes_, findings_),
      bookings_(timing) {}

std::uint64_t AxiMemory::outstanding() const {
  std::uint64_t count = writes_.size();
  for (const auto& queue : reads_) count += queue.size();
  return count;
}

bool AxiMemory::idle() const {
  return outstanding() == 0 && early_words_.empty();
}

bool AxiMemory::pauses(const ChannelStall& stall) {
  if (stall.alternate && cycle_ % 2 == 0) return true;
  return stall.probability > 0.0 && random_.chance(stall.probability);
}

std::uint8_t AxiMemory::response_of(std::uint64_t begin, std::uint64_t end, bool write) const {
  for (const InjectedError& error : errors_) {
    const bool meant = write ? error.on_writes : error.on_reads;
    if (meant && begin < error.end && error.begin < end) return error.response;
  }
  return kRespOkay;
}

// AXI orders nothing between reads and writes: the unit must wait for the answer of one before it
// asks for the other.
void AxiMemory::check_hazard(const AxiAddress& address, bool write) {
  const auto report = [&](const char* older) {
    rules_.report(cycle_, fmt::format("{} at 0x{:x} while a {} of the same bytes is not answered",
                                      write ? "write" : "read", address.address, older));
  };
  for (const WriteBurst& other : writes_) {
    if (overlap(address, other.address, port_bytes_)) report("write");
  }
  if (!write) return;
  for (const auto& queue : reads_) {
    for (const ReadBurst& other : queue) {
      if (overlap(address, other.address, port_bytes_)) report("read");
    }
  }
}

void AxiMemory::accept_read(const AxiAddress& address) {
  ++counters_.read_bursts;
  const bool served = rules_.check_burst(address, false, cycle_);
  check_hazard(address, false);
  ReadBurst burst;
  burst.address = address;
  burst.order = order_++;
  const std::uint32_t words = address.length + 1U;
  std::vector<std::uint64_t> done;
  bookings_.book(address.address, words, port_bytes_, now_fs(), done);
  for (std::uint32_t i = 0; i < words; ++i) {
    const std::uint64_t begin = address.address + std::uint64_t{i} * port_bytes_;
    ReadWord word;
    word.ready_fs = done[i];
    word.response = served ? response_of(begin, begin + port_bytes_, false) : kRespDecodeError;
    bytes_.read(begin, word.data.data(), port_bytes_);
    if (word.response != kRespOkay) {
      ++counters_.errors_sent;
      for (std::uint32_t b = 0; b < port_bytes_; ++b) {
        word.data[b] = static_cast<std::uint8_t>(random_.next());
      }
    }
    burst.words.push_back(word);
  }
  reads_[address.id % kReadIds].push_back(std::move(burst));
}

void AxiMemory::accept_write_word(const AxiFromUnit& unit) {
  ++counters_.write_words;
  early_words_.push_back({unit.wdata, unit.wstrb, unit.wlast});
}

// Data follows its addresses in order, and may come before them.
void AxiMemory::match_writes() {
  for (WriteBurst& burst : writes_) {
    const std::size_t words = burst.address.length + std::size_t{1};
    while (burst.words.size() < words && !early_words_.empty()) {
      const WriteWord word = early_words_.front();
      early_words_.pop_front();
      rules_.check_word(burst.address, static_cast<std::uint32_t>(burst.words.size()), word.last,
                        word.strobes, cycle_);
      burst.words.push_back(word);
    }
    if (burst.words.size() < words) return;
    if (burst.served) continue;
    burst.served = true;
    counters_.write_words_of[burst.address.id % 2] += words;
    std::vector<std::uint64_t> done;
    bookings_.book(burst.address.address, static_cast<std::uint32_t>(words), port_bytes_, now_fs(),
                   done);
    burst.ready_fs = done.back();
  }
}

void AxiMemory::commit(const WriteBurst& burst) {
  for (std::size_t i = 0; i < burst.words.size(); ++i) {
    const std::uint64_t begin = burst.address.address + i * port_bytes_;
    for (std::uint32_t b = 0; b < port_bytes_; ++b) {
      const bool strobed = (burst.words[i].strobes[b / 8] >> (b % 8) & 1) != 0;
      if (strobed && bytes_.find(begin + b) != nullptr)
        bytes_.write(begin + b, burst.words[i].data[b]);
    }
  }
}

AxiMemory::ReadBurst* AxiMemory::choose_read() {
  const auto ready = [&](const std::deque<ReadBurst>& queue) {
    return !queue.empty() && queue.front().words[queue.front().next].ready_fs <= now_fs();
  };
  if (read_in_progress_ >= 0 && behaviour_.order != ReadOrder::kInterleaved) {
    std::deque<ReadBurst>& queue = reads_[read_in_progress_];
    return ready(queue) ? &queue.front() : nullptr;
  }
  ReadBurst* chosen = nullptr;
  std::uint32_t candidates = 0;
  for (auto& queue : reads_) {
    if (queue.empty()) continue;
    if (behaviour_.order == ReadOrder::kAccepted) {
      if (chosen == nullptr || queue.front().order < chosen->order) chosen = &queue.front();
    } else if (ready(queue)) {
      ++candidates;
      if (random_.below(candidates) == 0) chosen = &queue.front();
    }
  }
  if (chosen == nullptr) return nullptr;
  return ready(reads_[chosen->address.id % kReadIds]) ? chosen : nullptr;
}

bool AxiMemory::any_word_ready() const {
  return std::any_of(std::begin(reads_), std::end(reads_), [&](const auto& queue) {
    return !queue.empty() && queue.front().words[queue.front().next].ready_fs <= now_fs();
  });
}

bool AxiMemory::any_answer_ready() const {
  return !writes_.empty() && writes_.front().served && writes_.front().ready_fs <= now_fs();
}

void AxiMemory::drive_read(AxiToUnit& to_unit) {
  if (to_unit.rvalid) return;  // presented and not taken
  if (pauses(behaviour_.r)) {
    counters_.words_put_off += any_word_ready() ? 1U : 0U;
    return;
  }
  ReadBurst* burst = choose_read();
  if (burst == nullptr) return;
  const int id = burst->address.id % kReadIds;
  if (read_in_progress_ >= 0 && read_in_progress_ != id) ++counters_.interleaved_words;
  const ReadWord& word = burst->words[burst->next];
  to_unit.rvalid = true;
  to_unit.rid = burst->address.id;
  to_unit.rdata = word.data;
  to_unit.rresp = word.response;
  to_unit.rlast = burst->next + 1 == burst->words.size();
  read_in_progress_ = to_unit.rlast ? -1 : id;
}

// The oldest write that may be answered, or the oldest of any id; writes_.size() if there is none.
std::size_t AxiMemory::choose_answer() {
  std::size_t chosen = writes_.size();
  std::uint32_t candidates = 0;
  unsigned ids_seen = 0;
  for (std::size_t i = 0; i < writes_.size(); ++i) {
    const WriteBurst& burst = writes_[i];
    if (!burst.served) break;
    const unsigned id = 1U << burst.address.id;
    if ((ids_seen & id) == 0 && burst.ready_fs <= now_fs() && random_.below(++candidates) == 0) {
      chosen = i;
    }
    ids_seen |= id;
    if (behaviour_.order == ReadOrder::kAccepted) break;
  }
  return chosen;
}

void AxiMemory::drive_answer(AxiToUnit& to_unit) {
  if (to_unit.bvalid) return;
  if (pauses(behaviour_.b)) {
    counters_.answers_put_off += any_answer_ready() ? 1U : 0U;
    return;
  }
  answered_ = choose_answer();
  if (answered_ == writes_.size()) return;
  const WriteBurst& burst = writes_[answered_];
  const std::uint64_t bytes = burst.words.size() * port_bytes_;
  to_unit.bvalid = true;
  to_unit.bid = burst.address.id;
  to_unit.bresp = burst.allowed
                      ? response_of(burst.address.address, burst.address.address + bytes, true)
                      : kRespDecodeError;
  if (to_unit.bresp == kRespOkay) {
    commit(burst);
  } else {
    ++counters_.errors_sent;
  }
}

void AxiMemory::drive_ready(const AxiFromUnit& unit, AxiToUnit& to_unit) {
  const std::uint64_t room =
      timing_.max_outstanding > outstanding() ? timing_.max_outstanding - outstanding() : 0;
  const bool seen = !behaviour_.ready_after_valid;
  // One place left goes to reads and writes in turn, two cycles each: stalls may alternate.
  const bool read_room = room > 1 || (room == 1 && cycle_ / 2 % 2 == 0);
  const bool write_room = room > 1 || (room == 1 && cycle_ / 2 % 2 == 1);
  to_unit.arready =
      read_room && (seen || (unit.ar.valid && !to_unit.arready)) && !pauses(behaviour_.ar);
  to_unit.awready = write_room && (seen || (unit.aw.valid && !to_unit.awready)) &&
                    (!behaviour_.aw_waits_for_w || unit.wvalid || !early_words_.empty()) &&
                    !pauses(behaviour_.aw);
  to_unit.wready = (seen || (unit.wvalid && !to_unit.wready)) && !pauses(behaviour_.w);
}

void AxiMemory::reset_traffic(AxiToUnit& to_unit) {
  for (auto& queue : reads_) queue.clear();
  writes_.clear();
  early_words_.clear();
  read_in_progress_ = -1;
  to_unit = AxiToUnit{};
}

void AxiMemory::clock(const AxiFromUnit& unit, AxiToUnit& to_unit, bool reset) {
  rules_.observe(unit, to_unit, reset, cycle_);
  const bool valid[] = {unit.ar.valid, to_unit.rvalid, unit.aw.valid, unit.wvalid, to_unit.bvalid};
  const bool ready[] = {to_unit.arready, unit.rready, to_unit.awready, to_unit.wready, unit.bready};
  for (std::size_t c = 0; c < 5; ++c) counters_.stalled_cycles[c] += valid[c] && !ready[c] ? 1 : 0;
  ++cycle_;
  if (reset) {
    reset_traffic(to_unit);
    return;
  }
  if (valid[kR] && ready[kR]) {
    std::deque<ReadBurst>& queue = reads_[to_unit.rid % kReadIds];
    ++counters_.read_words;
    ++counters_.read_words_of[to_unit.rid % kReadIds];
    if (++queue.front().next == queue.front().words.size()) queue.pop_front();
    to_unit.rvalid = false;
  }
  if (valid[kB] && ready[kB]) {
    writes_.erase(writes_.begin() + static_cast<std::ptrdiff_t>(answered_));
    to_unit.bvalid = false;
  }
  if (valid[kAr] && ready[kAr]) accept_read(unit.ar);
  if (valid[kW] && ready[kW]) accept_write_word(unit);
  if (valid[kAw] && ready[kAw]) {
    ++counters_.write_bursts;
    const bool allowed = rules_.check_burst(unit.aw, true, cycle_);
    check_hazard(unit.aw, true);
    writes_.push_back({unit.aw, {}, 0, false, allowed});
  }
  match_writes();
  counters_.most_outstanding = std::max(counters_.most_outstanding, outstanding());
  drive_read(to_unit);
  drive_answer(to_unit);
  drive_ready(unit, to_unit);
}

}  // namespace santa::cosim
