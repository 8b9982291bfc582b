// The part of a channel's scheduler that streams spend their time in.
#include <algorithm>

#include "dram_channel.hpp"

namespace santa::sim {

// The oldest run that can follow `one` on the bus, in another bank group; null if there is none.
const DramChannel::Hit* DramChannel::partner_of(const Hit& one, std::uint64_t start) const {
  const Hit* other = nullptr;
  for (const Hit& hit : hits_) {
    if (hit.group != one.group && hit.direction == one.direction && hit.ready <= start + tccd_s_ &&
        (other == nullptr || hit.order < other->order)) {
      other = &hit;
    }
  }
  return other;
}

// Bursts from `next` on, one every tCCD_S, until a run enters the window that was not in it at all.
std::uint64_t DramChannel::bursts_before_entry(std::uint64_t next) const {
  if (arrivals_.empty()) return kNever;
  const Arrival& arrival = arrivals_.front();
  if (arrival.cycle > next) return (arrival.cycle - 1 - next) / tccd_s_ + 1;
  return front_admitted_ > 0 ? arrival.run.bursts - front_admitted_ + 1 : 1;
}

// Streams spend their time with two runs of different bank groups that take turns on the bus. As
// long as nothing else can be issued, what issue_column() would do burst by burst is done at once.
// `first` is the next choice, `last_cycle` bounds the bursts. False if there is no such pair.
bool DramChannel::issue_pair(const Choice& first, std::uint64_t last_cycle,
                             std::vector<DramCompletion>& completions) {
  const std::uint64_t start = first.cycle;
  if (tccd_l_ > 2 * tccd_s_ || last_cycle < start + tccd_s_) return false;
  const auto found = std::find_if(hits_.begin(), hits_.end(),
                                  [&](const Hit& hit) { return hit.order == first.order; });
  if (found == hits_.end()) return false;
  const Hit& one = *found;
  const Hit* partner = partner_of(one, start);
  if (partner == nullptr) return false;
  const Hit& other = *partner;
  // Older runs that become ready take a turn of theirs.
  for (const Hit& hit : hits_) {
    if (&hit == &one || &hit == &other || hit.order > std::max(one.order, other.order)) continue;
    if (hit.group == one.group && hit.order > one.order) continue;
    if (hit.group == other.group && hit.order > other.order) continue;
    last_cycle = std::min(last_cycle, std::max(hit.ready, start + tccd_s_ + 1) - 1);
  }
  last_cycle = std::min(last_cycle, start + slack_ * tccd_s_);
  const Direction direction = one.direction;
  const std::array<const Hit*, 2> turns = {&one, &other};
  const auto run_of = [&](const Hit& hit) -> Waiting& {
    return banks_[hit.bank].waiting[banks_[hit.bank].hit];
  };
  account(start + data_[direction],
          limit_of_column(banks_[one.bank], groups_[one.group], run_of(one), start));
  std::uint64_t issued = 0;
  std::uint64_t next = start;
  while (next <= last_cycle) {
    while (can_admit(next)) last_cycle = std::min(last_cycle, admit());
    Waiting& now = run_of(*turns[issued % 2]);
    Waiting& then = run_of(*turns[(issued + 1) % 2]);
    if (now.admitted == 0 || next > last_cycle) break;
    // Until one of the two has no burst left.
    const std::uint32_t both = now.admitted <= then.admitted
                                   ? 2 * now.admitted - 1
                                   : std::max(2 * then.admitted, std::uint32_t{1});
    std::uint64_t count = std::min(bursts_before_entry(next), std::uint64_t{both});
    if (count * tccd_s_ > last_cycle - next) count = (last_cycle - next) / tccd_s_ + 1;
    const auto half = static_cast<std::uint32_t>(count / 2);
    const auto more = static_cast<std::uint32_t>(count) - half;
    now.admitted -= more;
    now.run.bursts -= more;
    then.admitted -= half;
    then.run.bursts -= half;
    in_window_ -= count;
    bursts_issued_ += count;
    issued += count;
    next += count * tccd_s_;
    current_ = next - tccd_s_;
  }
  const std::uint64_t end = start + (issued - 1) * tccd_s_;
  sums_.bursts += issued - 1;
  sums_.limited_bursts[index_of(DramLimit::kBus)] += issued - 1;
  sums_.time_cycles[index_of(DramLimit::kBus)] += (issued - 1) * tccd_s_;
  data_end_ += (issued - 1) * tccd_s_;
  for (std::uint64_t turn = 0; turn < std::min<std::uint64_t>(issued, 2); ++turn) {
    const std::uint64_t last = (issued - 1) % 2 == turn ? end : end - tccd_s_;
    hold_columns(groups_[turns[turn]->group], direction, last);
    finish_bursts(turns[turn]->bank, banks_[turns[turn]->bank].hit, last, completions);
  }
  return true;
}

}  // namespace santa::sim
