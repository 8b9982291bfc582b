// What the scoreboard does when a request has completed: was everything seen, what lies in memory,
// and what the exact oracle says.
#include <fmt/format.h>

#include <vector>

#include "santa/cosim/scoreboard.hpp"

namespace santa::cosim {

const std::vector<NamedCount>& check_count_names() {
  static const std::vector<NamedCount> names = {
      {"coefficients", &CheckCounts::coefficients},
      {"scores", &CheckCounts::scores},
      {"weights", &CheckCounts::weights},
      {"tiles", &CheckCounts::tiles},
      {"draws", &CheckCounts::draws},
      {"rows", &CheckCounts::rows},
      {"value_bytes", &CheckCounts::value_bytes},
      {"outputs", &CheckCounts::outputs},
      {"memory_outputs", &CheckCounts::memory_outputs},
      {"untouched_bytes", &CheckCounts::untouched_bytes},
      {"spilled_weights", &CheckCounts::spilled_weights},
      {"spilled_tiles", &CheckCounts::spilled_tiles},
      {"oracle_counts", &CheckCounts::oracle_counts},
      {"oracle_outputs", &CheckCounts::oracle_outputs},
  };
  return names;
}

CheckCounts& CheckCounts::operator+=(const CheckCounts& other) {
  for (const NamedCount& count : check_count_names()) this->*count.field += other.*count.field;
  return *this;
}

bool CheckCounts::operator==(const CheckCounts& other) const {
  for (const NamedCount& count : check_count_names()) {
    if (this->*count.field != other.*count.field) return false;
  }
  return true;
}

CheckCounts expected_checks(const ScoreboardRequest& request, const UnitParameters& unit) {
  const CosimRequest& r = request.request;
  const std::uint64_t group = r.group();
  const std::uint64_t d = r.head_dimension();
  CheckCounts counts;
  const std::uint64_t row_bytes = 2 * std::uint64_t{row_stride(unit, r.head_dimension())};
  if (!request.runs) {
    counts.untouched_bytes = group * row_bytes;
    return counts;
  }
  const std::uint64_t rows = request.expected.result.rows.size();
  counts.coefficients = group * d;
  counts.scores = group * r.context;
  counts.weights = group * r.context;
  counts.tiles = group * r.tiles();
  counts.draws = r.context > 0 ? group : 0;
  counts.rows = rows;
  counts.value_bytes = rows * round_up(d, unit.port_bytes);
  counts.outputs = group * d;
  counts.memory_outputs = group * d;
  counts.untouched_bytes = group * (row_bytes - 2 * d);
  const std::uint64_t spilled = spilled_tiles(unit, r.context, r.group());
  if (spilled > 0) {
    counts.spilled_weights =
        group * (r.context - (r.tiles() - spilled) * std::uint64_t{unit.tile_keys});
  }
  counts.spilled_tiles = group * spilled;
  counts.oracle_counts = group * r.context;
  counts.oracle_outputs = group * d;
  return counts;
}

void Scoreboard::check_finished(const Tracked& t) {
  const auto left = [&](const char* block, const char* what, bool pending, std::uint64_t seen,
                        std::uint64_t all) {
    if (pending) report(&t, block, what, fmt::format("{} seen", seen), fmt::format("{}", all));
  };
  const CosimRequest& r = t.of->request;
  const std::size_t rows = t.of->expected.result.rows.size();
  left("query_encoder", "features", coefficients_pending(t), t.coefficients, r.head_dimension());
  left("ternary_gather", "tiles of scores", scores_pending(t), t.score_tile, r.tiles());
  left("weight_unit", "tiles of weights", weights_pending(t), t.weight_tile, r.tiles());
  left("weight_unit", "tiles", tiles_pending(t), t.tiles, r.tiles());
  left("systematic_sampler", "draws", draws_pending(t), t.draws, t.of->expected.offsets.size());
  left("systematic_sampler", "rows", rows_pending(t), t.rows, rows);
  left("value_gather", "rows", values_pending(t), t.value_row, rows);
  left("normalizer", "outputs", outputs_pending(t), t.outputs.size() - t.outputs_left,
       t.outputs.size());
}

void Scoreboard::check_memory(const Tracked& t, const ByteMemory& memory) {
  const CosimRequest& r = t.of->request;
  const RequestImage::Block& before = *t.of->image.find(RegionKind::kOutput);
  const std::uint32_t row_bytes = 2 * row_stride(unit_, r.head_dimension());
  const std::uint32_t written = t.of->runs ? 2 * r.head_dimension() : 0;
  for (std::uint32_t g = 0; g < r.group(); ++g) {
    const std::size_t row = static_cast<std::size_t>(g) * row_bytes;
    for (std::uint32_t b = 0; b < row_bytes; ++b) {
      const std::uint8_t byte = memory.read(before.region.begin + row + b);
      if (b >= written) {
        ++checked_.untouched_bytes;
        if (byte == before.bytes[row + b]) continue;
        report(&t, "normalizer", fmt::format("byte {} of the output row of head {}", b, g),
               "written", "left alone", "the contract says");
        continue;
      }
      if (b % 2 != 0) continue;
      const auto rtl =
          static_cast<std::int16_t>(byte | memory.read(before.region.begin + row + b + 1) << 8);
      const std::int16_t golden =
          t.of->expected.result.output[static_cast<std::size_t>(g) * r.head_dimension() + b / 2];
      ++checked_.memory_outputs;
      if (rtl == golden) continue;
      report(&t, "normalizer", fmt::format("output in memory of head {}, feature {}", g, b / 2),
             std::to_string(rtl), std::to_string(golden));
    }
  }
}

// Where the unit keeps them: docs/rtl.md, "Memory layout".
void Scoreboard::check_spills(const Tracked& t, const ByteMemory& memory) {
  const CosimRequest& r = t.of->request;
  const auto tiles = static_cast<std::uint32_t>(r.tiles());
  const std::uint64_t tile_bytes = tile_weight_bytes(unit_, r.group());
  const std::uint64_t entry_bytes = tile_statistics_bytes(unit_);
  const std::uint64_t scratch = t.of->image.address(RegionKind::kScratch);
  std::vector<std::uint8_t> weights(tile_bytes);
  std::vector<std::uint8_t> entry(entry_bytes);
  const auto first = static_cast<std::uint32_t>(tiles - spilled_tiles(unit_, r.context, r.group()));
  for (std::uint32_t tile = first; tile < tiles; ++tile) {
    memory.read(scratch + tile_bytes * tile, weights.data(), weights.size());
    memory.read(scratch + tile_bytes * tiles + entry_bytes * tile, entry.data(), entry.size());
    for (std::uint32_t g = 0; g < r.group(); ++g) {
      const std::size_t expected = t.of->expected.index(r, tile, g);
      for (std::uint32_t key = 0; key < r.valid_keys(tile); ++key) {
        const std::size_t at = spilled_weight_offset(unit_, r.group(), key, g);
        const auto rtl = static_cast<std::uint16_t>(weights[at] | weights[at + 1] << 8);
        const std::uint16_t golden = t.of->expected.weights[expected + key];
        ++checked_.spilled_weights;
        if (rtl == golden) continue;
        report(&t, "spill_writer",
               fmt::format("weight in scratch memory of key {}, head {}",
                           std::uint64_t{tile} * unit_.tile_keys + key, g),
               std::to_string(rtl), std::to_string(golden));
      }
      const attention::TileStatistics& golden =
          t.of->expected.result.tiles[static_cast<std::size_t>(tile) * r.group() + g];
      const auto field = [&](std::size_t at) {
        std::uint32_t value = 0;
        for (std::size_t i = 4; i-- > 0;) value = value << 8 | entry[8 * g + at + i];
        return value;
      };
      const std::uint32_t sum = field(0);
      const auto exponent = static_cast<std::int32_t>(field(4));
      ++checked_.spilled_tiles;
      if (sum == golden.sum && exponent == golden.exponent) continue;
      report(&t, "spill_writer",
             fmt::format("exponent and sum in scratch memory of tile {}, head {}", tile, g),
             fmt::format("{} and {}", exponent, sum),
             fmt::format("{} and {}", golden.exponent, golden.sum));
    }
  }
}

void Scoreboard::check_oracle(Tracked& t, const ByteMemory& memory) {
  const CosimRequest& r = t.of->request;
  const std::uint32_t d = r.head_dimension();
  const std::uint32_t stride = row_stride(unit_, d);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(r.context) * stride);
  memory.read(t.of->image.address(RegionKind::kValues), bytes.data(), bytes.size());
  const std::vector<std::int8_t> values(bytes.begin(), bytes.end());
  for (std::uint32_t g = 0; g < r.group(); ++g) {
    const auto fail = [&](const char* block, const OracleFinding& finding) {
      report(&t, block, fmt::format("{} of head {}", finding.field, g), finding.rtl, finding.exact,
             "exact oracle");
    };
    if (r.context > 0) {
      const auto finding = check_counts(t.heads[g], r.samples_log2(), checked_.oracle_counts);
      if (finding) return fail("systematic_sampler", *finding);
    }
    std::vector<std::int16_t> outputs;
    const std::uint64_t row =
        t.of->image.address(RegionKind::kOutput) + std::uint64_t{g} * 2 * stride;
    for (std::uint32_t i = 0; i < d; ++i) {
      outputs.push_back(
          static_cast<std::int16_t>(memory.read(row + 2 * i) | memory.read(row + 2 * i + 1) << 8));
    }
    const auto finding = check_outputs(t.heads[g].counts, r.samples_log2(), values.data(), stride,
                                       outputs, checked_.oracle_outputs);
    if (finding) return fail("normalizer", *finding);
  }
}

void Scoreboard::complete(const ByteMemory& memory, std::uint64_t cycle) {
  cycle_ = cycle;
  if (paused_ || tracked_.empty()) return;
  Tracked& t = tracked_.front();
  expected_ += expected_checks(*t.of, unit_);
  check_finished(t);
  if (!first_) check_memory(t, memory);
  if (!first_ && t.of->runs) check_spills(t, memory);
  if (!first_ && t.of->runs) check_oracle(t, memory);
  tracked_.pop_front();
}

}  // namespace santa::cosim
