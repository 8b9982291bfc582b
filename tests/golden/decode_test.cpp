// The golden decode: edges with one right answer, baselines against float64, counted operations.
#include "santa/attention/decode.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "decode_fixture.hpp"
#include "santa/error.hpp"
#include "santa/reference/attention.hpp"

namespace santa::attention {
namespace {

constexpr ValueScheme kSampledSchemes[] = {ValueScheme::kSanta, ValueScheme::kStratified,
                                           ValueScheme::kSystematic};

DecodeResult run(const Head& head, const DecodeOptions& options, std::uint64_t seed = 1,
                 std::uint32_t context = std::numeric_limits<std::uint32_t>::max()) {
  DecodeWorkspace workspace;
  return decode(head.cache, std::min(context, head.cache.context), head.request(options, seed),
                options, workspace);
}

TEST(Decode, CountsAddUpToTheBudgetForEveryHead) {
  unsigned checked = 0;
  for (const std::uint32_t context : {1U, 2U, 15U, 16U, 17U, 255U, 256U, 257U, 2047U, 2048U}) {
    const Head head(make_gaussian(one_head(3, 32, context), context, 0), 64);
    for (const ValueScheme scheme : kSampledSchemes) {
      for (const std::uint32_t samples : {1U, 2U, 32U, 64U, 128U, 4096U}) {
        DecodeOptions options;
        options.values = scheme;
        options.samples = samples;
        const DecodeResult result = run(head, options, context + samples);
        for (std::uint32_t g = 0; g < 3; ++g) {
          const auto counts = counts_of(result, g, context);
          EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0U), samples)
              << to_string(scheme) << " n " << context << " S " << samples;
          ++checked;
        }
      }
    }
  }
  EXPECT_EQ(checked, 10U * 3 * 6 * 3);
}

TEST(Decode, NoKeysGiveZeroAndMinusInfinity) {
  const Head head(make_gaussian(one_head(2, 16, 0), 1, 0), 16);
  for (const auto& name : kValueSchemeNames) {
    DecodeOptions options;
    options.values = static_cast<ValueScheme>(name.value);
    const DecodeResult result = run(head, options);
    EXPECT_THAT(result.output, ::testing::Each(0));
    EXPECT_EQ(result.output.size(), 32U);
    EXPECT_TRUE(result.rows.empty());
    EXPECT_THAT(result.log_sum_exp, ::testing::Each(-std::numeric_limits<double>::infinity()));
  }
}

TEST(Decode, OneKeyIsReturnedExactly) {
  for (const auto& score : kScoreSchemeNames) {
    const Head head(make_gaussian(one_head(4, 64, 1), 7, 0), 16);
    for (const auto& name : kValueSchemeNames) {
      DecodeOptions options;
      options.scores = static_cast<ScoreScheme>(score.value);
      options.values = static_cast<ValueScheme>(name.value);
      const DecodeResult result = run(head, options);
      for (std::uint32_t e = 0; e < 4 * 64; ++e) {
        EXPECT_EQ(result.output[e], head.cache.values[e % 64] * 256) << name.name;
      }
    }
  }
}

TEST(Decode, EqualScoresAreDrawnEvenly) {
  for (const std::uint32_t context : {1U, 2U, 255U, 256U, 257U, 2047U, 2048U, 32768U}) {
    LayerTensors layer = make_gaussian(one_head(1, 16, context), 1, 0);
    std::fill(layer.query.begin(), layer.query.end(), 0.0F);
    const Head head(std::move(layer), 256);
    for (const std::uint32_t samples : {1U, 256U, 4096U}) {
      DecodeOptions options;
      options.samples = samples;
      for (const std::uint32_t count : counts_of(run(head, options), 0, context)) {
        EXPECT_GE(count, samples / context);
        EXPECT_LE(count, (samples + context - 1) / context);
      }
    }
  }
}

TEST(Decode, SaturatedOperandsDoNotOverflow) {
  for (const float sign : {1.0F, -1.0F}) {
    LayerTensors layer = make_gaussian(one_head(2, 1024, 300), 1, 0);
    std::fill(layer.query.begin(), layer.query.end(), 1.0F);
    std::fill(layer.key.begin(), layer.key.end(), sign * 8.0F);
    std::fill(layer.value.begin(), layer.value.end(), -1.0F);
    const Head head(std::move(layer), 64);
    for (const auto& name : kValueSchemeNames) {
      DecodeOptions options;
      options.values = static_cast<ValueScheme>(name.value);
      options.samples = 4096;
      const DecodeResult result = run(head, options);
      EXPECT_THAT(result.output, ::testing::Each(head.cache.values[0] * 256)) << name.name;
    }
  }
}

