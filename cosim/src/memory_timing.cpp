#include "santa/cosim/memory_timing.hpp"

#include <algorithm>
#include <cmath>

namespace santa::cosim {

MemoryTiming MemoryTiming::of(const config::HardwareConfig& hardware) {
  const config::MemoryConfig& memory = hardware.memory;
  MemoryTiming timing;
  timing.channels = static_cast<std::uint32_t>(memory.channels);
  timing.fs_per_kibibyte =
      static_cast<std::uint64_t>(std::llround(1024e6 / memory.channel_gb_per_s));
  timing.latency_fs = static_cast<std::uint64_t>(std::llround(memory.latency_ns * 1e6));
  timing.access_bytes = static_cast<std::uint32_t>(memory.access_bytes);
  timing.interleave_bytes = static_cast<std::uint64_t>(memory.interleave_bytes);
  timing.piece_bytes =
      static_cast<std::uint64_t>(std::min(memory.interleave_bytes, memory.row_bytes));
  timing.max_outstanding = static_cast<std::uint32_t>(memory.max_outstanding);
  timing.period_fs = static_cast<std::uint64_t>(std::llround(1e9 / hardware.clock_mhz));
  return timing;
}

MemoryTiming MemoryTiming::ideal(std::uint32_t latency_cycles, std::uint32_t max_outstanding) {
  MemoryTiming timing;
  timing.latency_fs = latency_cycles * timing.period_fs;
  timing.max_outstanding = max_outstanding;
  return timing;
}

void ChannelBookings::book(std::uint64_t address, std::uint32_t words, std::uint32_t word_bytes,
                           std::uint64_t arrival_fs, std::vector<std::uint64_t>& done_fs) {
  done_fs.assign(words, arrival_fs);
  const std::uint64_t granule = timing_.access_bytes;
  const std::uint64_t stop = address + std::uint64_t{words} * word_bytes;
  const std::uint64_t end = (stop + granule - 1) / granule * granule;
  std::uint64_t place = address / granule * granule;
  while (timing_.fs_per_kibibyte != 0 && place < end) {
    const std::uint64_t next =
        std::min(end, (place / timing_.piece_bytes + 1) * timing_.piece_bytes);
    const std::uint64_t channel = place / timing_.interleave_bytes % timing_.channels;
    std::uint64_t& free = channel_free_fs_[channel];
    const std::uint64_t start = std::max(free, arrival_fs);
    const auto after = [&](std::uint64_t byte) {
      return start + (byte - place) * timing_.fs_per_kibibyte / 1024;
    };
    free = after(next);
    const std::uint64_t first = std::max(place, address);
    for (std::uint64_t byte = first; byte < std::min(next, stop);) {
      const std::uint64_t word = (byte - address) / word_bytes;
      const std::uint64_t word_end = std::min(next, address + (word + 1) * word_bytes);
      done_fs[word] = std::max(done_fs[word], after(word_end));
      byte = word_end;
    }
    place = next;
  }
  std::uint64_t latest = 0;
  for (std::uint64_t& done : done_fs) {
    latest = std::max(latest, done + timing_.latency_fs);
    done = latest;
  }
}

}  // namespace santa::cosim
