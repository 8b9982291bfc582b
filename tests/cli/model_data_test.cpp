// What `santasim model` is made of: heads drawn from a source, estimates, worker processes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <set>

#include "head_pool.hpp"
#include "model_metrics.hpp"
#include "santa/attention/synthetic.hpp"
#include "santa/energy/report.hpp"
#include "santa/error.hpp"
#include "worker_processes.hpp"

namespace santa::cli {
namespace {

constexpr CacheFormat kFormat = {64, {}};
constexpr std::uint32_t kContext = 64 * 5 + 32;
constexpr std::uint32_t kDimension = 16;

InputLayer gaussian_layer(std::uint32_t context = kContext) {
  InputLayer layer;
  layer.tensors = attention::make_gaussian({4, 2, kDimension, context}, 3, 0);
  return layer;
}

std::int8_t key_of(const attention::KvHead& cache, std::uint32_t token, std::uint32_t feature) {
  return cache.tile(token / 64)[feature * 64 + token % 64];
}

// Whether `count` tokens of `cache` from `first` on are those of `source` from `from` on.
bool same_tokens(const attention::KvHead& cache, std::uint32_t first,
                 const attention::KvHead& source, std::uint32_t from, std::uint32_t count) {
  for (std::uint32_t n = 0; n < count; ++n) {
    if (std::memcmp(cache.value_row(first + n), source.value_row(from + n), kDimension) != 0) {
      return false;
    }
    for (std::uint32_t i = 0; i < kDimension; ++i) {
      if (key_of(cache, first + n, i) != key_of(source, from + n, i)) return false;
    }
  }
  return true;
}

TEST(HeadSource, AtItsOwnLengthIsTheSource) {
  const InputLayer layer = gaussian_layer();
  HeadSource source(layer, 1, kFormat);
  arithmetic::Lfsr64 random(5);
  const attention::KvHead cache = source.draw(kContext, random);
  EXPECT_EQ(random.state(), 5U);  // nothing is drawn
  EXPECT_TRUE(same_tokens(cache, 0, source.whole(), 0, kContext));
  EXPECT_EQ(cache.key_scale, source.whole().key_scale);
  EXPECT_EQ(cache.value_exponent, source.whole().value_exponent);
}

TEST(HeadSource, KeepsTheFirstTileAndTheLastTokensAndDrawsWindowsBetween) {
  const InputLayer layer = gaussian_layer();
  HeadSource source(layer, 0, kFormat);
  arithmetic::Lfsr64 random(5);
  std::set<std::uint32_t> windows;
  for (const std::uint32_t context : {64U * 200, 64U * 40 + 7}) {
    const attention::KvHead cache = source.draw(context, random);
    EXPECT_EQ(cache.context, context);
    EXPECT_TRUE(same_tokens(cache, 0, source.whole(), 0, 64));
    const std::uint32_t tail = cache.tile_valid_keys(cache.tiles() - 1);
    EXPECT_TRUE(same_tokens(cache, context - tail, source.whole(), kContext - tail, tail));
    for (std::uint32_t t = 1; t + 1 < cache.tiles(); ++t) {
      std::uint32_t from = 0;
      while (from + 64 <= kContext && !same_tokens(cache, t * 64, source.whole(), from, 64)) {
        from += HeadSource::kWindowStride;
      }
      ASSERT_LE(from + 64, kContext) << t;
      windows.insert(from);
    }
  }
  // Windows at 0, 32, ..., 288: all ten are drawn in 236 tiles.
  EXPECT_EQ(windows.size(), 10U);
}

TEST(HeadSource, ShortContextsAreTheLastTokens) {
  const InputLayer layer = gaussian_layer();
  HeadSource source(layer, 0, kFormat);
  arithmetic::Lfsr64 random(5);
  for (const std::uint32_t context : {1U, 63U, 64U}) {
    const attention::KvHead cache = source.draw(context, random);
    EXPECT_TRUE(same_tokens(cache, 0, source.whole(), kContext - context, context)) << context;
  }
}

TEST(HeadSource, RefusesLessThanATile) {
  const InputLayer layer = gaussian_layer(63);
  try {
    const HeadSource source(layer, 0, kFormat);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "--trace: layer 0 has 63 tokens; allowed: at least 64, a tile of this unit");
  }
}

TEST(HeadPool, DrawsFromEverySourceAndRepeats) {
  Input input;
  input.summary.source = "test";
  input.summary.shape = {4, 2, kDimension, kContext};
  for (const std::uint64_t seed : {1U, 2U}) {
    input.layers.emplace_back([seed] {
      InputLayer layer;
      layer.tensors = attention::make_gaussian({4, 2, kDimension, kContext}, seed, 0);
      return layer;
    });
  }
  HeadPool pool(input, kDimension, 2, kFormat);
  EXPECT_EQ(pool.sources(), 4U);
  std::set<std::vector<float>> queries;
  for (std::uint64_t state = 1; state <= 64; ++state) {
    const HeadPool::Draw draw = pool.draw(1000, arithmetic::mix64(state));
    const HeadPool::Draw again = pool.draw(1000, arithmetic::mix64(state));
    EXPECT_EQ(draw.query, again.query);
    EXPECT_TRUE(same_tokens(draw.cache, 0, again.cache, 0, 1000));
    queries.insert(draw.query);
  }
  EXPECT_EQ(queries.size(), 8U);  // four groups of two, each in two orders
  EXPECT_THROW(HeadPool(input, kDimension + 1, 2, kFormat), InputError);
  EXPECT_THROW(HeadPool(input, kDimension, 3, kFormat), InputError);
}

TEST(EstimateSum, EqualsTheFormulaByHand) {
  const Estimate all = estimate_sum({1.0, 2.0, 6.0}, 3);
  EXPECT_EQ(all.value, 9.0);
  EXPECT_EQ(all.ci95, 0.0);
  // Mean 3, variance 7; t(0.975, 2) = 4.302653; finite population: 1 - 3/12.
  const Estimate some = estimate_sum({1.0, 2.0, 6.0}, 12);
  EXPECT_EQ(some.value, 36.0);
  EXPECT_NEAR(some.ci95, 4.30265273 * 12 * std::sqrt(7.0 / 3 * 0.75), 1e-5);
  const Estimate equal = estimate_sum({0.1, 0.1, 0.1}, 32);
  EXPECT_EQ(equal.value, 3.2);
  EXPECT_EQ(equal.ci95, 0.0);
  const Estimate one = estimate_sum({5.0}, 4);
  EXPECT_EQ(one.value, 20.0);
  EXPECT_TRUE(std::isnan(one.ci95));
}

// Of 1,000 samples of 4 out of 16 values, the interval misses the sum in about 5 %.
TEST(EstimateSum, CoversTheSumAsOftenAsItSays) {
  arithmetic::Lfsr64 random(arithmetic::mix64(7));
  int missed = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    std::vector<double> values;
    double sum = 0.0;
    for (int i = 0; i < 16; ++i) {
      double normal = -6.0;  // Irwin and Hall: the sum of twelve uniforms
      for (int u = 0; u < 12; ++u) {
        normal += static_cast<double>(arithmetic::draw_below(random, 1U << 20)) / (1U << 20);
      }
      values.push_back(normal);
      sum += normal;
    }
    const Estimate estimate = estimate_sum({values[0], values[1], values[2], values[3]}, 16);
    missed += std::abs(estimate.value - sum) > estimate.ci95 ? 1 : 0;
  }
  // 50 expected, standard deviation 6.9: within five of them.
  EXPECT_GT(missed, 15);
  EXPECT_LT(missed, 85);
}

