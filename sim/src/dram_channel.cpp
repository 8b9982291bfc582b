#include "dram_channel.hpp"

#include <algorithm>

namespace santa::sim {
namespace {

constexpr std::uint64_t kOvertakingWindows = 4;
constexpr std::uint64_t kTurnaroundCycles = 2;  // idle bus between read and write data

std::uint64_t u64(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

}  // namespace

DramChannel::DramChannel(const config::DramConfig& dram)
    : burst_(u64(dram.burst_cycles)),
      data_{u64(dram.cl_cycles), u64(dram.cwl_cycles)},
      trcd_{u64(dram.trcd_read_cycles), u64(dram.trcd_write_cycles)},
      trp_(u64(dram.trp_cycles)),
      tras_(u64(dram.tras_cycles)),
      trc_(u64(dram.trc_cycles)),
      tccd_s_(u64(dram.tccd_s_cycles)),
      tccd_l_(u64(dram.tccd_l_cycles)),
      trrd_s_(u64(dram.trrd_s_cycles)),
      trrd_l_(u64(dram.trrd_l_cycles)),
      tfaw_(u64(dram.tfaw_cycles)),
      to_precharge_{u64(dram.trtp_cycles),
                    u64(dram.cwl_cycles + dram.burst_cycles + dram.twr_cycles)},
      read_to_write_(std::max(data_[kRead] + burst_ + kTurnaroundCycles, data_[kWrite] + 1) -
                     data_[kWrite]),
      write_to_read_s_(data_[kWrite] + burst_ + u64(dram.twtr_s_cycles)),
      write_to_read_l_(data_[kWrite] + burst_ + u64(dram.twtr_l_cycles)),
      trefi_(u64(dram.trefi_cycles)),
      trfc_(u64(dram.trfc_cycles)),
      postponed_(u64(dram.refresh_postponed)),
      window_(u64(dram.window_bursts)),
      banks_per_group_(static_cast<std::uint32_t>(dram.banks_per_group)),
      shortest_access_(std::min(data_[kRead], data_[kWrite]) + burst_),
      banks_(static_cast<std::size_t>(dram.banks())),
      groups_(static_cast<std::size_t>(dram.stacks * dram.bank_groups)) {}

void DramChannel::push(const DramRun& run, std::uint64_t cycle) {
  arrivals_.push_back({run, cycle});
}

bool DramChannel::can_admit(std::uint64_t cycle) const {
  return in_window_ < window_ && !arrivals_.empty() && arrivals_.front().cycle <= cycle;
}

// Takes as much of the first arrival as has room. Returns when the bank could be opened or closed
// for it, kNever where the bank has other work before.
std::uint64_t DramChannel::admit() {
  Arrival& arrival = arrivals_.front();
  const DramRun& run = arrival.run;
  Bank& bank = banks_[run.bank];
  current_ = std::max(current_, arrival.cycle);
  if (in_window_ == 0) waiting_since_ = arrival.cycle;
  const auto room = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(window_ - in_window_, run.bursts - front_admitted_));
  const bool is_rest =
      front_admitted_ > 0 && !bank.waiting.empty() && bank.waiting.back().order + 1 == orders_;
  if (is_rest) {
    bank.waiting.back().admitted += room;
  } else {
    if (bank.waiting.empty()) active_.push_back(run.bank);
    Waiting waiting{run, orders_++, current_, bursts_issued_, room, false, front_admitted_ > 0};
    waiting.run.bursts -= front_admitted_;
    bank.waiting.push_back(waiting);
    if (bank.hit == kNone && bank.row == run.row) bank.hit = bank.waiting.size() - 1;
  }
  in_window_ += room;
  front_admitted_ += room;
  const bool is_row_needed = bank.hit == kNone && bank.waiting.size() == 1;
  const std::uint64_t cycle = is_row_needed ? row_cycle(bank, group_of(run.bank)) : kNever;
  if (front_admitted_ == run.bursts) {
    arrivals_.pop_front();
    front_admitted_ = 0;
  }
  return cycle;
}

// When the bank and its group could take a read or write of a run, whatever the bus does.
std::uint64_t DramChannel::ready_cycle(const Bank& bank, const Group& group,
                                       const Waiting& waiting) {
  const Direction direction = direction_of(waiting);
  return std::max({bank.column_at[direction], group.column_at[direction], waiting.entered});
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
  hits_.clear();
  for (const std::uint32_t b : active_) {
    const Bank& bank = banks_[b];
    const Group& group = group_of(b);
    if (bank.waiting.front().order < oldest) {
      oldest = bank.waiting.front().order;
      oldest_bank = b;
    }
    if (bank.hit != kNone) {
      const Waiting& waiting = bank.waiting[bank.hit];
      const Direction direction = direction_of(waiting);
      const std::uint64_t ready = ready_cycle(bank, group, waiting);
      hits_.push_back({waiting.order, ready, b, b / banks_per_group_, direction});
      const Choice choice{std::max({ready, column_at_[direction], current_}), waiting.order, b};
      if (choice.better_than(column)) column = choice;
    } else {
      const Choice choice{row_cycle(bank, group), bank.waiting.front().order, b};
      if (choice.better_than(row)) row = choice;
    }
  }
  if (oldest == kNever) return;
  const Bank& bank = banks_[oldest_bank];
  const Group& group = group_of(oldest_bank);
  const Waiting& first = bank.waiting.front();
  const std::uint64_t overtaken = bursts_issued_ - first.overtaken;
  slack_ = kOvertakingWindows * window_ - std::min(overtaken, kOvertakingWindows * window_);
  if (overtaken <= kOvertakingWindows * window_) return;
  column = {};
  if (bank.row == first.run.row) {
    const std::uint64_t ready = ready_cycle(bank, group, first);
    column = {std::max({ready, column_at_[direction_of(first)], current_}), first.order,
              oldest_bank};
    hits_.clear();
  } else if (bank.hit != kNone) {
    row = {row_cycle(bank, group), first.order, oldest_bank};
  }
}

// When the next refresh would start: at once without work, else when no more may be postponed.
std::uint64_t DramChannel::refresh_cycle() const {
  if (trefi_ == 0) return kNever;
  const std::uint64_t due = (refreshes_issued_ + 1) * trefi_;
  if (in_window_ == 0) return std::max(due, current_);
  return std::max(due + postponed_ * trefi_, current_);
}

std::uint64_t DramChannel::next_cycle() const {
  const bool has_room = in_window_ < window_ && !arrivals_.empty();
  return has_room ? std::min(next_command_, arrivals_.front().cycle) : next_command_;
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
    if (can_admit(std::min(next, cycle))) {
      admit();
      continue;
    }
    if (next > cycle) {
      next_command_ = std::min(column.cycle, row.cycle);
      return;
    }
    if (refresh == next) {
      issue_refresh(refresh);
    } else if (column.cycle == next) {
      const std::uint64_t last = std::min({row.cycle, refresh - 1, cycle});
      if (!issue_pair(column, last, completions)) issue_column(column, completions);
    } else {
      issue_row(row);
    }
  }
}

