#include "santa/cosim/traffic.hpp"

#include <fmt/format.h>

namespace santa::cosim {

PortWords& PortWords::operator+=(const PortWords& other) {
  request += other.request;
  keys += other.keys;
  values += other.values;
  outputs += other.outputs;
  spills += other.spills;
  return *this;
}

PortWords expected_traffic(const ScoreboardRequest& request, std::uint64_t descriptor,
                           const UnitParameters& unit) {
  const CosimRequest& r = request.request;
  const std::uint64_t port = unit.port_bytes;
  PortWords words;
  if (descriptor % kDescriptorBytes != 0) return words;  // refused unread
  words.request = kDescriptorBytes / port;
  if (!request.runs) return words;
  const auto sizes = region_sizes(r, unit);
  const auto region = [&](RegionKind kind) { return sizes[static_cast<std::size_t>(kind)] / port; };
  const attention::DecodeResult& golden = request.expected.result;
  const std::uint64_t d = r.head_dimension();
  words.request += region(RegionKind::kOperands);
  words.keys = region(RegionKind::kKeys) / d * golden.query.needed_features.size() +
               region(RegionKind::kTail);
  words.values = golden.rows.size() * (round_up(d, port) / port);
  words.outputs = r.group() * (round_up(2 * d, port) / port);
  words.spills = spilled_tiles(unit, r.context, r.group()) *
                 (tile_weight_bytes(unit, r.group()) + tile_statistics_bytes(unit)) / port;
  return words;
}

std::string traffic_difference(const PortWords& expected, const MemoryCounters& from,
                               const MemoryCounters& to) {
  struct Part {
    const char* name;
    std::uint64_t moved;
    std::uint64_t expected;
  };
  const auto read = [&](RegionKind kind) {
    const int id = read_id_of(kind);
    return to.read_words_of[id] - from.read_words_of[id];
  };
  const auto written = [&](RegionKind kind) {
    const int id = write_id_of(kind);
    return to.write_words_of[id] - from.write_words_of[id];
  };
  const Part parts[] = {
      {"descriptors and operands read", read(RegionKind::kOperands), expected.request},
      {"keys read", read(RegionKind::kKeys), expected.keys},
      {"values read", read(RegionKind::kValues), expected.values},
      {"outputs written", written(RegionKind::kOutput), expected.outputs},
      {"scratch written", written(RegionKind::kScratch), expected.spills},
  };
  for (const Part& part : parts) {
    if (part.moved == part.expected) continue;
    return fmt::format("words of {}: RTL {}, expected {}", part.name, part.moved, part.expected);
  }
  return "";
}

}  // namespace santa::cosim