// A shorter context is what a shorter cache gives.
TEST(Decode, AttendsToTheFirstKeysOnly) {
  const LayerTensors layer = make_gaussian(one_head(2, 32, 500), 3, 0);
  const Head head(layer, 64);
  for (const std::uint32_t context : {1U, 63U, 64U, 65U, 499U}) {
    KvHead shorter = head.cache;
    shorter.context = context;
    for (const auto& name : kValueSchemeNames) {
      DecodeOptions options;
      options.values = static_cast<ValueScheme>(name.value);
      DecodeWorkspace workspace;
      const DecodeResult expected =
          decode(shorter, context, head.request(options, 5), options, workspace);
      const DecodeResult result = run(head, options, 5, context);
      EXPECT_EQ(result.output, expected.output);
      for (const SampledRow& row : result.rows) EXPECT_LT(row.key, context);
    }
  }
}

// Every head spends most of its attention on the needle, and the draws follow.
TEST(Decode, NeedleIsDrawnInProportion) {
  const Head head(make_needle(one_head(4, 128, 4096), 11, 0), 128);
  for (const ValueScheme scheme : {ValueScheme::kStratified, ValueScheme::kSystematic}) {
    DecodeOptions options;
    options.values = scheme;
    const DecodeResult result = run(head, options);
    for (std::uint32_t g = 0; g < 4; ++g) {
      const auto exact =
          reference::attend(head.tensors.query.data() + g * 128, head.tensors.key.data(),
                            head.tensors.value.data(), 4096, 128, head.tensors.softmax_scale);
      const auto needle = std::max_element(exact.probabilities.begin(), exact.probabilities.end());
      const auto key = static_cast<std::size_t>(needle - exact.probabilities.begin());
      EXPECT_GT(*needle, 0.5);
      // A run of S p strata is hit whole but for its two ends; int8 moves p by a few percent.
      EXPECT_NEAR(counts_of(result, g, 4096)[key], 256 * *needle, 2 + 0.05 * 256) << g;
    }
  }
}

TEST(Decode, SeedsChangeTheSampleAndNothingElse) {
  const Head head(make_gaussian(one_head(2, 64, 2000), 2, 0), 128);
  const DecodeOptions options;
  const DecodeResult a = run(head, options, 1);
  const DecodeResult again = run(head, options, 1);
  const DecodeResult b = run(head, options, 2);
  EXPECT_EQ(a.output, again.output);
  EXPECT_NE(a.output, b.output);
  EXPECT_EQ(a.log_sum_exp, b.log_sum_exp);
}

TEST(Decode, TopKTakesTheLargestScoresAndTheLowerKeyOfATie) {
  const std::int32_t scores[] = {5, 9, 9, -3, 9, 5};
  EXPECT_THAT(select_top_k(scores, 6, 2), ::testing::ElementsAre(1, 2));
  EXPECT_THAT(select_top_k(scores, 6, 4), ::testing::ElementsAre(0, 1, 2, 4));
  EXPECT_THAT(select_top_k(scores, 6, 100), ::testing::ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(select_top_k(scores, 0, 3), ::testing::IsEmpty());
}

TEST(Decode, RefusesBudgetsThatTheUnitCannotRun) {
  const auto message = [](std::uint32_t samples, std::uint32_t draws, ValueScheme values,
                          ScoreScheme scores) -> std::string {
    DecodeOptions options;
    options.samples = samples;
    options.bernoulli_draws = draws;
    options.values = values;
    options.scores = scores;
    try {
      check_options(options);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  constexpr const char* kPower = "allowed: a power of two from 1 to 4096";
  using ::testing::HasSubstr;
  EXPECT_THAT(message(0, 8, ValueScheme::kSystematic, ScoreScheme::kExact), HasSubstr(kPower));
  EXPECT_THAT(message(48, 8, ValueScheme::kSystematic, ScoreScheme::kExact),
              HasSubstr("--samples: got 48"));
  EXPECT_THAT(message(8192, 8, ValueScheme::kSanta, ScoreScheme::kExact), HasSubstr(kPower));
  EXPECT_EQ(message(48, 8, ValueScheme::kTopK, ScoreScheme::kExact), "");
  EXPECT_THAT(message(4097, 8, ValueScheme::kTopK, ScoreScheme::kExact),
              HasSubstr("allowed: a number from 1 to 4096"));
  EXPECT_EQ(message(0, 8, ValueScheme::kDense, ScoreScheme::kExact), "");
  EXPECT_THAT(message(64, 3, ValueScheme::kSystematic, ScoreScheme::kBernoulli),
              HasSubstr("--bernoulli: got 3; allowed: a power of two from 1 to 64"));
  EXPECT_EQ(message(64, 3, ValueScheme::kSystematic, ScoreScheme::kExact), "");
}

}  // namespace
}  // namespace santa::attention
