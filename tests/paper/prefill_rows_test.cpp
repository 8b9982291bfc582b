// Table 9 of the paper: distinct value rows that i.i.d. sampling reads in a causal prefill.
#include "santa/paper/prefill_rows.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "santa/paper/estimate.hpp"

namespace santa::paper {
namespace {

using Percent = std::array<double, kPrefillSamplesLog2.size()>;

void compare(std::uint32_t keys, unsigned heads, const Percent& paper) {
  std::array<Sample, kPrefillSamplesLog2.size()> samples;
  for (unsigned h = 0; h < heads; ++h) {
    const Percent percent = prefill_rows_percent(keys, 1000 + h);
    for (std::size_t b = 0; b < percent.size(); ++b) samples[b].add(percent[b]);
  }
  for (std::size_t b = 0; b < paper.size(); ++b) {
    const Estimate ours = samples[b].estimate();
    fmt::print("Table 9, n_k {}, S {:2}: ours {:.2f} +- {:.2f}, paper {:.2f}, difference {:+.2f}\n",
               keys, 1U << kPrefillSamplesLog2[b], ours.value, ours.half, paper[b],
               ours.value - paper[b]);
    EXPECT_NEAR(ours.value, paper[b], 0.4) << "S " << (1U << kPrefillSamplesLog2[b]);
    EXPECT_LT(ours.half, 0.2) << "too few heads to tell";
  }
}

TEST(PaperTable9, UniqueRows1024) {
  compare(1024, 256, {49.90, 79.95, 88.92, 94.07});
}

TEST(PaperTable9, UniqueRows2048) {
  compare(2048, 96, {50.04, 80.00, 88.83, 94.11});
}

// A length that neither a tile nor a group of positions divides.
TEST(PaperTable9, AnyLength) {
  EXPECT_EQ(prefill_rows_percent(1, 7), (Percent{100.0, 100.0, 100.0, 100.0}));
  const Percent percent = prefill_rows_percent(75, 7);
  for (std::size_t b = 0; b < percent.size(); ++b) {
    const double samples = static_cast<double>(1U << kPrefillSamplesLog2[b]);
    EXPECT_NEAR(percent[b], 100.0 * samples / (samples + 1.0), 25.0);
  }
}

}  // namespace
}  // namespace santa::paper
