// What golden_decode() refuses, with the message that says why. Nothing is launched, so no device
// is needed and no pointer is followed.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "santa/gpu/golden.hpp"

namespace santa::gpu::testing {
namespace {

// Aligned and not null is all that is asked of it here.
alignas(256) char memory[256];

template <typename T>
T* somewhere() {
  return reinterpret_cast<T*>(memory);
}

GoldenRequest good_request() {
  GoldenRequest r;
  r.group = 4;
  r.head_dimension = 64;
  r.context = 100;
  r.tile_keys = 16;
  r.scores = attention::ScoreScheme::kBernoulliGroup;
  r.bernoulli_draws = 8;
  r.samples = 32;
  r.score_stream = 1;
  r.magnitude = somewhere<std::uint32_t>();
  r.negative = somewhere<std::uint8_t>();
  r.ratio = somewhere<arithmetic::GroupRatio>();
  r.scale = somewhere<arithmetic::ScaleFactor>();
  r.value_streams = somewhere<std::uint64_t>();
  r.keys = somewhere<std::int8_t>();
  r.values_of_keys = somewhere<std::int8_t>();
  r.coefficients = somewhere<std::int16_t>();
  r.accumulators = somewhere<std::int32_t>();
  r.weights = somewhere<std::uint16_t>();
  r.tile_exponents = somewhere<std::int32_t>();
  r.tile_sums = somewhere<std::uint32_t>();
  r.head_exponents = somewhere<std::int32_t>();
  r.head_masses = somewhere<std::uint64_t>();
  r.head_offsets = somewhere<std::uint64_t>();
  r.row_total = somewhere<std::uint32_t>();
  r.row_keys = somewhere<std::uint32_t>();
  r.row_counts = somewhere<std::uint16_t>();
  r.output = somewhere<std::int16_t>();
  return r;
}

struct Refusal {
  const char* message;  // a part of it
  std::function<void(GoldenRequest&)> change;
};

TEST(GoldenArguments, WrongOnesAreRefusedByName) {
  const Refusal refusals[] = {
      {"requests[1].group is 0, allowed are 1 to 16", [](auto& r) { r.group = 0; }},
      {"requests[1].group is 17", [](auto& r) { r.group = 17; }},
      {"requests[1].head_dimension is 1025", [](auto& r) { r.head_dimension = 1025; }},
      {"requests[1].context is 1048577", [](auto& r) { r.context = (1U << 20) + 1; }},
      {"requests[1].tile_keys is 48, allowed are powers of two from 16 to 1024",
       [](auto& r) { r.tile_keys = 48; }},
      {"requests[1].tile_keys is 0", [](auto& r) { r.tile_keys = 0; }},
      {"requests[1].tile_keys is 2048", [](auto& r) { r.tile_keys = 2048; }},
      {"requests[1].scores is 4, allowed are 0 to 3",
       [](auto& r) { r.scores = static_cast<attention::ScoreScheme>(4); }},
      {"requests[1].values is 5, allowed are 0 to 4",
       [](auto& r) { r.values = static_cast<attention::ValueScheme>(5); }},
      {"requests[1].bernoulli_draws is 128", [](auto& r) { r.bernoulli_draws = 128; }},
      {"requests[1].bernoulli_draws is 3", [](auto& r) { r.bernoulli_draws = 3; }},
      {"requests[1].bernoulli_draws is 8, allowed are powers of two from 1 to 1",
       [](auto& r) { r.scores = attention::ScoreScheme::kExact; }},
      {"requests[1].samples is 33, allowed are powers of two from 1 to 4096",
       [](auto& r) { r.samples = 33; }},
      {"requests[1].samples is 0, allowed are 1 to 4096",
       [](auto& r) {
         r.values = attention::ValueScheme::kTopK;
         r.samples = 0;
       }},
      {"requests[1].score_stream is 0", [](auto& r) { r.score_stream = 0; }},
      {"requests[1].magnitude is null", [](auto& r) { r.magnitude = nullptr; }},
      {"requests[1].ratio is null", [](auto& r) { r.ratio = nullptr; }},
      {"requests[1].value_streams is null", [](auto& r) { r.value_streams = nullptr; }},
      {"requests[1].keys is null", [](auto& r) { r.keys = nullptr; }},
      {"requests[1].row_counts is null", [](auto& r) { r.row_counts = nullptr; }},
      {"requests[1].head_masses is not aligned to 8 bytes",
       [](auto& r) { r.head_masses = reinterpret_cast<std::uint64_t*>(memory + 4); }},
      {"requests[1].output is null", [](auto& r) { r.output = nullptr; }},
  };
  for (const Refusal& refusal : refusals) {
    GoldenRequest requests[] = {good_request(), good_request()};
    refusal.change(requests[1]);
    EXPECT_EQ(golden_decode(requests, 2, memory, std::size_t{1} << 30, nullptr),
              Status::kInvalidArgument)
        << refusal.message;
    EXPECT_NE(std::string(last_error()).find(refusal.message), std::string::npos)
        << last_error() << " instead of " << refusal.message;
  }
}

TEST(GoldenArguments, WorkspaceIsAskedFor) {
  const GoldenRequest request = good_request();
  const std::size_t bytes = golden_workspace_bytes(&request, 1);
  EXPECT_GT(bytes, 100U * 4 * 8);
  EXPECT_EQ(golden_decode(&request, 1, memory, bytes - 1, nullptr), Status::kWorkspaceTooSmall);
  EXPECT_EQ(last_error(), "workspace_bytes is " + std::to_string(bytes - 1) + ", needed are " +
                              std::to_string(bytes));
  EXPECT_EQ(golden_decode(&request, 1, nullptr, bytes, nullptr), Status::kInvalidArgument);
  EXPECT_EQ(std::string(last_error()), "workspace is null");
  EXPECT_EQ(golden_decode(&request, 1, memory + 16, bytes, nullptr), Status::kInvalidArgument);
  EXPECT_EQ(std::string(last_error()), "workspace is not aligned to 256 bytes");
}

TEST(GoldenArguments, ThereIsAtLeastOneRequest) {
  const GoldenRequest request = good_request();
  EXPECT_EQ(golden_workspace_bytes(&request, 0), 0U);
  EXPECT_EQ(std::string(last_error()), "count is 0, allowed are 1 to 65535");
  EXPECT_EQ(golden_workspace_bytes(nullptr, 1), 0U);
  EXPECT_EQ(std::string(last_error()), "requests is null");
}

// Each draw is a row at most, and each key.
TEST(GoldenArguments, RowsThatNeedRoom) {
  GoldenRequest request = good_request();
  EXPECT_EQ(golden_most_rows(request), 100U);
  request.samples = 2;
  EXPECT_EQ(golden_most_rows(request), 8U);
  request.values = attention::ValueScheme::kDense;
  EXPECT_EQ(golden_most_rows(request), 0U);
}

}  // namespace
}  // namespace santa::gpu::testing
