// The random source: the register itself, its period, its lanes, its streams, its bounded draws.
#include "santa/arithmetic/lfsr.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "santa/arithmetic/coefficient.hpp"

namespace santa::arithmetic {
namespace {

constexpr std::uint64_t kAllOnes = std::numeric_limits<std::uint64_t>::max();

unsigned popcount64(std::uint64_t word) {
  return popcount32(static_cast<std::uint32_t>(word)) +
         popcount32(static_cast<std::uint32_t>(word >> 32));
}

std::uint64_t steps(std::uint64_t state, unsigned count) {
  for (unsigned i = 0; i < count; ++i) state = Lfsr64::step(state);
  return state;
}

// States that exercise every bit alone, all together and mixed.
std::vector<std::uint64_t> probe_states() {
  std::vector<std::uint64_t> states = {kAllOnes, 1, Lfsr64::kFeedbackMask, 0xAAAAAAAAAAAAAAAAULL};
  for (unsigned bit = 0; bit < 64; ++bit) states.push_back(std::uint64_t{1} << bit);
  for (std::uint64_t i = 1; i <= 2000; ++i) states.push_back(mix64(i));
  return states;
}

// Polynomials over GF(2) modulo x^64 + x^63 + x^61 + x^60 + 1; bit i is the coefficient of x^i.
constexpr std::uint64_t kPolynomialLow =
    (std::uint64_t{1} << 63) | (std::uint64_t{1} << 61) | (std::uint64_t{1} << 60) | 1U;

std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  for (; b != 0; b >>= 1) {
    if ((b & 1U) != 0) product ^= a;
    a = (a << 1) ^ ((a >> 63) != 0 ? kPolynomialLow : 0U);
  }
  return product;
}

std::uint64_t power_of_x(std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (std::uint64_t square = 2; exponent != 0; exponent >>= 1) {
    if ((exponent & 1U) != 0) result = multiply(result, square);
    square = multiply(square, square);
  }
  return result;
}

// Sum over cells of (observed - expected)^2 / expected, as a standard normal deviate.
double chi_square_deviate(const std::vector<std::uint32_t>& cells, double expected) {
  double sum = 0.0;
  for (const std::uint32_t count : cells) {
    const double difference = count - expected;
    sum += difference * difference / expected;
  }
  const double freedom = static_cast<double>(cells.size()) - 1.0;
  return (sum - freedom) / std::sqrt(2.0 * freedom);
}

TEST(Lfsr, LeapIsThatManySteps) {
  for (const std::uint64_t state : probe_states()) {
    ASSERT_EQ(Lfsr64::leap32(state), steps(state, 32)) << std::hex << state;
    std::uint64_t stepped = state;
    for (unsigned count = 1; count <= 60; ++count) {
      stepped = Lfsr64::step(stepped);
      ASSERT_EQ(Lfsr64::leap(state, count), stepped) << count << ' ' << std::hex << state;
    }
  }
}

TEST(Lfsr, DrawReturnsTheStateAndAdvances88Steps) {
  for (const std::uint64_t state : probe_states()) {
    Lfsr64 lfsr(state);
    ASSERT_EQ(lfsr.draw(), state);
    ASSERT_EQ(lfsr.state(), steps(state, 88)) << std::hex << state;
    ASSERT_EQ(lfsr.draw(), steps(state, 88));
  }
}

// The bits that leave the register, first out lowest, obey the recurrence of the stated polynomial,
// so the register's period is the order of x modulo it.
TEST(Lfsr, OutputObeysTheStatedPolynomial) {
  for (const std::uint64_t start : probe_states()) {
    std::array<unsigned, 256> out{};
    std::uint64_t state = start;
    for (unsigned& bit : out) {
      bit = static_cast<unsigned>(state & 1U);
      state = Lfsr64::step(state);
    }
    // x^64 + x^63 + x^61 + x^60 + 1 read forwards: a right shift gives each tap 64 - power steps.
    for (std::size_t t = 64; t < out.size(); ++t) {
      ASSERT_EQ(out[t], out[t - 64] ^ out[t - 63] ^ out[t - 61] ^ out[t - 60]) << t;
    }
  }
}

TEST(Lfsr, PolynomialIsPrimitive) {
  std::uint64_t product = 1;
  const std::array<std::uint64_t, 7> primes = {3, 5, 17, 257, 641, 65537, 6700417};
  for (const std::uint64_t prime : primes) product *= prime;
  ASSERT_EQ(product, kAllOnes) << "these are all prime factors of 2^64 - 1";
  EXPECT_EQ(power_of_x(kAllOnes), 1U);
  for (const std::uint64_t prime : primes) EXPECT_NE(power_of_x(kAllOnes / prime), 1U) << prime;
}

TEST(Lfsr, StepIsABijectionThatNeverReachesZero) {
  // Only state 0 steps to 0: a successor is 0 just when the shifted half and the feedback cancel,
  // and the feedback has bit 63, which the shifted half lacks.
  for (const std::uint64_t state : probe_states()) ASSERT_NE(Lfsr64::step(state), 0U);
  for (const std::uint64_t seed : {kAllOnes, std::uint64_t{1}, std::uint64_t{1} << 63}) {
    Lfsr64 lfsr(seed);
    for (int i = 0; i < 1000000; ++i) ASSERT_NE(lfsr.draw(), 0U);
  }
  EXPECT_EQ(Lfsr64::step(0), 0U);
}

// The orbit of draws is the whole period when the leap is coprime with it.
TEST(Lfsr, LeapIsCoprimeWithThePeriod) {
  EXPECT_EQ(Lfsr64::kStepsPerDraw, 88U);
  EXPECT_GE(Lfsr64::kStepsPerDraw, 64U) << "no bit is used twice";
  EXPECT_EQ(std::gcd(std::uint64_t{Lfsr64::kStepsPerDraw}, kAllOnes), 1U);
}

TEST(LaneStream, HandsOutLowLanesFirstAndCountsWords) {
  Lfsr64 lfsr(0x123456789ABCDEF1ULL);
  LaneStream lanes(0x123456789ABCDEF1ULL);
  EXPECT_EQ(lanes.words_drawn(), 0U);
  for (std::uint64_t word_index = 1; word_index <= 100; ++word_index) {
    const std::uint64_t word = lfsr.draw();
    for (unsigned lane = 0; lane < 4; ++lane) {
      ASSERT_EQ(lanes.next16(), (word >> (16 * lane)) & 0xFFFFU);
      ASSERT_EQ(lanes.words_drawn(), word_index);
    }
  }
}

TEST(LaneStream, LanesAreEquidistributed) {
  for (unsigned lane = 0; lane < 4; ++lane) {
    Lfsr64 lfsr(derive_stream(11, {0, 0, lane, 0, StreamPurpose::kScores}));
    std::vector<std::uint32_t> cells(65536, 0);
    constexpr std::uint32_t kPerCell = 40;
    for (std::uint32_t i = 0; i < 65536 * kPerCell; ++i) {
      ++cells[(lfsr.draw() >> (16 * lane)) & 0xFFFFU];
    }
    EXPECT_LT(std::abs(chi_square_deviate(cells, kPerCell)), 4.5) << "lane " << lane;
  }
}

TEST(LaneStream, NeighbouringLanesAreUncorrelated) {
  constexpr int kLanes = 1 << 20;
  std::vector<double> lane(kLanes);
  LaneStream lanes(derive_stream(12, {}));
  for (double& value : lane) value = lanes.next16() - 32767.5;
  constexpr double kVariance = (65536.0 * 65536.0 - 1.0) / 12.0;
  for (int lag = 1; lag <= 16; ++lag) {
    double sum = 0.0;
    for (int i = lag; i < kLanes; ++i) {
      sum += lane[static_cast<std::size_t>(i)] * lane[static_cast<std::size_t>(i - lag)];
    }
    const double correlation = sum / (kVariance * (kLanes - lag));
    EXPECT_LT(std::abs(correlation) * std::sqrt(kLanes - lag), 4.5) << "lag " << lag;
  }
}

// Leading bits of every lane of a word and of every lane of the next fill the square evenly: no
// parity of a few leading bits shows through from one word to the next.
TEST(LaneStream, LeadingBitsOfSuccessiveWordsAreIndependent) {
  constexpr std::uint32_t kPerCell = 200;
  for (unsigned a = 0; a < 4; ++a) {
    for (unsigned b = 0; b < 4; ++b) {
      Lfsr64 lfsr(derive_stream(13, {0, a, b, 0, StreamPurpose::kScores}));
      std::vector<std::uint32_t> cells(64 * 64, 0);
      std::uint64_t word = lfsr.draw();
      for (std::uint32_t i = 0; i < 64 * 64 * kPerCell; ++i) {
        const std::uint64_t next = lfsr.draw();
        ++cells[((word >> (16 * a + 10)) & 63U) * 64 + ((next >> (16 * b + 10)) & 63U)];
        word = next;
      }
      EXPECT_LT(std::abs(chi_square_deviate(cells, kPerCell)), 5.0) << a << ' ' << b;
    }
  }
}

// The same for the lanes inside one word.
TEST(LaneStream, PairsOfLanesAreEquidistributed) {
  LaneStream lanes(derive_stream(13, {}));
  std::vector<std::uint32_t> cells(64 * 64, 0);
  constexpr std::uint32_t kPerCell = 200;
  std::uint32_t previous = lanes.next16();
  for (std::uint32_t i = 0; i < 64 * 64 * kPerCell; ++i) {
    const std::uint32_t lane = lanes.next16();
    ++cells[(previous >> 10) * 64 + (lane >> 10)];
    previous = lane;
  }
  EXPECT_LT(std::abs(chi_square_deviate(cells, kPerCell)), 5.0);
}

// Leading bits of successive bounded draws at the width of a real mass, as stratified sampling
// takes them.
TEST(DrawBelow, LeadingBitsOfSuccessiveDrawsAreIndependent) {
  constexpr std::uint32_t kPerCell = 200;
  for (const unsigned width : {10U, 24U, 28U, 32U, 36U, 40U, 44U}) {
    Lfsr64 lfsr(derive_stream(24, {0, 0, width, 0, StreamPurpose::kValues}));
    std::vector<std::uint32_t> cells(64 * 64, 0);
    std::uint64_t value = draw_below(lfsr, std::uint64_t{1} << width);
    for (std::uint32_t i = 0; i < 64 * 64 * kPerCell; ++i) {
      const std::uint64_t next = draw_below(lfsr, std::uint64_t{1} << width);
      ++cells[(value >> (width - 6)) * 64 + (next >> (width - 6))];
      value = next;
    }
    EXPECT_LT(std::abs(chi_square_deviate(cells, kPerCell)), 5.0) << width;
  }
}

// Bits that differ between the streams of neighbouring requests: 32 of 64 on average.
TEST(DeriveStream, NeighbouringIdsGiveUnrelatedStates) {
  constexpr std::uint64_t kPairs = 20000;
  std::array<std::uint64_t, 6> differing{};
  for (std::uint64_t n = 0; n < kPairs; ++n) {
    const StreamId id{n % 7, n % 28, n % 32, n, StreamPurpose::kValues};
    const std::uint64_t state = derive_stream(n + 1, id);
    std::array<StreamId, 6> others = {id, id, id, id, id, id};
    ++others[1].request;
    ++others[2].layer;
    ++others[3].head;
    ++others[4].step;
    others[5].purpose = StreamPurpose::kScores;
    for (std::size_t k = 0; k < others.size(); ++k) {
      const std::uint64_t seed = k == 0 ? n + 2 : n + 1;
      const unsigned bits = popcount64(state ^ derive_stream(seed, others[k]));
      ASSERT_GE(bits, 8U) << "field " << k << " id " << n;  // 6 standard deviations
      ASSERT_LE(bits, 56U) << "field " << k << " id " << n;
      differing[k] += bits;
    }
  }
  for (const std::uint64_t bits : differing) {
    const double mean = static_cast<double>(bits) / kPairs;
    EXPECT_NEAR(mean, 32.0, 4.5 * 4.0 / std::sqrt(static_cast<double>(kPairs)));
  }
}

TEST(DeriveStream, StatesAreDistinctAndNeverZero) {
  std::set<std::uint64_t> states;
  for (std::uint64_t layer = 0; layer < 25; ++layer) {
    for (std::uint64_t head = 0; head < 20; ++head) {
      for (std::uint64_t step = 0; step < 100; ++step) {
        for (const StreamPurpose purpose : {StreamPurpose::kScores, StreamPurpose::kValues}) {
          const std::uint64_t state = derive_stream(1, {0, layer, head, step, purpose});
          ASSERT_NE(state, 0U);
          states.insert(state);
        }
      }
    }
  }
  EXPECT_EQ(states.size(), 100000U);
}

TEST(DeriveStream, FieldsAreNotInterchangeable) {
  const std::uint64_t base = derive_stream(1, {1, 2, 3, 4, StreamPurpose::kValues});
  EXPECT_NE(base, derive_stream(1, {2, 1, 3, 4, StreamPurpose::kValues}));
  EXPECT_NE(base, derive_stream(1, {1, 3, 2, 4, StreamPurpose::kValues}));
  EXPECT_NE(base, derive_stream(1, {1, 2, 4, 3, StreamPurpose::kValues}));
  EXPECT_NE(derive_stream(kAllOnes, {}), derive_stream(1, {}));
}

TEST(DeriveStream, MixerGivesZeroForZeroOnly) {
  EXPECT_EQ(mix64(0), 0U);
  for (std::uint64_t i = 1; i < 100000; ++i) ASSERT_NE(mix64(i), 0U);
}

TEST(DrawBelow, StaysBelowTheBoundAndCountsItsDraws) {
  const std::uint64_t largest = (std::uint64_t{1} << 44) - 1;
  for (const std::uint64_t bound :
       {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{1} << 20,
        (std::uint64_t{1} << 20) + 1, largest, std::uint64_t{1} << 44, largest << 12}) {
    Lfsr64 lfsr(derive_stream(21, {bound, 0, 0, 0, StreamPurpose::kValues}));
    std::uint64_t draws = 0;
    constexpr int kDraws = 20000;
    for (int i = 0; i < kDraws; ++i) ASSERT_LT(draw_below(lfsr, bound, &draws), bound);
    EXPECT_GE(draws, static_cast<std::uint64_t>(kDraws));
    // A power of two never rejects; 2^k + 1 rejects nearly every second draw.
    if ((bound & (bound - 1)) == 0) {
      EXPECT_EQ(draws, static_cast<std::uint64_t>(kDraws));
    } else {
      EXPECT_LT(draws, static_cast<std::uint64_t>(kDraws) * 21 / 10);
    }
    if (bound == (std::uint64_t{1} << 20) + 1) {
      EXPECT_GT(draws, static_cast<std::uint64_t>(kDraws) * 19 / 10);
    }
  }
}

TEST(DrawBelow, BoundOneUsesOneDrawAndGivesZero) {
  Lfsr64 lfsr(kAllOnes);
  std::uint64_t draws = 0;
  EXPECT_EQ(draw_below(lfsr, 1, &draws), 0U);
  EXPECT_EQ(draws, 1U);
  EXPECT_EQ(lfsr.state(), steps(kAllOnes, 88));
  EXPECT_EQ(draw_below(lfsr, 1), 0U);
}

TEST(DrawBelow, IsUniformOverSmallBoundsOnRealStreams) {
  for (const std::uint64_t bound :
       {2ULL, 3ULL, 16ULL, 17ULL, 61ULL, 1000ULL, 1024ULL, 1025ULL, 3970ULL, 4000ULL}) {
    std::vector<std::uint32_t> cells(bound, 0);
    constexpr std::uint32_t kPerCell = 400;
    // One draw a stream, as systematic sampling takes it.
    for (std::uint64_t n = 0; n < bound * kPerCell; ++n) {
      Lfsr64 lfsr(derive_stream(22, {0, 0, 0, n, StreamPurpose::kValues}));
      ++cells[draw_below(lfsr, bound)];
    }
    EXPECT_LT(chi_square_deviate(cells, kPerCell), 5.0) << bound;
  }
}

TEST(DrawBelow, IsUniformOverLargeBounds) {
  for (const std::uint64_t bound : {(std::uint64_t{1} << 44) - 1, (std::uint64_t{1} << 43) + 1,
                                    (std::uint64_t{1} << 44) - (std::uint64_t{1} << 38),
                                    std::uint64_t{1} << 44, std::uint64_t{3} << 40}) {
    constexpr std::uint64_t kCells = 4032;
    std::vector<std::uint32_t> cells(kCells, 0);
    constexpr std::uint32_t kPerCell = 400;
    for (std::uint64_t n = 0; n < kCells * kPerCell; ++n) {
      Lfsr64 lfsr(derive_stream(23, {0, 0, bound, n, StreamPurpose::kValues}));
      ++cells[draw_below(lfsr, bound) / (bound / kCells + 1)];
    }
    EXPECT_LT(std::abs(chi_square_deviate(cells, kPerCell)), 5.0) << bound;
  }
}

}  // namespace
}  // namespace santa::arithmetic
