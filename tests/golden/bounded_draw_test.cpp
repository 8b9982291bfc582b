// The bounded draw is uniform exactly: by counting every sequence of words of a small source, and
// by showing that the draw on real words follows the rule that was counted.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "santa/arithmetic/lfsr.hpp"

namespace santa::arithmetic {
namespace {

// Smallest number of bits that can hold 0..bound-1.
unsigned bits_for(std::uint64_t bound) {
  unsigned bits = 0;
  while (bits < 64 && (std::uint64_t{1} << bits) < bound) ++bits;
  return bits;
}

// The rule: the first word whose low bits lie below the bound; nothing when no word does.
std::optional<std::uint64_t> first_below(const std::vector<std::uint64_t>& words,
                                         std::uint64_t bound) {
  const std::uint64_t cells = std::uint64_t{1} << bits_for(bound);
  for (const std::uint64_t word : words) {
    if (word % cells < bound) return word % cells;
  }
  return std::nullopt;
}

// All sequences of `length` words of `width` bits: each value comes out equally often, and only the
// sequences of rejected words give none.
TEST(BoundedDraw, EveryValueIsEquallyFrequentOverAllWordSequences) {
  unsigned checks = 0;
  for (const unsigned width : {3U, 5U}) {
    const std::uint64_t source = std::uint64_t{1} << width;
    constexpr unsigned kLength = 3;
    for (std::uint64_t bound = 1; bound <= source; ++bound) {
      std::vector<std::uint64_t> frequency(bound, 0);
      std::uint64_t none = 0;
      for (std::uint64_t all = 0; all < source * source * source; ++all) {
        const std::vector<std::uint64_t> words = {all % source, all / source % source,
                                                  all / source / source};
        const auto value = first_below(words, bound);
        if (value) {
          ++frequency[*value];
        } else {
          ++none;
        }
      }
      for (const std::uint64_t f : frequency) {
        ASSERT_EQ(f, frequency[0]) << "bound " << bound << " width " << width;
        ++checks;
      }
      // Rejected words: the share of the covering power of two that lies at or above the bound.
      const std::uint64_t covering = std::uint64_t{1} << bits_for(bound);
      std::uint64_t rejected = 1;
      for (unsigned i = 0; i < kLength; ++i) rejected *= source / covering * (covering - bound);
      ASSERT_EQ(none, rejected) << "bound " << bound << " width " << width;
      ASSERT_LT(covering, 2 * bound) << "fewer than two words a draw on average";
    }
  }
  EXPECT_EQ(checks, 8U * 9 / 2 + 32U * 33 / 2);
}

TEST(BoundedDraw, FollowsTheRuleOnRealWords) {
  unsigned checks = 0;
  unsigned rejections = 0;
  for (unsigned k = 0; k <= 56; ++k) {
    const std::uint64_t power = std::uint64_t{1} << k;
    for (const std::uint64_t bound : {power, power + 1, power + power / 2, 2 * power - 1}) {
      if (bound == 0) continue;
      for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        const std::uint64_t state = derive_stream(seed, {bound, 0, 0, k, StreamPurpose::kValues});
        Lfsr64 lfsr(state);
        std::uint64_t draws = 0;
        const std::uint64_t value = draw_below(lfsr, bound, &draws);
        Lfsr64 words(state);
        std::vector<std::uint64_t> drawn(draws);
        for (std::uint64_t& word : drawn) word = words.draw();
        ASSERT_EQ(first_below(drawn, bound), value) << "bound " << bound << " seed " << seed;
        ASSERT_EQ(lfsr.state(), words.state()) << "as many words as were counted, no more";
        drawn.pop_back();
        ASSERT_FALSE(first_below(drawn, bound)) << "it stopped at the first";
        rejections += draws > 1 ? 1U : 0U;
        ++checks;
      }
    }
  }
  EXPECT_EQ(checks, 57U * 4 * 50);
  EXPECT_GT(rejections, 2000U);
}

}  // namespace
}  // namespace santa::arithmetic
