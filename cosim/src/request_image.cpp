#include "santa/cosim/request_image.hpp"

#include <algorithm>
#include <iterator>

namespace santa::cosim {
namespace {

using attention::ScoreScheme;

constexpr std::size_t at(RegionKind kind) {
  return static_cast<std::size_t>(kind);
}

template <std::size_t kSize, typename T>
void put(std::array<std::uint8_t, kSize>& bytes, std::size_t offset, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes[offset + i] = static_cast<std::uint8_t>(value >> (8 * i));
  }
}

std::uint32_t scheme_code(ScoreScheme scheme) {
  if (scheme == ScoreScheme::kExact) return 0;
  return scheme == ScoreScheme::kBernoulliGroup ? 2 : 1;
}

std::uint32_t sign_code(int sign) {
  return sign < 0 ? 2U : static_cast<std::uint32_t>(sign);
}

std::uint32_t scale_code(const arithmetic::ScaleFactor& scale) {
  return static_cast<std::uint8_t>(scale.exponent) | (std::uint32_t{scale.shift_a} << 8) |
         (sign_code(scale.sign_a) << 11) | (std::uint32_t{scale.shift_b} << 16) |
         (sign_code(scale.sign_b) << 19);
}

std::uint32_t full_tiles(const CosimRequest& request) {
  return request.context / request.cache->tile_keys;
}

void store_tail(const CosimRequest& request, std::uint32_t stride, std::uint8_t* bytes) {
  const attention::KvHead& cache = *request.cache;
  const std::uint32_t tile = full_tiles(request);
  for (std::uint32_t k = 0; k < request.context % cache.tile_keys; ++k) {
    for (std::uint32_t i = 0; i < cache.head_dimension; ++i) {
      const std::size_t from = static_cast<std::size_t>(i) * cache.tile_keys + k;
      bytes[static_cast<std::size_t>(k) * stride + i] =
          static_cast<std::uint8_t>(cache.tile(tile)[from]);
    }
  }
}

void store_values(const CosimRequest& request, std::uint32_t stride, std::uint8_t* bytes) {
  const attention::KvHead& cache = *request.cache;
  for (std::uint32_t n = 0; n < request.context; ++n) {
    for (std::uint32_t i = 0; i < cache.head_dimension; ++i) {
      bytes[static_cast<std::size_t>(n) * stride + i] =
          static_cast<std::uint8_t>(cache.value_row(n)[i]);
    }
  }
}

}  // namespace

std::array<std::uint64_t, kRegionKinds> region_sizes(const CosimRequest& request,
                                                     const UnitParameters& unit) {
  const std::uint32_t d = request.head_dimension();
  const std::uint64_t stride = row_stride(unit, d);
  const bool shared = request.request.query.scheme == ScoreScheme::kBernoulliGroup;
  const std::uint64_t slots = request.group() + (shared ? 1U : 0U);
  std::array<std::uint64_t, kRegionKinds> sizes{};
  sizes[at(RegionKind::kDescriptor)] = kDescriptorBytes;
  sizes[at(RegionKind::kOperands)] = round_up(sizeof(std::uint32_t) * d * slots, unit.port_bytes);
  sizes[at(RegionKind::kKeys)] = std::uint64_t{full_tiles(request)} * d * unit.tile_keys;
  sizes[at(RegionKind::kTail)] = request.context % unit.tile_keys * stride;
  sizes[at(RegionKind::kValues)] = request.context * stride;
  sizes[at(RegionKind::kScratch)] = scratch_bytes(unit, request.context, request.group());
  sizes[at(RegionKind::kOutput)] = std::uint64_t{request.group()} * 2 * stride;
  return sizes;
}

std::uint64_t Allocator::take(std::uint64_t bytes, std::uint64_t alignment) {
  constexpr std::uint64_t kGap = 4096;              // so that an access beyond an end meets nothing
  constexpr std::uint64_t kTop = ~0xFFFFFFFFFFULL;  // no region wraps around
  for (;;) {
    std::uint64_t begin = random_.next() >> random_.pick({0, 24, 34, 40});
    if (random_.chance(0.25)) {  // across a border that changes every bit below it
      begin = (std::uint64_t{1} << (13 + random_.below(50))) - kGap - alignment * random_.below(8);
    }
    if (begin >= kTop) continue;
    begin = round_up(begin + kGap, alignment);
    const std::uint64_t end = begin + std::max<std::uint64_t>(bytes, 1);
    const auto after = taken_.lower_bound(begin);
    const bool clear = (after == taken_.end() || end + kGap <= after->first) &&
                       (after == taken_.begin() || std::prev(after)->second + kGap <= begin);
    if (!clear) continue;
    taken_.emplace(begin, end);
    return begin;
  }
}

Placement place(const CosimRequest& request, const UnitParameters& unit, Allocator& allocator) {
  const auto sizes = region_sizes(request, unit);
  Placement placement{};
  for (std::size_t kind = 0; kind < kRegionKinds; ++kind) {
    const std::uint64_t alignment =
        kind == at(RegionKind::kDescriptor) ? kDescriptorBytes : unit.port_bytes;
    placement[kind] = allocator.take(sizes[kind], alignment);
  }
  return placement;
}

