#include "dram_channel.hpp"

#include <algorithm>

namespace santa::sim {
namespace {

constexpr std::uint64_t kOvertakingWindows = 4;

}  // namespace

DramChannel::DramChannel(const config::DramConfig& dram)
    : timing_(dram),
      postponed_(static_cast<std::uint64_t>(dram.refresh_postponed)),
      window_(static_cast<std::uint64_t>(dram.window_bursts)),
      banks_per_group_(static_cast<std::uint32_t>(dram.banks_per_group)),
      banks_(static_cast<std::size_t>(dram.banks())),
      groups_(static_cast<std::size_t>(dram.stacks * dram.bank_groups)) {}

void DramChannel::push(const DramRun& run, std::uint64_t cycle) {
  arrivals_.push_back({run, cycle});
}

// Takes the first arrival. Returns when the bank could be opened or closed for it, kNever where the
// bank has other work before.
std::uint64_t DramChannel::admit() {
  const Arrival& arrival = arrivals_.front();
  const DramRun& run = arrival.run;
  Bank& bank = banks_[run.bank];
  current_ = std::max(current_, arrival.cycle);
  if (in_window_ == 0) waiting_since_ = arrival.cycle;
  in_window_ += run.bursts;
  bank.waiting.push_back({run, orders_++, current_, bursts_issued_, false});
  const bool is_first = bank.waiting.size() == 1;
  const bool is_hit = bank.hit == kNone && bank.row == run.row;
  if (is_hit) bank.hit = bank.waiting.size() - 1;
  if (is_hit || is_first) update(run.bank);
  const bool is_row_needed = is_first && !is_hit;
  const std::uint64_t cycle = is_row_needed ? row_cycle(bank, group_of(run.bank)) : kNever;
  arrivals_.pop_front();
  return cycle;
}

// After a change of a bank's waiting runs, or of its row: its entry among the others, by age.
void DramChannel::update(std::uint32_t bank_number) {
  Bank& bank = banks_[bank_number];
  std::size_t place = bank.place;
  if (place == kNone) {
    place = active_.size();
    active_.emplace_back();
  }
  const auto move = [&](std::size_t to, std::size_t from) {
    active_[to] = active_[from];
    banks_[active_[to].bank].place = to;
  };
  if (bank.waiting.empty()) {
    for (; place + 1 < active_.size(); ++place) move(place, place + 1);
    active_.pop_back();
    bank.place = kNone;
    return;
  }
  Active active;
  active.is_hit = bank.hit != kNone;
  const Waiting& waiting = bank.waiting[active.is_hit ? bank.hit : 0];
  active.oldest = bank.waiting.front().order;
  active.order = waiting.order;
  active.direction = direction_of(waiting);
  active.ready = std::max(bank.column_at[active.direction], waiting.entered);
  active.bank = bank_number;
  active.group = bank_number / banks_per_group_;
  for (; place > 0 && active_[place - 1].order > active.order; --place) move(place, place - 1);
  for (; place + 1 < active_.size() && active_[place + 1].order < active.order; ++place) {
    move(place, place + 1);
  }
  active_[place] = active;
  bank.place = place;
}

// The precharge or activate that the bank's oldest burst needs.
std::uint64_t DramChannel::row_cycle(const Bank& bank, const Group& group) const {
  const std::uint64_t earliest = std::max(bank.waiting.front().entered, current_);
  if (bank.row != kNoRow) return std::max(earliest, bank.precharge_at);
  return std::max(
      {earliest, bank.activate_at, group.activate_at, activate_at_, activates_[oldest_activate_]});
}

void DramChannel::choose(Choice& column, Choice& row) {
  std::uint64_t oldest = kNever;
  std::uint32_t oldest_bank = 0;
  const std::array<std::uint64_t, 2> bus_at = {std::max(column_at_[kRead], current_),
                                               std::max(column_at_[kWrite], current_)};
  for (const Active& active : active_) {
    if (active.oldest < oldest) {
      oldest = active.oldest;
      oldest_bank = active.bank;
    }
    if (active.is_hit) {
      const std::uint64_t cycle = std::max(ready_cycle(active), bus_at[active.direction]);
      const Choice choice{cycle, active.order, active.bank};
      if (choice.better_than(column)) column = choice;
    } else {
      const std::uint64_t cycle = row_cycle(banks_[active.bank], groups_[active.group]);
      const Choice choice{cycle, active.oldest, active.bank};
      if (choice.better_than(row)) row = choice;
    }
  }
  if (oldest == kNever) return;
  const Bank& bank = banks_[oldest_bank];
  const Waiting& first = bank.waiting.front();
  const std::uint64_t overtaken = bursts_issued_ - first.overtaken;
  is_overdue_ = overtaken > kOvertakingWindows * window_;
  slack_ = is_overdue_ ? 0 : kOvertakingWindows * window_ - overtaken;
  if (!is_overdue_) return;
  column = {};
  if (bank.row == first.run.row) {
    // The oldest run of a bank for the open row is its oldest run here.
    const Active& active = active_[bank.place];
    column = {std::max(ready_cycle(active), bus_at[active.direction]), first.order, oldest_bank};
  } else if (bank.hit != kNone) {
    row = {row_cycle(bank, group_of(oldest_bank)), first.order, oldest_bank};
  }
}

// When the next refresh would start: at once without work, else when no more may be postponed.
std::uint64_t DramChannel::refresh_cycle() const {
  if (timing_.trefi == 0) return kNever;
  const std::uint64_t due = (refreshes_issued_ + 1) * timing_.trefi;
  if (in_window_ == 0) return std::max(due, current_);
  return std::max(due + postponed_ * timing_.trefi, current_);
}

std::uint64_t DramChannel::next_cycle() const {
  const bool has_room = in_window_ < window_ && !arrivals_.empty();
  if (!has_room) return next_command_;
  return std::min(next_command_, std::max(arrivals_.front().cycle, current_));
}

void DramChannel::advance(std::uint64_t cycle, std::vector<DramCompletion>& completions) {
  for (;;) {
    if (can_admit(current_)) {
      admit();
      continue;
    }
    Choice column;
    Choice row;
    choose(column, row);
    const std::uint64_t refresh = refresh_cycle();
    const std::uint64_t next = std::min({column.cycle, row.cycle, refresh});
    const std::uint64_t known = known_until(cycle);
    if (can_admit(std::min(next, known))) {
      admit();
      continue;
    }
    if (next > known) {
      next_command_ = std::min(column.cycle, row.cycle);
      return;
    }
    if (refresh == next) {
      issue_refresh(refresh);
    } else if (column.cycle == next) {
      issue_columns(column, std::min(row.cycle, refresh - 1), cycle, completions);
    } else {
      issue_row(row);
    }
  }
}

void DramChannel::find_hit(Bank& bank) {
  bank.hit = kNone;
  for (std::size_t i = 0; i < bank.waiting.size() && bank.hit == kNone; ++i) {
    if (bank.waiting[i].run.row == bank.row) bank.hit = i;
  }
}

void DramChannel::issue_row(const Choice& choice) {
  Bank& bank = banks_[choice.bank];
  Waiting& waiting = bank.waiting.front();
  const std::uint64_t cycle = choice.cycle;
  const bool waited = cycle > waiting.entered;
  if (bank.row != kNoRow) {
    // A precharge that waited for nobody belongs to the latency of its burst.
    bank.activate_limit = waited || bank.activate_at > cycle + timing_.trp ? DramLimit::kRowCycle
                                                                           : DramLimit::kLatency;
    bank.activate_at = std::max(bank.activate_at, cycle + timing_.trp);
    bank.row = kNoRow;
    bank.hit = kNone;
    ++sums_.precharges;
    current_ = cycle;
    update(choice.bank);
    return;
  }
  Group& group = group_of(choice.bank);
  bank.row_limit = DramLimit::kLatency;
  if (waited) {
    if (bank.activate_at == cycle) bank.row_limit = bank.activate_limit;
    if (activate_at_ == cycle || group.activate_at == cycle) bank.row_limit = DramLimit::kRrd;
    if (activates_[oldest_activate_] == cycle) bank.row_limit = DramLimit::kFaw;
  }
  bank.row = waiting.run.row;
  bank.activate_at = cycle + timing_.trc;
  bank.activate_limit = DramLimit::kRowCycle;
  bank.precharge_at = cycle + timing_.tras;
  bank.column_at = {cycle + timing_.trcd[kRead], cycle + timing_.trcd[kWrite]};
  activate_at_ = cycle + timing_.trrd_s;
  group.activate_at = cycle + timing_.trrd_l;
  activates_[oldest_activate_] = cycle + timing_.tfaw;
  oldest_activate_ = (oldest_activate_ + 1) % activates_.size();
  waiting.opened_row = true;
  find_hit(bank);
  update(choice.bank);
  ++sums_.activates;
  current_ = cycle;
}

// All banks are closed first; then all refreshes that are due follow one another.
void DramChannel::issue_refresh(std::uint64_t cycle) {
  std::uint64_t start = cycle;
  for (const Bank& bank : banks_) {
    if (bank.row != kNoRow)
      start = std::max(start, std::max(bank.precharge_at, cycle) + timing_.trp);
    start = std::max(start, bank.activate_at);
  }
  const std::uint64_t due = cycle / timing_.trefi - refreshes_issued_;
  const std::uint64_t end = start + due * timing_.trfc;
  for (Bank& bank : banks_) {
    bank.row = kNoRow;
    bank.hit = kNone;
    bank.activate_at = end;
    bank.activate_limit = DramLimit::kRefresh;
  }
  for (std::uint32_t bank = 0; bank < banks_.size(); ++bank) {
    if (banks_[bank].place != kNone) update(bank);
  }
  refreshes_issued_ += due;
  sums_.refreshes += due;
  current_ = start;
}

DramSums DramChannel::sums_until(std::uint64_t cycle) const {
  DramSums sums = sums_;
  if (cycle > data_end_) {
    const std::uint64_t asked =
        in_window_ > 0 ? std::clamp(waiting_since_, data_end_, cycle) : cycle;
    sums.time_cycles[index_of(DramLimit::kNoRequest)] += asked - data_end_;
    sums.time_cycles[index_of(DramLimit::kLatency)] += cycle - asked;
  }
  return sums;
}

}  // namespace santa::sim
