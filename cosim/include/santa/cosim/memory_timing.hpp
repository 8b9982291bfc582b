// When the memory delivers: bandwidth per channel, latency and requests in flight, by the formulas
// of the cycle model's BandwidthMemory, but word by word.
#pragma once

#include <cstdint>
#include <vector>

#include "santa/config/hardware.hpp"

namespace santa::cosim {

struct MemoryTiming {
  std::uint32_t channels = 1;
  std::uint64_t fs_per_kibibyte = 0;  // of one channel; 0: no limit
  std::uint64_t latency_fs = 0;
  std::uint32_t access_bytes = 1;
  std::uint64_t interleave_bytes = 256;
  std::uint64_t piece_bytes = 256;  // runs of this size lie on one channel and in one row
  std::uint32_t max_outstanding = 256;
  std::uint64_t period_fs = 1000000;  // of the unit's clock

  static MemoryTiming of(const config::HardwareConfig& hardware);
  // No limit but latency and requests in flight.
  static MemoryTiming ideal(std::uint32_t latency_cycles, std::uint32_t max_outstanding);
};

class ChannelBookings {
 public:
  explicit ChannelBookings(const MemoryTiming& timing)
      : timing_(timing), channel_free_fs_(timing.channels, 0) {}

  // Books one burst. done_fs[i] is when word i has come through, latency included; ascending.
  void book(std::uint64_t address, std::uint32_t words, std::uint32_t word_bytes,
            std::uint64_t arrival_fs, std::vector<std::uint64_t>& done_fs);

 private:
  MemoryTiming timing_;
  std::vector<std::uint64_t> channel_free_fs_;
};

}  // namespace santa::cosim
