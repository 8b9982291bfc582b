// Contents of the memory, sparse, and what each part of it is for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace santa::cosim {

enum class RegionKind : std::uint8_t {
  kDescriptor,
  kOperands,
  kKeys,
  kTail,
  kValues,
  kScratch,
  kOutput,
};
const char* name_of(RegionKind kind);

// The id that the unit must use on a region; -1 where it must not read or write.
int read_id_of(RegionKind kind);
int write_id_of(RegionKind kind);

struct Region {
  RegionKind kind = RegionKind::kDescriptor;
  std::uint32_t request = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class ByteMemory {
 public:
  // Regions do not overlap; throws std::logic_error if they do.
  void map(const Region& region);
  void clear();
  // The region that holds an address, or null.
  const Region* find(std::uint64_t address) const;

  std::uint8_t read(std::uint64_t address) const;
  void read(std::uint64_t address, std::uint8_t* bytes, std::size_t count) const;
  void write(std::uint64_t address, std::uint8_t byte);
  void write(std::uint64_t address, const std::uint8_t* bytes, std::size_t count);

 private:
  static constexpr std::uint64_t kPageBytes = 4096;
  using Page = std::array<std::uint8_t, kPageBytes>;

  std::map<std::uint64_t, Region> regions_;  // by first address
  std::unordered_map<std::uint64_t, Page> pages_;
};

}  // namespace santa::cosim
