// Reads and writes of a DRAM channel, which is where a simulation spends its time.
#include <algorithm>

#include "dram_channel.hpp"

namespace santa::sim {

DramLimit DramChannel::limit_of_column(const Active& active, std::uint64_t cycle) const {
  const Group& group = groups_[active.group];
  const Bank& bank = banks_[active.bank];
  if (column_at_[active.direction] == cycle) return column_limit_[active.direction];
  if (group.column_at[active.direction] == cycle) return group.column_limit[active.direction];
  if (bank.column_at[active.direction] == cycle) return bank.row_limit;
  return DramLimit::kLatency;
}

void DramChannel::account(std::uint64_t data_start, DramLimit limit) {
  const auto time = [&](DramLimit what) -> std::uint64_t& {
    return sums_.time_cycles[index_of(what)];
  };
  ++sums_.bursts;
  ++sums_.limited_bursts[index_of(limit)];
  if (data_start > data_end_) {
    const std::uint64_t asked = std::clamp(waiting_since_, data_end_, data_start);
    time(DramLimit::kNoRequest) += asked - data_end_;
    time(limit) += data_start - asked;
  }
  time(DramLimit::kBus) += timing_.burst;
  data_end_ = data_start + timing_.burst;
}

// Issues the chosen read or write, and those that follow it on the bus without a gap, up to
// `last_cycle`, which nothing else happens before: what choosing again after each would do. All
// arrivals up to `cycle` are known.
void DramChannel::issue_columns(const Choice& first, std::uint64_t last_cycle, std::uint64_t cycle,
                                std::vector<DramCompletion>& completions) {
  const Active* active = &active_[banks_[first.bank].place];
  const Direction direction = active->direction;
  account(first.cycle + timing_.data[direction], limit_of_column(*active, first.cycle));
  // Where a change of direction is quicker than the next burst, it has to be chosen.
  const bool is_alone = is_overdue_ || timing_.read_to_write <= timing_.tccd_s ||
                        timing_.write_to_read_s <= timing_.tccd_s;
  Series series{first.cycle, std::min(last_cycle, known_until(cycle)), cycle,
                is_alone ? 1 : slack_ + 1, 0};
  while (active != nullptr) {
    const Active* partner =
        series.left > 1 ? partner_of(*active, series.next + timing_.tccd_s) : nullptr;
    take_turns(active->bank, partner != nullptr ? partner->bank : active->bank, series,
               completions);
    admit_until(series);
    active = series.is_open() ? oldest_ready(direction, series.next) : nullptr;
  }
  // What follows the first burst has waited for the bus alone.
  const std::uint64_t more = series.issued - 1;
  sums_.bursts += more;
  sums_.limited_bursts[index_of(DramLimit::kBus)] += more;
  sums_.time_cycles[index_of(DramLimit::kBus)] += more * timing_.tccd_s;
  data_end_ += more * timing_.tccd_s;
  hold_bus(direction, series.next - timing_.tccd_s);
}

// One burst of the first bank's hit, or of both in turns until one of them is done. Of two that are
// equally long, the second one has the last turn too: nothing else of the first one's group can be
// read or written that soon, nor its bank closed.
void DramChannel::take_turns(std::uint32_t first, std::uint32_t second, Series& series,
                             std::vector<DramCompletion>& completions) {
  const std::uint64_t start = series.next;
  const std::array<std::uint32_t, 2> banks = {first, second};
  const bool is_last_turn_free =
      timing_.tccd_l > timing_.tccd_s &&
      timing_.to_precharge[direction_of(hit_of(first))] >= timing_.tccd_s;
  std::uint64_t turns = 0;
  for (bool is_done = false; !is_done && series.is_open();) {
    std::uint32_t& now = hit_of(banks[turns % 2]).run.bursts;
    std::uint32_t& then = hit_of(banks[(turns + 1) % 2]).run.bursts;
    std::uint64_t count = 1;
    if (first != second) {
      const std::uint64_t longer = now == then && is_last_turn_free ? 0 : 1;
      count = std::min({now <= then ? 2 * std::uint64_t{now} - longer : 2 * std::uint64_t{then},
                        series.left, bursts_before_entry(series.next)});
      if ((count - 1) * timing_.tccd_s > series.last_cycle - series.next) {
        count = (series.last_cycle - series.next) / timing_.tccd_s + 1;
      }
    }
    now -= static_cast<std::uint32_t>(count - count / 2);
    if (count > 1) then -= static_cast<std::uint32_t>(count / 2);
    is_done = first == second || now == 0 || then == 0;
    turns += count;
    in_window_ -= count;
    bursts_issued_ += count;
    series.issued += count;
    series.left -= count;
    series.next += count * timing_.tccd_s;
    current_ = series.next - timing_.tccd_s;
    if (!is_done) admit_until(series);
  }
  for (std::uint64_t turn = 0; turn < std::min<std::uint64_t>(turns, 2); ++turn) {
    const std::uint64_t last_turn = turns - 1 - ((turns - 1) % 2 == turn ? 0 : 1);
    const std::uint64_t row = finish(banks[turn], start + last_turn * timing_.tccd_s, completions);
    series.last_cycle = std::min(series.last_cycle, row);
  }
}

// Runs that enter the window before the next burst of a series; one may need a row before it.
void DramChannel::admit_until(Series& series) {
  while (series.is_open() && can_admit(series.next)) {
    series.last_cycle = std::min(series.last_cycle, admit());
  }
  series.last_cycle = std::min(series.last_cycle, known_until(series.arrivals_cycle));
}

// The oldest run for an open row that can be read or written at `cycle`; null if there is none.
const DramChannel::Active* DramChannel::oldest_ready(Direction direction,
                                                     std::uint64_t cycle) const {
  for (const Active& active : active_) {
    if (active.is_hit && active.direction == direction && ready_cycle(active) <= cycle) {
      return &active;
    }
  }
  return nullptr;
}

// The run that takes turns with `one`, from `cycle` on, in another bank group, until one of the two
// is done; null where a third one could come between them.
const DramChannel::Active* DramChannel::partner_of(const Active& one, std::uint64_t cycle) const {
  if (timing_.tccd_l > 2 * timing_.tccd_s) return nullptr;
  const Active* partner = nullptr;
  bool is_younger = false;
  for (const Active& active : active_) {
    if (&active == &one) {
      if (partner != nullptr) return partner;
      is_younger = true;
    } else if (active.is_hit && active.direction == one.direction) {
      if (is_younger && active.group == one.group) continue;
      if (is_younger) return ready_cycle(active) <= cycle ? &active : nullptr;
      if (partner != nullptr && active.group == partner->group) continue;
      if (partner != nullptr || active.group == one.group || ready_cycle(active) > cycle) {
        return nullptr;
      }
      partner = &active;
    }
  }
  return nullptr;
}

// Bursts from `next` on, one every tCCD_S, at least until another run enters the window.
std::uint64_t DramChannel::bursts_before_entry(std::uint64_t next) const {
  if (in_window_ >= window_) return in_window_ - window_ + 1;
  if (arrivals_.empty()) return kNever;
  return (arrivals_.front().cycle - 1 - next) / timing_.tccd_s + 1;
}

// After bursts of a bank's hit, the last one at `cycle`: takes the run away if it is done. Returns
// when its bank could be opened or closed for the next one, kNever where it has no such work.
std::uint64_t DramChannel::finish(std::uint32_t bank_number, std::uint64_t cycle,
                                  std::vector<DramCompletion>& completions) {
  Bank& bank = banks_[bank_number];
  const Waiting& waiting = bank.waiting[bank.hit];
  const Direction direction = direction_of(waiting);
  hold_group(group_of(bank_number), direction, cycle);
  bank.precharge_at = std::max(bank.precharge_at, cycle + timing_.to_precharge[direction]);
  if (waiting.run.bursts > 0) return kNever;
  completions.push_back({waiting.run.tag, cycle + timing_.data[direction] + timing_.burst});
  if (!waiting.opened_row) ++sums_.row_hits;
  bank.waiting.erase(bank.waiting.begin() + static_cast<std::ptrdiff_t>(bank.hit));
  find_hit(bank);
  update(bank_number);
  const bool is_row_needed = bank.hit == kNone && !bank.waiting.empty();
  return is_row_needed ? row_cycle(bank, group_of(bank_number)) : kNever;
}

void DramChannel::hold(std::uint64_t& at, DramLimit& limit, std::uint64_t until, DramLimit why) {
  if (until <= at) return;
  at = until;
  limit = why;
}

// Reads and writes of a group after one of it at `cycle`.
void DramChannel::hold_group(Group& group, Direction direction, std::uint64_t cycle) {
  hold(group.column_at[direction], group.column_limit[direction], cycle + timing_.tccd_l,
       DramLimit::kBankGroup);
  if (direction == kWrite) {
    hold(group.column_at[kRead], group.column_limit[kRead], cycle + timing_.write_to_read_l,
         DramLimit::kTurnaround);
  }
}

// Reads and writes of the channel after one at `cycle`.
void DramChannel::hold_bus(Direction direction, std::uint64_t cycle) {
  hold(column_at_[direction], column_limit_[direction], cycle + timing_.tccd_s, DramLimit::kBus);
  const Direction other = direction == kRead ? kWrite : kRead;
  hold(column_at_[other], column_limit_[other],
       cycle + (direction == kRead ? timing_.read_to_write : timing_.write_to_read_s),
       DramLimit::kTurnaround);
}

}  // namespace santa::sim