DramLimit DramChannel::limit_of_column(const Bank& bank, const Group& group, const Waiting& waiting,
                                       std::uint64_t cycle) const {
  const Direction direction = direction_of(waiting);
  if (column_at_[direction] == cycle) return column_limit_[direction];
  if (group.column_at[direction] == cycle) return group.column_limit[direction];
  if (bank.column_at[direction] == cycle) return bank.row_limit;
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
  time(DramLimit::kBus) += burst_;
  data_end_ = data_start + burst_;
}

void DramChannel::issue_column(const Choice& choice, std::vector<DramCompletion>& completions) {
  Bank& bank = banks_[choice.bank];
  Group& group = group_of(choice.bank);
  const std::size_t position =
      bank.waiting.front().order == choice.order ? 0 : bank.hit;  // the oldest may go first
  const Waiting& waiting = bank.waiting[position];
  const Direction direction = direction_of(waiting);
  const std::uint64_t cycle = choice.cycle;
  account(cycle + data_[direction], limit_of_column(bank, group, waiting, cycle));
  hold_columns(group, direction, cycle);
  current_ = cycle;
  --bank.waiting[position].admitted;
  --bank.waiting[position].run.bursts;
  --in_window_;
  ++bursts_issued_;
  finish_bursts(choice.bank, position, cycle, completions);
}

