// The unit's ports as plain numbers, and the events of its monitors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "santa/cosim/unit_parameters.hpp"

namespace santa::cosim {

inline constexpr std::size_t kMaxPortBytes = 128;

// One word of the memory port; bytes at and beyond PortBytes are 0.
using BusWord = std::array<std::uint8_t, kMaxPortBytes>;
// Bit i strobes byte i.
using BusStrobes = std::array<std::uint8_t, kMaxPortBytes / 8>;

inline constexpr std::uint8_t kRespOkay = 0;
inline constexpr std::uint8_t kRespSlaveError = 2;
inline constexpr std::uint8_t kRespDecodeError = 3;
inline constexpr std::uint8_t kBurstIncrement = 1;

struct AxiAddress {
  bool valid = false;
  std::uint8_t id = 0;
  std::uint8_t length = 0;  // words less one
  std::uint8_t size = 0;    // log2 of the bytes of a word
  std::uint8_t burst = 0;
  std::uint64_t address = 0;
};

struct AxiFromUnit {
  AxiAddress ar;
  AxiAddress aw;
  bool rready = false;
  bool bready = false;
  bool wvalid = false;
  bool wlast = false;
  BusStrobes wstrb{};
  BusWord wdata{};
};

struct AxiToUnit {
  bool arready = false;
  bool awready = false;
  bool wready = false;
  bool rvalid = false;
  bool rlast = false;
  std::uint8_t rid = 0;
  std::uint8_t rresp = 0;
  BusWord rdata{};
  bool bvalid = false;
  std::uint8_t bid = 0;
  std::uint8_t bresp = 0;
};

struct LiteFromUnit {
  bool awready = false;
  bool wready = false;
  bool arready = false;
  bool bvalid = false;
  std::uint8_t bresp = 0;
  bool rvalid = false;
  std::uint8_t rresp = 0;
  std::uint32_t rdata = 0;
};

struct LiteToUnit {
  bool awvalid = false;
  std::uint16_t awaddr = 0;
  bool wvalid = false;
  std::uint32_t wdata = 0;
  std::uint8_t wstrb = 0;
  bool bready = false;
  bool arvalid = false;
  std::uint16_t araddr = 0;
  bool rready = false;
};

struct UnitInputs {
  bool rst_n = false;
  AxiToUnit axi;
  LiteToUnit lite;
};

struct UnitOutputs {
  AxiFromUnit axi;
  LiteFromUnit lite;
  bool irq = false;
};

// Data is valid while the flag above it is true.
struct Monitors {
  bool coefficient_valid = false;
  std::uint8_t coefficient_feature = 0;
  std::vector<std::int16_t> coefficient;  // [GroupHeads]

  bool score_valid = false;
  std::vector<std::int32_t> score;  // [GroupHeads][WeightLanes]

  bool weight_valid = false;
  std::vector<std::uint16_t> weight;  // [GroupHeads][WeightLanes]

  bool tile_valid = false;
  std::vector<std::int32_t> tile_exponent;  // [GroupHeads]
  std::vector<std::uint32_t> tile_sum;      // [GroupHeads]

  bool draw_valid = false;
  std::uint8_t draw_head = 0;
  std::int32_t draw_exponent = 0;
  std::uint64_t draw_mass = 0;
  std::uint64_t draw_offset = 0;

  bool row_valid = false;
  std::uint32_t row_key = 0;
  std::vector<std::uint16_t> row_counts;  // [GroupHeads]

  bool value_valid = false;
  std::vector<std::uint8_t> value;  // [PortBytes]

  bool output_valid = false;
  std::uint8_t output_head = 0;
  std::uint8_t output_feature = 0;
  std::vector<std::int16_t> output;  // [NormalizerLanes]

  explicit Monitors(const UnitParameters& unit)
      : coefficient(unit.group_heads),
        score(static_cast<std::size_t>(unit.group_heads) * unit.weight_lanes),
        weight(score.size()),
        tile_exponent(unit.group_heads),
        tile_sum(unit.group_heads),
        row_counts(unit.group_heads),
        value(unit.port_bytes),
        output(unit.normalizer_lanes) {}
};

}  // namespace santa::cosim
