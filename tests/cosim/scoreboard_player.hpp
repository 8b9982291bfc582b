// Requests, and the events and memory contents that a unit without a fault makes of them, for tests
// of the scoreboard on small_unit().
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "santa/cosim/generator.hpp"
#include "santa/cosim/scoreboard.hpp"
#include "small_unit.hpp"

namespace santa::cosim {

using Request = std::shared_ptr<const ScoreboardRequest>;

inline Request prepare(CosimRequest request, std::uint32_t index, std::uint64_t address) {
  auto prepared = std::make_shared<ScoreboardRequest>();
  prepared->index = index;
  Random noise(index + 1);
  Placement placement{};
  for (std::size_t i = 0; i < kRegionKinds; ++i) placement[i] = address + i * 0x1000000;
  prepared->image = make_image(request, small_unit(), placement, index, index, noise);
  prepared->expected = expect(request);
  prepared->request = std::move(request);
  return prepared;
}

inline CosimRequest gaussian(std::uint32_t context, std::uint32_t d, std::uint32_t group,
                             std::uint64_t seed) {
  attention::DecodeOptions options;
  options.samples = 64;
  return gaussian_request({context, d, group}, options, small_unit().tile_keys, seed);
}

// Plays the events of a request as a unit without a fault would show them; `spoil` may change them.
using Spoil = std::function<void(const char* event, unsigned number, Monitors& monitors)>;

class Player {
 public:
  Player(Scoreboard& scoreboard, Spoil spoil)
      : scoreboard_(scoreboard), spoil_(std::move(spoil)), m_(unit_) {}

  void play(const ScoreboardRequest& r) {
    coefficients(r);
    tiles(r);
    sampling(r);
    outputs(r);
  }
  void coefficients(const ScoreboardRequest& r) {
    const std::uint32_t d = r.request.head_dimension();
    for (std::uint32_t i = 0; i < d; ++i) {
      m_.coefficient_valid = true;
      m_.coefficient_feature = static_cast<std::uint8_t>(i);
      for (std::uint32_t g = 0; g < r.request.group(); ++g) {
        m_.coefficient[g] = r.expected.result.query.coefficients[std::size_t{g} * d + i];
      }
      show("coefficient", i);
    }
  }
  void tiles(const ScoreboardRequest& r) {
    unsigned events = 0;
    for (std::uint32_t t = 0; t < r.request.tiles(); ++t) {
      for (std::uint32_t k = 0; k < unit_.tile_keys; k += unit_.weight_lanes) {
        m_.score_valid = m_.weight_valid = true;
        for (std::uint32_t g = 0; g < r.request.group(); ++g) {
          for (std::uint32_t lane = 0; lane < unit_.weight_lanes; ++lane) {
            const std::size_t at = r.expected.index(r.request, t, g) + k + lane;
            m_.score[g * unit_.weight_lanes + lane] = r.expected.accumulators[at];
            m_.weight[g * unit_.weight_lanes + lane] = r.expected.weights[at];
          }
        }
        show("score", events++);
      }
      m_.tile_valid = true;
      for (std::uint32_t g = 0; g < r.request.group(); ++g) {
        const auto& tile = r.expected.result.tiles[std::size_t{t} * r.request.group() + g];
        m_.tile_exponent[g] = tile.exponent;
        m_.tile_sum[g] = tile.sum;
      }
      show("tile", t);
    }
  }
  void sampling(const ScoreboardRequest& r) {
    for (std::uint32_t g = 0; g < r.expected.offsets.size(); ++g) {
      m_.draw_valid = true;
      m_.draw_head = static_cast<std::uint8_t>(g);
      m_.draw_exponent = r.expected.result.heads[g].exponent;
      m_.draw_mass = r.expected.result.heads[g].mass;
      m_.draw_offset = r.expected.offsets[g];
      show("draw", g);
    }
    const std::uint32_t stride = row_stride(unit_, r.request.head_dimension());
    unsigned rows = 0;
    unsigned words = 0;
    for (const attention::SampledRow& row : r.expected.result.rows) {
      m_.row_valid = true;
      m_.row_key = row.key;
      for (std::uint32_t g = 0; g < r.request.group(); ++g) m_.row_counts[g] = row.counts[g];
      show("row", rows++);
      const std::uint8_t* bytes = r.image.find(RegionKind::kValues)->bytes.data() +
                                  static_cast<std::size_t>(row.key) * stride;
      for (std::uint32_t b = 0; b < r.request.head_dimension(); b += unit_.port_bytes) {
        m_.value_valid = true;
        m_.value.assign(bytes + b, bytes + b + unit_.port_bytes);
        show("value", words++);
      }
    }
  }
  void outputs(const ScoreboardRequest& r) {
    const std::uint32_t d = r.request.head_dimension();
    unsigned events = 0;
    for (std::uint32_t g = 0; g < r.request.group(); ++g) {
      for (std::uint32_t i = 0; i < d; i += unit_.normalizer_lanes) {
        m_.output_valid = true;
        m_.output_head = static_cast<std::uint8_t>(g);
        m_.output_feature = static_cast<std::uint8_t>(i);
        for (std::uint32_t lane = 0; lane < unit_.normalizer_lanes && i + lane < d; ++lane) {
          m_.output[lane] = r.expected.result.output[std::size_t{g} * d + i + lane];
        }
        show("output", events++);
      }
    }
  }