// Reads or writes of the channel and a group, after one of it at `cycle`.
void DramChannel::hold_columns(Group& group, Direction direction, std::uint64_t cycle) {
  const auto hold = [](std::uint64_t& at, DramLimit& limit, std::uint64_t until, DramLimit why) {
    if (until <= at) return;
    at = until;
    limit = why;
  };
  hold(column_at_[direction], column_limit_[direction], cycle + tccd_s_, DramLimit::kBus);
  hold(group.column_at[direction], group.column_limit[direction], cycle + tccd_l_,
       DramLimit::kBankGroup);
  if (direction == kRead) {
    hold(column_at_[kWrite], column_limit_[kWrite], cycle + read_to_write_, DramLimit::kTurnaround);
  } else {
    hold(column_at_[kRead], column_limit_[kRead], cycle + write_to_read_s_, DramLimit::kTurnaround);
    hold(group.column_at[kRead], group.column_limit[kRead], cycle + write_to_read_l_,
         DramLimit::kTurnaround);
  }
}

// After bursts of one waiting run, the last one issued at `cycle`.
void DramChannel::finish_bursts(std::uint32_t bank_number, std::size_t position,
                                std::uint64_t cycle, std::vector<DramCompletion>& completions) {
  Bank& bank = banks_[bank_number];
  Waiting& waiting = bank.waiting[position];
  const Direction direction = direction_of(waiting);
  if (!waiting.started && !waiting.opened_row) ++sums_.row_hits;
  waiting.started = true;
  bank.precharge_at = std::max(bank.precharge_at, cycle + to_precharge_[direction]);
  if (waiting.admitted > 0) return;
  if (waiting.run.bursts == 0) {
    completions.push_back({waiting.run.tag, cycle + data_[direction] + burst_});
  }
  bank.waiting.erase(bank.waiting.begin() + static_cast<std::ptrdiff_t>(position));
  find_hit(bank);
  if (bank.waiting.empty()) active_.erase(std::find(active_.begin(), active_.end(), bank_number));
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
    bank.activate_limit =
        waited || bank.activate_at > cycle + trp_ ? DramLimit::kRowCycle : DramLimit::kLatency;
    bank.activate_at = std::max(bank.activate_at, cycle + trp_);
    bank.row = kNoRow;
    bank.hit = kNone;
    ++sums_.precharges;
    current_ = cycle;
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
  bank.activate_at = cycle + trc_;
  bank.activate_limit = DramLimit::kRowCycle;
  bank.precharge_at = cycle + tras_;
  bank.column_at = {cycle + trcd_[kRead], cycle + trcd_[kWrite]};
  activate_at_ = cycle + trrd_s_;
  group.activate_at = cycle + trrd_l_;
  activates_[oldest_activate_] = cycle + tfaw_;
  oldest_activate_ = (oldest_activate_ + 1) % activates_.size();
  waiting.opened_row = true;
  find_hit(bank);
  ++sums_.activates;
  current_ = cycle;
}

// All banks are closed first; then all refreshes that are due follow one another.
void DramChannel::issue_refresh(std::uint64_t cycle) {
  std::uint64_t start = cycle;
  for (const Bank& bank : banks_) {
    if (bank.row != kNoRow) start = std::max(start, std::max(bank.precharge_at, cycle) + trp_);
    start = std::max(start, bank.activate_at);
  }
  const std::uint64_t due = cycle / trefi_ - refreshes_issued_;
  const std::uint64_t end = start + due * trfc_;
  for (Bank& bank : banks_) {
    bank.row = kNoRow;
    bank.hit = kNone;
    bank.activate_at = end;
    bank.activate_limit = DramLimit::kRefresh;
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
