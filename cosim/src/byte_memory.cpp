#include "santa/cosim/byte_memory.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace santa::cosim {

const char* name_of(RegionKind kind) {
  switch (kind) {
    case RegionKind::kDescriptor:
      return "descriptor";
    case RegionKind::kOperands:
      return "operands";
    case RegionKind::kKeys:
      return "keys";
    case RegionKind::kTail:
      return "tail";
    case RegionKind::kValues:
      return "values";
    case RegionKind::kScratch:
      return "scratch";
    case RegionKind::kOutput:
      return "output";
  }
  return "";
}

int read_id_of(RegionKind kind) {
  switch (kind) {
    case RegionKind::kDescriptor:
    case RegionKind::kOperands:
      return 0;
    case RegionKind::kKeys:
    case RegionKind::kTail:
      return 1;
    case RegionKind::kValues:
      return 2;
    case RegionKind::kScratch:
      return 3;
    case RegionKind::kOutput:
      return -1;
  }
  return -1;
}

int write_id_of(RegionKind kind) {
  if (kind == RegionKind::kOutput) return 0;
  return kind == RegionKind::kScratch ? 1 : -1;
}

void ByteMemory::map(const Region& region) {
  if (region.begin == region.end) return;
  const auto next = regions_.lower_bound(region.begin);
  const bool hits_next = next != regions_.end() && next->second.begin < region.end;
  const bool hits_previous = next != regions_.begin() && std::prev(next)->second.end > region.begin;
  if (region.end < region.begin || hits_next || hits_previous) {
    throw std::logic_error("regions of the memory overlap");
  }
  regions_.emplace(region.begin, region);
}

void ByteMemory::clear() {
  regions_.clear();
  pages_.clear();
}

const Region* ByteMemory::find(std::uint64_t address) const {
  const auto after = regions_.upper_bound(address);
  if (after == regions_.begin()) return nullptr;
  const Region& region = std::prev(after)->second;
  return address < region.end ? &region : nullptr;
}

std::uint8_t ByteMemory::read(std::uint64_t address) const {
  const auto page = pages_.find(address / kPageBytes);
  return page == pages_.end() ? std::uint8_t{0} : page->second[address % kPageBytes];
}

void ByteMemory::read(std::uint64_t address, std::uint8_t* bytes, std::size_t count) const {
  while (count > 0) {
    const std::uint64_t offset = address % kPageBytes;
    const std::size_t run = std::min<std::size_t>(count, kPageBytes - offset);
    const auto page = pages_.find(address / kPageBytes);
    if (page == pages_.end()) {
      std::fill(bytes, bytes + run, std::uint8_t{0});
    } else {
      std::copy_n(page->second.begin() + static_cast<std::ptrdiff_t>(offset), run, bytes);
    }
    address += run;
    bytes += run;
    count -= run;
  }
}

void ByteMemory::write(std::uint64_t address, std::uint8_t byte) {
  pages_[address / kPageBytes][address % kPageBytes] = byte;
}

void ByteMemory::write(std::uint64_t address, const std::uint8_t* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) write(address + i, bytes[i]);
}

}  // namespace santa::cosim