 private:
  void show(const char* event, unsigned number) {
    if (spoil_) spoil_(event, number, m_);
    scoreboard_.observe(m_, ++cycle_);
    m_ = Monitors(unit_);
  }

  UnitParameters unit_ = small_unit();
  Scoreboard& scoreboard_;
  Spoil spoil_;
  Monitors m_;
  std::uint64_t cycle_ = 0;
};

inline void store(ByteMemory& memory, std::uint64_t at, std::uint64_t value, std::uint32_t bytes) {
  for (std::uint32_t i = 0; i < bytes; ++i) {
    memory.write(at + i, static_cast<std::uint8_t>(value >> 8 * i));
  }
}

// What the unit leaves in memory: outputs, and weights and statistics of tiles that do not fit.
inline void store_results(const ScoreboardRequest& r, ByteMemory& memory) {
  install(r.image, memory);
  const UnitParameters unit = small_unit();
  const std::uint32_t group = r.request.group();
  const std::uint64_t tiles = r.request.tiles();
  const std::uint64_t weight_bytes = tile_weight_bytes(unit, group);
  for (auto tile =
           static_cast<std::uint32_t>(tiles - spilled_tiles(unit, r.request.context, group));
       tile < tiles; ++tile) {
    const std::uint64_t scratch = r.image.address(RegionKind::kScratch);
    const std::uint64_t entry = scratch + weight_bytes * tiles + tile_statistics_bytes(unit) * tile;
    for (std::uint32_t g = 0; g < group; ++g) {
      for (std::uint32_t key = 0; key < unit.tile_keys; ++key) {
        store(memory, scratch + weight_bytes * tile + spilled_weight_offset(unit, group, key, g),
              r.expected.weights[r.expected.index(r.request, tile, g) + key], 2);
      }
      const auto& tile_of = r.expected.result.tiles[std::size_t{tile} * group + g];
      store(memory, entry + 8 * g, tile_of.sum, 4);
      store(memory, entry + 8 * g + 4, static_cast<std::uint32_t>(tile_of.exponent), 4);
    }
  }
  const std::uint32_t d = r.request.head_dimension();
  for (std::uint32_t g = 0; g < group; ++g) {
    for (std::uint32_t i = 0; i < d; ++i) {
      const auto value =
          static_cast<std::uint16_t>(r.expected.result.output[std::size_t{g} * d + i]);
      store(
          memory,
          r.image.address(RegionKind::kOutput) + std::uint64_t{g} * 2 * row_stride(unit, d) + 2 * i,
          value, 2);
    }
  }
}

}  // namespace santa::cosim
