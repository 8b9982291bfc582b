#include "dram_address.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace santa::sim {
namespace {

using config::DramField;

// The configuration allows powers of two only.
unsigned log2_of(std::int64_t power) {
  return static_cast<unsigned>(std::ilogb(power));
}

}  // namespace

DramAddressMap::DramAddressMap(const config::HardwareConfig& hardware)
    : channels_(static_cast<std::uint64_t>(hardware.memory.channels)),
      capacity_bytes_(channels_ * static_cast<std::uint64_t>(hardware.dram->capacity_bytes())),
      interleave_log2_(log2_of(hardware.memory.interleave_bytes)),
      piece_log2_(interleave_log2_) {
  const config::DramConfig& dram = *hardware.dram;
  // Bits of a field that lie lower are less significant; within a bank number, in the order bank,
  // group, stack.
  std::array<unsigned, 5> next_bit{};
  next_bit[static_cast<std::size_t>(DramField::kGroup)] = log2_of(dram.banks_per_group);
  next_bit[static_cast<std::size_t>(DramField::kStack)] =
      log2_of(dram.banks_per_group) + log2_of(dram.bank_groups);
  unsigned shift = log2_of(dram.burst_bytes);
  bool only_columns = true;
  const std::vector<config::DramMapField> fields = dram.map_fields();
  for (auto field = fields.rbegin(); field != fields.rend(); ++field) {
    if (field->field != DramField::kColumn) {
      if (only_columns) piece_log2_ = std::min(piece_log2_, shift);
      only_columns = false;
      unsigned& bit = next_bit[static_cast<std::size_t>(field->field)];
      slices_.push_back(
          {shift, (std::uint64_t{1} << field->bits) - 1, bit, field->field == DramField::kRow});
      bit += field->bits;
    }
    shift += field->bits;
  }
}

DramPlace DramAddressMap::place(std::uint64_t address) const {
  const std::uint64_t unit = address >> interleave_log2_;
  const std::uint64_t stripe = unit / channels_;
  const std::uint64_t inside =
      (stripe << interleave_log2_) + (address - (unit << interleave_log2_));
  DramPlace place;
  place.channel = static_cast<std::uint32_t>(unit - stripe * channels_);
  for (const Slice& slice : slices_) {
    const auto bits =
        static_cast<std::uint32_t>(((inside >> slice.shift) & slice.mask) << slice.target_shift);
    (slice.in_row ? place.row : place.bank) |= bits;
  }
  return place;
}

}  // namespace santa::sim
