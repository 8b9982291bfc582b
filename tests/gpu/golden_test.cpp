// The golden kernels against the golden model on the host: every number equal.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "santa/config/hardware.hpp"
#include "santa/cosim/integer_data.hpp"
#include "santa/cosim/unit_parameters.hpp"
#include "santa/cosim/vector_request.hpp"
#include "santa/gpu/golden_producer.hpp"
#include "santa/vectors/producer.hpp"

// libsystemc, which comes with the co-simulation, expects it; GoogleTest's main runs instead.
extern "C" int sc_main(int /*argc*/, char** /*argv*/) {
  return 0;
}

namespace santa::gpu::testing {
namespace {

using attention::ScoreScheme;
using attention::ValueScheme;
using cosim::Random;
using vectors::Request;
using vectors::Results;

#define SANTA_NEED_DEVICE() \
  if (const std::string obstacle = golden_obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle

constexpr std::size_t kScoreSchemes = attention::kScoreSchemeNames.size();
constexpr std::size_t kValueSchemes = attention::kValueSchemeNames.size();

// Anywhere in the ranges of the golden model, wider than any unit; `elements` bounds context times
// features.
Request random_request(std::uint32_t elements, Random& random) {
  cosim::Recipe recipe;
  recipe.scores = static_cast<ScoreScheme>(random.below(kScoreSchemes));
  recipe.values = static_cast<ValueScheme>(random.below(kValueSchemes));
  recipe.group = 1 + random.below(random.chance(0.8) ? 8 : 16);
  recipe.head_dimension = random.pick({1U, 2U, 17U, 64U, 96U, 128U, 192U, 255U, 256U, 257U, 1024U,
                                       1 + random.below(64), 1 + random.below(300)});
  const std::uint32_t tile_keys = 16U << random.below(7);
  const std::uint32_t most = elements / recipe.head_dimension;
  recipe.context = std::min(
      most, random.pick({0U, 1U, 2U, tile_keys - 1, tile_keys, tile_keys + 1, 3 * tile_keys - 1,
                         127U, 129U, 1000U, random.below(most + 1), random.below(most + 1)}));
  recipe.draws_log2 = random.below(7);
  recipe.samples_log2 = random.below(13);
  recipe.keys = static_cast<cosim::KeyProfile>(random.below(10));
  recipe.query = static_cast<cosim::QueryProfile>(random.below(8));
  recipe.octaves = random.pick({0.01, 1.0, 4.0, 8.0, 16.0, 30.0, 60.0, 200.0, 5000.0, 4000000.0});
  recipe.zero_scale = random.chance(0.02);
  recipe.workload = "random";
  Request request = cosim::make_request(recipe, tile_keys, random);
  if (recipe.values == ValueScheme::kTopK) request.options.samples = 1 + random.below(4096);
  return request;
}

std::string description(const Request& r) {
  return std::string(attention::to_string(r.options.scores)) + " scores, " +
         std::string(attention::to_string(r.options.values)) + " values, S " +
         std::to_string(r.options.samples) + ", group " + std::to_string(r.group()) + ", d " +
         std::to_string(r.head_dimension()) + ", n " + std::to_string(r.context) + ", T " +
         std::to_string(r.cache->tile_keys);
}

// Compares all of `requests`, answered in one launch. How many numbers were equal is added.
void expect_golden(const std::vector<Request>& requests, std::uint64_t* compared) {
  GoldenCudaProducer device;
  vectors::GoldenProducer golden;
  const std::vector<Results> answers = device.answer_all(requests);
  ASSERT_EQ(answers.size(), requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Results& results = answers[i];
    ASSERT_TRUE(results.coefficients && results.scores && results.weights);
    const auto difference =
        vectors::first_difference(requests[i], results, golden.answer(requests[i]));
    ASSERT_FALSE(difference.has_value())
        << "request " << i << ", " << description(requests[i]) << ": " << difference->field
        << ": device " << difference->recorded << ", golden model " << difference->computed;
    *compared += vectors::compared_values(results, requests[i].group());
  }
}

TEST(Golden, AThousandRandomRequestsAreEqual) {
  SANTA_NEED_DEVICE();
  Random random(20261130);
  std::map<std::string, int> seen;
  std::uint64_t compared = 0;
  for (int batch = 0; batch < 20; ++batch) {
    std::vector<Request> requests;
    for (int i = 0; i < 50; ++i) {
      requests.push_back(random_request(batch == 0 ? 500000 : 40000, random));
      const attention::DecodeOptions& options = requests.back().options;
      ++seen[std::string(attention::to_string(options.scores)) + " " +
             std::string(attention::to_string(options.values))];
    }
    ASSERT_NO_FATAL_FAILURE(expect_golden(requests, &compared)) << "batch " << batch;
  }
  EXPECT_EQ(seen.size(), kScoreSchemes * kValueSchemes);
  for (const auto& [schemes, count] : seen) EXPECT_GE(count, 20) << schemes;
  EXPECT_GT(compared, 1000000U);
  std::printf("1000 requests, %llu numbers equal\n", static_cast<unsigned long long>(compared));
}

// Few of everything: what a checker of memory accesses can run through.
TEST(Golden, AFewRequestsOfEveryPairOfSchemesAreEqual) {
  SANTA_NEED_DEVICE();
  Random random(7);
  std::uint64_t compared = 0;
  std::vector<Request> requests;
  while (requests.size() < 60) {
    Request request = random_request(3000, random);
    const auto wanted = static_cast<ValueScheme>(requests.size() % kValueSchemes);
    const auto scores = static_cast<ScoreScheme>(requests.size() / kValueSchemes % kScoreSchemes);
    if (request.options.values == wanted && request.options.scores == scores) {
      requests.push_back(std::move(request));
    }
  }
  expect_golden(requests, &compared);
  EXPECT_GT(compared, 10000U);
}

TEST(Golden, TheRecordedRequestsAreEqualOneByOne) {
  SANTA_NEED_DEVICE();
  GoldenCudaProducer device;
  vectors::GoldenProducer golden;
  for (const auto* name : {"tiny-test", "server-hbm3"}) {
    const cosim::UnitParameters unit = cosim::parameters_of(config::load_hardware(name));
    for (std::uint64_t number = 1; number <= 32; ++number) {
      const Request request = cosim::diverse_request(unit, number);
      const auto difference =
          vectors::first_difference(request, device.answer(request), golden.answer(request));
      ASSERT_FALSE(difference.has_value()) << name << " " << number << ": " << difference->field;
    }
  }
}

TEST(Golden, TheLargestShapesAreEqual) {
  SANTA_NEED_DEVICE();
  Random random(3);
  std::uint64_t compared = 0;
  cosim::Recipe recipe;
  recipe.samples_log2 = 12;
  recipe.draws_log2 = 6;
  std::vector<Request> requests;
  // 65,536 tiles; 2^20 keys.
  recipe.context = 1U << 20;
  for (const auto values :
       {ValueScheme::kSystematic, ValueScheme::kSanta, ValueScheme::kTopK, ValueScheme::kDense}) {
    recipe.values = values;
    requests.push_back(cosim::make_request(recipe, 16, random));
  }
  // Every coefficient at its largest, and the most words of the encoder.
  recipe.context = 2000;
  recipe.head_dimension = 1024;
  recipe.group = 16;
  recipe.query = cosim::QueryProfile::kLargest;
  recipe.keys = cosim::KeyProfile::kLowest;
  for (const auto scores :
       {ScoreScheme::kExact, ScoreScheme::kBernoulliIid, ScoreScheme::kBernoulliGroup}) {
    recipe.scores = scores;
    recipe.values = ValueScheme::kStratified;
    requests.push_back(cosim::make_request(recipe, 1024, random));
  }
  expect_golden(requests, &compared);
  EXPECT_GT(compared, std::uint64_t{4} << 20);
}

// The comparison sees one lane of a generator.
TEST(Golden, ADifferentGeneratorIsSeen) {
  SANTA_NEED_DEVICE();
  Random random(5);
  cosim::Recipe recipe;
  recipe.context = 300;
  recipe.head_dimension = 32;
  recipe.scores = ScoreScheme::kBernoulli;
  recipe.draws_log2 = 2;
  const Request request = cosim::make_request(recipe, 64, random);
  Request other = request;
  ++other.request.score_stream;
  const auto difference = vectors::first_difference(request, GoldenCudaProducer().answer(other),
                                                    vectors::GoldenProducer().answer(request));
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->field.rfind("coefficient of head 0", 0), 0U) << difference->field;
}

TEST(Golden, TheDeviceIsNamed) {
  SANTA_NEED_DEVICE();
  const vectors::Device device = GoldenCudaProducer().device();
  EXPECT_EQ(device.producer, "golden-cuda");
  EXPECT_FALSE(device.name.empty());
  EXPECT_NE(device.driver.find("(CUDA "), std::string::npos) << device.driver;
  EXPECT_EQ(device.toolkit.rfind("CUDA ", 0), 0U) << device.toolkit;
}

}  // namespace
}  // namespace santa::gpu::testing