TEST(WorkerProcesses, ReturnEveryResultInItsPlace) {
  const pid_t here = getpid();
  std::vector<std::size_t> finished;
  const auto results = run_in_processes(
      20, 3,
      [here](std::size_t task) {
        std::vector<double> values(task * 1000, static_cast<double>(task));
        values.push_back(getpid() == here ? 1.0 : 0.0);
        return values;
      },
      [&](std::size_t count) { finished.push_back(count); });
  ASSERT_EQ(results.size(), 20U);
  for (std::size_t task = 0; task < 20; ++task) {
    ASSERT_EQ(results[task].size(), task * 1000 + 1);
    EXPECT_EQ(results[task].back(), 0.0);
    EXPECT_EQ(results[task].front(), task > 0 ? static_cast<double>(task) : 0.0);
  }
  EXPECT_EQ(finished.size(), 20U);
  EXPECT_EQ(finished.back(), 20U);
}

TEST(WorkerProcesses, ThrowWhatATaskThrows) {
  const auto run = [](const std::function<void()>& fail) {
    run_in_processes(
        4, 2,
        [&](std::size_t task) {
          if (task == 2) fail();
          return std::vector<double>{};
        },
        [](std::size_t) {});
  };
  EXPECT_THROW(run([] { throw InputError("bad"); }), InputError);
  EXPECT_THROW(run([] { throw energy::VerificationError("bad"); }), energy::VerificationError);
  try {
    run([] { raise(SIGTERM); });
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "a process of the simulation ended with signal 15");
  }
}

}  // namespace
}  // namespace santa::cli
