// Arithmetic lanes in SystemVerilog against plain integer formulas, over every input where that is
// possible.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>

#include "Vgather_lane_rtl.h"
#include "Vlfsr_plain_rtl.h"
#include "Vlfsr_rtl.h"
#include "Vpackage_functions_rtl.h"
#include "Vvalue_lane_rtl.h"
#include "Vweight_lane_rtl.h"

namespace santa::rtl {
namespace {

template <typename Dut>
void tick(Dut& dut) {
  dut.clk_i = 0;
  dut.eval();
  dut.clk_i = 1;
  dut.eval();
}

template <typename Port, typename T>
void set(Port& port, T value) {
  port = static_cast<Port>(value);
}

// Signed value in the low `bits`; ports come without their sign.
template <unsigned bits>
std::int64_t sext(std::uint64_t value) {
  return static_cast<std::int64_t>(value << (64U - bits)) >> (64U - bits);
}

TEST(Sext, KeepsTheLeastValue) {
  EXPECT_EQ(sext<8>(0x80), -128);
  EXPECT_EQ(sext<32>(0x80000000U), -(std::int64_t{1} << 31));
  EXPECT_EQ(sext<8>(0x7f), 127);
}

// --- functions of the package
// ----------------------------------------------------------------------

// The magnitudes that are recoded have a plane less than their digits.
TEST(PackageFunctions, DigitsAreTheValueAndNoTwoAreNeighbours) {
  constexpr unsigned kPlanes = 13;
  Vpackage_functions_rtl dut;
  dut.dimension_i = 1;
  for (unsigned value = 0; value <= 1U << (kPlanes - 1); ++value) {
    set(dut.value_i, value);
    dut.eval();
    const unsigned plus = dut.plus_o;
    const unsigned minus = dut.minus_o;
    ASSERT_EQ(plus & minus, 0U) << value;
    ASSERT_EQ(plus - minus, value);
    ASSERT_EQ((plus | minus) & (plus | minus) << 1U, 0U) << value;
    ASSERT_EQ(dut.count_o, static_cast<unsigned>(__builtin_popcount(plus | minus)));
  }
}

TEST(PackageFunctions, LowestDigitAndItsPlaneAlsoOfNone) {
  Vpackage_functions_rtl dut;
  dut.dimension_i = 1;
  for (unsigned value = 0; value < 1U << 13U; ++value) {
    set(dut.value_i, value);
    dut.eval();
    ASSERT_EQ(dut.lowest_o, value & (~value + 1U));
    ASSERT_EQ(dut.plane_o, value == 0 ? 0U : static_cast<unsigned>(__builtin_ctz(value)));
  }
}

TEST(PackageFunctions, PowersThatHoldADimension) {
  Vpackage_functions_rtl dut;
  dut.value_i = 0;
  for (unsigned dimension = 0; dimension <= 256; ++dimension) {
    set(dut.dimension_i, dimension);
    dut.eval();
    unsigned expected = 0;
    while ((1U << expected) < dimension) ++expected;
    ASSERT_EQ(dut.log2_o, expected) << dimension;
  }
}

// --- lfsr
// ------------------------------------------------------------------------------------------

// One step, bit by bit: x^64 + x^63 + x^61 + x^60 + 1 (docs/numerics.md, section 8).
std::uint64_t slow_steps(std::uint64_t state, int count) {
  for (int i = 0; i < count; ++i) {
    const bool out = (state & 1U) != 0;
    state >>= 1U;
    if (out) state ^= (1ULL << 63) | (1ULL << 62) | (1ULL << 60) | (1ULL << 59);
  }
  return state;
}

template <typename Dut>
class LfsrTest : public testing::Test {};
// With Verilator's optimisations and at -O0: version 5.006 has been wrong about trees of xor.
using LfsrBuilds = testing::Types<Vlfsr_rtl, Vlfsr_plain_rtl>;
TYPED_TEST_SUITE(LfsrTest, LfsrBuilds);

TYPED_TEST(LfsrTest, DrawsLeap88StepsAndLoadsGoFirst) {
  constexpr int kCycles = 100000;
  TypeParam dut;
  dut.rst_ni = 0;
  dut.load_i = dut.draw_i = 0;
  dut.state_i = 0;
  tick(dut);
  std::uint64_t state = 1;
  ASSERT_EQ(dut.word_o, state);
  dut.rst_ni = 1;
  std::mt19937_64 random(1);
  for (int i = 0; i < kCycles; ++i) {
    set(dut.draw_i, i % 3 != 0);
    dut.load_i = i % 1000 == 1;  // also while it draws
    set(dut.state_i, i == 1 ? ~0ULL : random() | 1U);
    const std::uint64_t expected = dut.load_i   ? dut.state_i
                                   : dut.draw_i ? slow_steps(state, 88)
                                                : state;
    tick(dut);
    state = expected;
    ASSERT_EQ(dut.word_o, state) << "cycle " << i;
    ASSERT_NE(state, 0U);
  }
}

// --- lanes of sums
// ---------------------------------------------------------------------------------

TEST(GatherLane, AddsEveryKeyWithEveryDigit) {
  Vgather_lane_rtl dut;
  dut.write_i = 0;
  dut.score_slot_i = dut.slot_i = 0;
  dut.add_i = dut.valid_i = 1;
  for (int key = -128; key <= 127; ++key) {
    for (unsigned plane = 0; plane < 16; ++plane) {
      for (int negative = 0; negative < 2; ++negative) {
        dut.key_i = static_cast<std::uint8_t>(key);
        set(dut.plane_i, plane);
        set(dut.negative_i, negative);
        const std::int64_t one = (negative != 0 ? -1 : 1) * key * (std::int64_t{1} << plane);
        dut.first_i = 1;
        tick(dut);
        ASSERT_EQ(sext<32>(dut.score_o), one) << key << " << " << plane;
        dut.first_i = 0;
        tick(dut);
        ASSERT_EQ(sext<32>(dut.score_o), 2 * one);
        dut.valid_i = 0;
        tick(dut);
        ASSERT_EQ(sext<32>(dut.score_o), 2 * one) << "no digit";
        dut.valid_i = 1;
      }
    }
  }
}

TEST(ValueLane, AddsEveryValueWithEveryDigitOfACount) {
  Vvalue_lane_rtl dut;
  dut.word_i = dut.sum_word_i = 0;
  dut.add_i = dut.valid_i = 1;
  for (int value = -128; value <= 127; ++value) {
    for (unsigned plane = 0; plane <= 12; ++plane) {  // counts go to 4096
      for (int negative = 0; negative < 2; ++negative) {
        dut.value_i = static_cast<std::uint8_t>(value);
        set(dut.plane_i, plane);
        set(dut.negative_i, negative);
        const std::int64_t one = (negative != 0 ? -1 : 1) * value * (std::int64_t{1} << plane);
        dut.first_i = 1;
        tick(dut);
        // Modulo 2^20: only whole sums must fit, and 4096 values do.
        ASSERT_EQ(sext<20>(dut.sum_o), sext<20>(static_cast<std::uint64_t>(one)))
            << value << " << " << plane;
        // Takes it away again: what a sum of both signs comes to.
        dut.first_i = 0;
        set(dut.negative_i, 1 - negative);
        tick(dut);
        ASSERT_EQ(sext<20>(dut.sum_o), 0);
      }
    }
  }
}

// --- weight_lane
// -----------------------------------------------------------------------------------

struct Scale {
  unsigned sign_a, shift_a, sign_b, shift_b;
  int exponent;
  std::uint32_t bits() const {
    return sign_b << 16U | shift_b << 13U | sign_a << 11U | shift_a << 8U |
           (static_cast<unsigned>(exponent) & 0xffU);
  }
  // 64 kappa 2^exponent.
  std::int64_t factor() const {
    const auto term = [](unsigned sign, unsigned shift) {
      return sign == 0 ? 0 : (sign == 1 ? 1 : -1) * (64 >> shift);
    };
    return 64 + term(sign_a, shift_a) + term(sign_b, shift_b);
  }
};

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// The fraction bits of a score are 8; halves go up, also negative ones.
std::int64_t scaled(std::int64_t accumulator, const Scale& scale) {
  const std::int64_t product = accumulator * scale.factor() * 4;  // 2^(6 + 2) / 2^8 ... at 2^-e
  const int e = scale.exponent;
  if (e <= 0) return floor_divide(product * 2 * (std::int64_t{1} << -e) + 1, 2);
  return floor_divide(2 * product + (std::int64_t{1} << e), std::int64_t{1} << (e + 1));
}

TEST(WeightLane, RoundsEverySixteenBitScoreHalfUp) {
  Vweight_lane_rtl dut;
  dut.exponent_i = 0;
  const Scale scales[] = {{0, 1, 0, 1, 3},  {0, 1, 0, 1, 4},  {1, 1, 0, 1, 5}, {2, 2, 1, 6, 8},
                          {1, 3, 2, 6, 10}, {2, 1, 2, 6, 17}, {0, 1, 0, 1, 2}, {1, 1, 1, 2, -3}};
  for (const Scale& scale : scales) {
    set(dut.scale_i, scale.bits());
    for (int score = -32768; score <= 32767; ++score) {
      dut.score_i = static_cast<std::uint32_t>(score);
      for (int stage = 0; stage < 3; ++stage) tick(dut);
      ASSERT_EQ(sext<32>(dut.scaled_o), scaled(score, scale))
          << score << " at 2^-" << scale.exponent;
    }
  }
}

}  // namespace
}  // namespace santa::rtl
