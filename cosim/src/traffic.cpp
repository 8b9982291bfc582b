#include "santa/cosim/traffic.hpp"

#include <fmt/format.h>

namespace santa::cosim {

Traffic& Traffic::operator+=(const Traffic& other) {
  request += other.request;
  keys += other.keys;
  values += other.values;
  outputs += other.outputs;
  scratch_write += other.scratch_write;
  return *this;
}

Traffic expected_traffic(const ScoreboardRequest& request, std::uint64_t descriptor,
                         const UnitParameters& unit) {
  const CosimRequest& r = request.request;
  const std::uint64_t port = unit.port_bytes;
  Traffic words;
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
  words.scratch_write = spilled_tiles(unit, r.context, r.group()) *
                        (tile_weight_bytes(unit, r.group()) + tile_statistics_bytes(unit)) / port;
  return words;
}

std::string traffic_difference(const Traffic& expected, const MemoryCounters& from,
                               const MemoryCounters& to) {
  struct Part {
    const char* name;
    std::uint64_t moved;
    std::uint64_t expected;
  };
  const auto read = [&](int id) { return to.read_words_of[id] - from.read_words_of[id]; };
  const auto written = [&](int id) { return to.write_words_of[id] - from.write_words_of[id]; };
  const Part parts[] = {
      {"descriptors and operands read", read(0), expected.request},
      {"keys read", read(1), expected.keys},
      {"values read", read(2), expected.values},
      {"outputs written", written(0), expected.outputs},
      {"scratch written", written(1), expected.scratch_write},
  };
  for (const Part& part : parts) {
    if (part.moved == part.expected) continue;
    return fmt::format("words of {}: RTL {}, expected {}", part.name, part.moved, part.expected);
  }
  return "";
}

}  // namespace santa::cosim