std::array<std::uint8_t, kDescriptorBytes> make_descriptor(const CosimRequest& request,
                                                           const Placement& placement,
                                                           std::uint32_t tag) {
  const attention::QueryOperands& query = request.request.query;
  std::array<std::uint8_t, kDescriptorBytes> bytes{};
  put(bytes, 0x00, request.context);
  put(bytes, 0x04, static_cast<std::uint16_t>(query.head_dimension));
  put(bytes, 0x06, static_cast<std::uint8_t>(query.group));
  put(bytes, 0x07, static_cast<std::uint8_t>(scheme_code(query.scheme)));
  put(bytes, 0x08, static_cast<std::uint8_t>(request.samples_log2()));
  put(bytes, 0x0C, tag);
  put(bytes, 0x10, placement[at(RegionKind::kOperands)]);
  put(bytes, 0x18, placement[at(RegionKind::kKeys)]);
  put(bytes, 0x20, placement[at(RegionKind::kTail)]);
  put(bytes, 0x28, placement[at(RegionKind::kValues)]);
  put(bytes, 0x30, placement[at(RegionKind::kScratch)]);
  put(bytes, 0x38, placement[at(RegionKind::kOutput)]);
  put(bytes, 0x40, request.request.score_stream);
  for (std::uint32_t g = 0; g < query.group; ++g) {
    put(bytes, 0x80 + 8 * g, request.request.value_streams[g]);
    // One entry serves all heads in the group scheme.
    put(bytes, 0xC0 + 4 * g, scale_code(query.scale[query.scale.size() == 1 ? 0 : g]));
  }
  return bytes;
}

std::vector<std::uint32_t> make_operands(const attention::QueryOperands& query) {
  constexpr std::uint32_t kNegative = 1U << 31;
  const bool shared = query.scheme == ScoreScheme::kBernoulliGroup;
  std::vector<std::uint32_t> words;
  for (std::uint32_t i = 0; i < query.head_dimension; ++i) {
    if (shared) words.push_back(query.magnitude[i]);
    for (std::uint32_t g = 0; g < query.group; ++g) {
      const std::size_t index = static_cast<std::size_t>(g) * query.head_dimension + i;
      std::uint32_t word = query.negative[index] != 0 ? kNegative : 0;
      if (shared) {
        const arithmetic::GroupRatio& ratio = query.ratio[index];
        word |= ratio.upper_probability;
        word |= static_cast<std::uint32_t>(ratio.exponent - arithmetic::kRatioZeroExponent) << 16;
      } else {
        word |= query.magnitude[index];
      }
      words.push_back(word);
    }
  }
  return words;
}

const RequestImage::Block* RequestImage::find(RegionKind kind) const {
  for (const Block& block : blocks) {
    if (block.region.kind == kind) return &block;
  }
  return nullptr;
}

RequestImage make_image(const CosimRequest& request, const UnitParameters& unit,
                        const Placement& placement, std::uint32_t tag, std::uint32_t index,
                        Random& noise) {
  const std::uint32_t stride = row_stride(unit, request.head_dimension());
  const auto sizes = region_sizes(request, unit);
  RequestImage image;
  image.tag = tag;
  image.placement = placement;
  for (std::size_t kind = 0; kind < kRegionKinds; ++kind) {
    if (sizes[kind] == 0) continue;
    RequestImage::Block block;
    block.region = {static_cast<RegionKind>(kind), index, placement[kind],
                    placement[kind] + sizes[kind]};
    block.bytes.resize(sizes[kind]);
    for (std::uint8_t& byte : block.bytes) byte = static_cast<std::uint8_t>(noise.next());
    switch (block.region.kind) {
      case RegionKind::kDescriptor: {
        const auto descriptor = make_descriptor(request, placement, tag);
        std::copy(descriptor.begin(), descriptor.end(), block.bytes.begin());
        break;
      }
      case RegionKind::kOperands: {
        std::size_t offset = 0;
        for (const std::uint32_t word : make_operands(request.request.query)) {
          for (unsigned byte = 0; byte < 4; ++byte) {
            block.bytes[offset++] = static_cast<std::uint8_t>(word >> (8 * byte));
          }
        }
        break;
      }
      case RegionKind::kKeys: {
        const std::int8_t* keys = request.cache->keys.data();
        std::transform(keys, keys + block.bytes.size(), block.bytes.begin(),
                       [](std::int8_t key) { return static_cast<std::uint8_t>(key); });
        break;
      }
      case RegionKind::kTail:
        store_tail(request, stride, block.bytes.data());
        break;
      case RegionKind::kValues:
        store_values(request, stride, block.bytes.data());
        break;
      case RegionKind::kScratch:
      case RegionKind::kOutput:
        break;  // noise
    }
    image.blocks.push_back(std::move(block));
  }
  return image;
}

void install(const RequestImage& image, ByteMemory& memory) {
  for (const RequestImage::Block& block : image.blocks) {
    memory.map(block.region);
    memory.write(block.region.begin, block.bytes.data(), block.bytes.size());
  }
}

}  // namespace santa::cosim
