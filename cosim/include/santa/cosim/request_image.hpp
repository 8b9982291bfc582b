// A request as it lies in memory: the layouts of docs/rtl.md.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "santa/cosim/byte_memory.hpp"
#include "santa/cosim/random.hpp"
#include "santa/cosim/request.hpp"
#include "santa/cosim/unit_parameters.hpp"

namespace santa::cosim {

inline constexpr std::uint32_t kDescriptorBytes = 256;
inline constexpr unsigned kRegionKinds = 7;

// Addresses, by RegionKind.
using Placement = std::array<std::uint64_t, kRegionKinds>;

// Bytes of each region, by RegionKind, in whole words of the port; 0 where the unit must not look.
std::array<std::uint64_t, kRegionKinds> region_sizes(const CosimRequest& request,
                                                     const UnitParameters& unit);

// Hands out random places that do not touch each other, some below and some above 4 GiB, at every
// offset to the 4 KiB boundaries that alignment allows.
class Allocator {
 public:
  explicit Allocator(Random random) : random_(random) {}
  std::uint64_t take(std::uint64_t bytes, std::uint64_t alignment);

 private:
  Random random_;
  std::map<std::uint64_t, std::uint64_t> taken_;  // begin to end
};
Placement place(const CosimRequest& request, const UnitParameters& unit, Allocator& allocator);

struct RequestImage {
  struct Block {
    Region region;
    std::vector<std::uint8_t> bytes;  // of the whole region
  };
  std::uint32_t tag = 0;
  Placement placement{};
  std::vector<Block> blocks;  // regions that are there

  const Block* find(RegionKind kind) const;
  std::uint64_t address(RegionKind kind) const { return placement[static_cast<std::size_t>(kind)]; }
};

// Bytes that mean nothing, padding and what the unit writes, are drawn from `noise`.
RequestImage make_image(const CosimRequest& request, const UnitParameters& unit,
                        const Placement& placement, std::uint32_t tag, std::uint32_t index,
                        Random& noise);
void install(const RequestImage& image, ByteMemory& memory);

// Parts of the image, each as docs/rtl.md states it.
std::array<std::uint8_t, kDescriptorBytes> make_descriptor(const CosimRequest& request,
                                                           const Placement& placement,
                                                           std::uint32_t tag);
std::vector<std::uint32_t> make_operands(const attention::QueryOperands& query);

}  // namespace santa::cosim
