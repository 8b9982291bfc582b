// One DRAM channel: banks, timing constraints, refresh, and the scheduler in front of them. Plain
// arithmetic on whole clock cycles, without SystemC: work is done a command at a time, never a
// cycle at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "dram_timing.hpp"
#include "santa/config/dram.hpp"
#include "santa/sim/dram_counters.hpp"

namespace santa::sim {

// Bursts that follow one another in one row of one bank.
struct DramRun {
  std::uint32_t bank = 0;
  std::uint32_t row = 0;
  std::uint32_t bursts = 0;
  std::uint32_t tag = 0;  // of the owner, handed back when the last burst is placed
  bool is_write = false;
};

struct DramCompletion {
  std::uint32_t tag = 0;
  std::uint64_t data_end_cycle = 0;  // when the run's last data has crossed the bus
};

// Scheduler. The oldest `window_bursts` bursts that have arrived compete, to which a run belongs as
// a whole. Of all commands that some burst waits for, the one that can be issued first is issued;
// at one time, reads and writes go before activates and precharges, and older bursts before younger
// ones. A bank with a burst for its open row keeps that row. When 4 windows of bursts have
// overtaken the oldest one, reads and writes wait for it. Rows stay open until another row or a
// refresh needs the bank.
//
// Refresh. One of all banks is due every tREFI. It is issued when no burst waits, or when more than
// `refresh_postponed` are due; then all that are due follow one another.
//
// Not modelled: the command bus (commands of one cycle do not disturb one another) and what differs
// between stack levels beyond bank groups.
class DramChannel {
 public:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  explicit DramChannel(const config::DramConfig& dram);

  // A run that arrives at `cycle`, which never falls from call to call and is not before the last
  // advance().
  void push(const DramRun& run, std::uint64_t cycle);

  // Issues every command up to `cycle`, and appends the runs that it completes. Goes on as long as
  // no run that arrives later can change what is issued: while the window is full, or others wait
  // to enter it.
  void advance(std::uint64_t cycle, std::vector<DramCompletion>& completions);

  // No earlier than this a read or write will be issued; kNever without work.
  std::uint64_t next_cycle() const;

  // Cycles from a read or write command to the end of its data, the smaller of both.
  std::uint64_t shortest_access_cycles() const {
    return std::min(timing_.data[kDramRead], timing_.data[kDramWrite]) + timing_.burst;
  }

  std::size_t banks() const { return banks_.size(); }

  // Sums so far, in cycles of this channel.
  const DramSums& sums() const { return sums_; }
  // The same with the idle time up to `cycle`.
  DramSums sums_until(std::uint64_t cycle) const;

 private:
  using Direction = DramDirection;
  static constexpr Direction kRead = kDramRead;
  static constexpr Direction kWrite = kDramWrite;
  static constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  struct Waiting {
    DramRun run;
    std::uint64_t order = 0;      // of arrival
    std::uint64_t entered = 0;    // cycle of entry into the window
    std::uint64_t overtaken = 0;  // bursts issued before this one entered
    bool opened_row = false;      // an activate was issued for it
  };
  struct Arrival {
    DramRun run;
    std::uint64_t cycle = 0;
  };
  struct Bank {
    std::uint32_t row = kNoRow;
    std::uint64_t activate_at = 0;
    std::uint64_t precharge_at = 0;
    std::array<std::uint64_t, 2> column_at{};        // by Direction: activate + tRCD
    DramLimit activate_limit = DramLimit::kLatency;  // what set activate_at
    DramLimit row_limit = DramLimit::kLatency;       // what set the time of the last activate
    std::vector<Waiting> waiting;                    // in the window, by age
    std::size_t hit = kNone;                         // oldest of them for the open row
    std::size_t place = kNone;                       // in active_
  };
  struct Group {
    std::array<std::uint64_t, 2> column_at{};
    std::array<DramLimit, 2> column_limit{};
    std::uint64_t activate_at = 0;
  };
  // What the scheduler looks at of a bank with bursts in the window.
  struct Active {
    std::uint64_t oldest = 0;  // order of its oldest run
    std::uint64_t order = 0;   // of the oldest run for the open row, else of the oldest one
    std::uint64_t ready = 0;   // when the bank could read or write for that run
    std::uint32_t bank = 0;
    std::uint32_t group = 0;
    Direction direction = kRead;
    bool is_hit = false;
  };
  struct Choice {
    std::uint64_t cycle = kNever;
    std::uint64_t order = kNever;
    std::uint32_t bank = 0;
    bool better_than(const Choice& other) const {
      return cycle != other.cycle ? cycle < other.cycle : order < other.order;
    }
  };

  // Reads or writes that follow one another every tCCD_S.
  struct Series {
    std::uint64_t next = 0;            // cycle of the next one
    std::uint64_t last_cycle = 0;      // of the series
    std::uint64_t arrivals_cycle = 0;  // all arrivals until then are known
    std::uint64_t left = 0;            // bursts that may still be issued
    std::uint64_t issued = 0;
    bool is_open() const { return left > 0 && next <= last_cycle; }
  };

  std::uint64_t admit();
  bool can_admit(std::uint64_t cycle) const {
    return in_window_ < window_ && !arrivals_.empty() && arrivals_.front().cycle <= cycle;
  }
  // Until when commands are known if all arrivals up to `cycle` are: one that comes later enters
  // the window behind those that wait, and never a full one.
  std::uint64_t known_until(std::uint64_t cycle) const {
    return in_window_ < window_ && arrivals_.empty() ? cycle : kNever;
  }
  void choose(Choice& column, Choice& row);
  std::uint64_t row_cycle(const Bank& bank, const Group& group) const;
  std::uint64_t refresh_cycle() const;
  void issue_columns(const Choice& first, std::uint64_t last_cycle, std::uint64_t cycle,
                     std::vector<DramCompletion>& completions);
  void take_turns(std::uint32_t first, std::uint32_t second, Series& series,
                  std::vector<DramCompletion>& completions);
  void admit_until(Series& series);
  const Active* oldest_ready(Direction direction, std::uint64_t cycle) const;
  const Active* partner_of(const Active& one, std::uint64_t cycle) const;
  std::uint64_t bursts_before_entry(std::uint64_t next) const;
  std::uint64_t finish(std::uint32_t bank_number, std::uint64_t cycle,
                       std::vector<DramCompletion>& completions);
  Waiting& hit_of(std::uint32_t bank) { return banks_[bank].waiting[banks_[bank].hit]; }
  static void hold(std::uint64_t& at, DramLimit& limit, std::uint64_t until, DramLimit why);
  void hold_group(Group& group, Direction direction, std::uint64_t cycle);
  void hold_bus(Direction direction, std::uint64_t cycle);
  // When the bank and its group could read or write for its hit, whatever the bus does.
  std::uint64_t ready_cycle(const Active& active) const {
    return std::max(active.ready, groups_[active.group].column_at[active.direction]);
  }
  void update(std::uint32_t bank_number);
  static Direction direction_of(const Waiting& waiting) {
    return waiting.run.is_write ? kWrite : kRead;
  }
  void issue_row(const Choice& choice);
  void issue_refresh(std::uint64_t cycle);
  void account(std::uint64_t data_start, DramLimit limit);
  DramLimit limit_of_column(const Active& active, std::uint64_t cycle) const;
  void find_hit(Bank& bank);
  Group& group_of(std::uint32_t bank) { return groups_[bank / banks_per_group_]; }
  const Group& group_of(std::uint32_t bank) const { return groups_[bank / banks_per_group_]; }

  DramTiming timing_;
  std::uint64_t postponed_;
  std::uint64_t window_;
  std::uint32_t banks_per_group_;

  std::vector<Bank> banks_;
  std::vector<Group> groups_;
  std::vector<Active> active_;    // by order
  std::deque<Arrival> arrivals_;  // not in the window yet
  std::uint64_t in_window_ = 0;   // bursts
  std::uint64_t orders_ = 0;
  std::uint64_t bursts_issued_ = 0;
  bool is_overdue_ = false;    // nobody may overtake the oldest burst any more
  std::uint64_t slack_ = 0;    // bursts that may still overtake the oldest one in the window
  std::uint64_t current_ = 0;  // cycle of the last command
  std::uint64_t next_command_ = kNever;  // of the bursts in the window, after the last advance()
  // Of the channel:
  std::array<std::uint64_t, 2> column_at_{};
  std::array<DramLimit, 2> column_limit_{};
  std::uint64_t activate_at_ = 0;
  std::array<std::uint64_t, 4> activates_{};  // cycles + tFAW of the last four
  std::size_t oldest_activate_ = 0;
  std::uint64_t refreshes_issued_ = 0;
  std::uint64_t waiting_since_ = 0;  // arrival of the first burst after an empty window
  std::uint64_t data_end_ = 0;
  DramSums sums_;
};

}  // namespace santa::sim
