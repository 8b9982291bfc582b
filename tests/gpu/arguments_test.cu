// What decode() refuses, with the message that says why. Shapes need a device (its processors are
// asked).
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "problem.hpp"

namespace santa::gpu::testing {
namespace {

struct Refusal {
  const char* message;  // a part of it
  Status status;
  std::function<void(DecodeArguments&)> change;
};

TEST(DecodeArguments, WrongOnesAreRefusedByName) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "no CUDA device";
  const Refusal refusals[] = {
      {"requests is 0", Status::kInvalidArgument, [](DecodeArguments& a) { a.requests = 0; }},
      {"kv_heads is 0", Status::kInvalidArgument, [](DecodeArguments& a) { a.kv_heads = 0; }},
      {"query_heads is 33", Status::kInvalidArgument,
       [](DecodeArguments& a) { a.query_heads = 33; }},
      {"query_heads / kv_heads is 17", Status::kUnsupported,
       [](DecodeArguments& a) { a.query_heads = 17 * a.kv_heads; }},
      {"head_dimension is 46", Status::kUnsupported,
       [](DecodeArguments& a) { a.head_dimension = 46; }},
      {"head_dimension is 72", Status::kUnsupported,
       [](DecodeArguments& a) { a.head_dimension = 72; }},
      {"samples is 0", Status::kInvalidArgument, [](DecodeArguments& a) { a.samples = 0; }},
      {"maximum_length is 4194305", Status::kInvalidArgument,
       [](DecodeArguments& a) { a.maximum_length = (1 << 22) + 1; }},
      {"query_type and cache_type differ", Status::kUnsupported,
       [](DecodeArguments& a) { a.query_type = ElementType::kFp16; }},
      {"query_type is 3", Status::kUnsupported,
       [](DecodeArguments& a) { a.query_type = ElementType::kInt8; }},
      {"queries is null", Status::kInvalidArgument,
       [](DecodeArguments& a) { a.queries = nullptr; }},
      {"keys is not aligned to 16 bytes", Status::kInvalidArgument,
       [](DecodeArguments& a) { a.keys.data = static_cast<const char*>(a.keys.data) + 4; }},
      {"values.token_stride is 1023 elements", Status::kInvalidArgument,
       [](DecodeArguments& a) { a.values.token_stride = 1023; }},
      {"block_tokens is 24", Status::kInvalidArgument,
       [](DecodeArguments& a) {
         a.block_table = a.lengths;
         a.block_tokens = 24;
       }},
      {"workspace_bytes is 1, needed are", Status::kWorkspaceTooSmall,
       [](DecodeArguments& a) { a.workspace_bytes = 1; }},
      {"workspace is null", Status::kInvalidArgument,
       [](DecodeArguments& a) { a.workspace = nullptr; }},
      {"scores by Bernoulli draws need key_layout kFeatureMajor", Status::kUnsupported,
       [](DecodeArguments& a) {
         a.scores = ScoreScheme::kBernoulli;
         a.bernoulli_draws = 4;
       }},
      {"bernoulli_draws is 65", Status::kInvalidArgument,
       [](DecodeArguments& a) {
         a.key_layout = KeyLayout::kFeatureMajor;
         a.scores = ScoreScheme::kBernoulliGroup;
         a.bernoulli_draws = 65;
       }},
      {"keys.token_stride is 1024, allowed is 1", Status::kInvalidArgument,
       [](DecodeArguments& a) { a.key_layout = KeyLayout::kFeatureMajor; }},
      {"keys.feature_stride is 12 elements", Status::kInvalidArgument,
       [](DecodeArguments& a) {
         a.key_layout = KeyLayout::kFeatureMajor;
         a.keys.token_stride = 1;
         a.keys.feature_stride = 12;
       }},
      {"values.feature_stride is 2, allowed is 1", Status::kInvalidArgument,
       [](DecodeArguments& a) { a.values.feature_stride = 2; }},
      {"seed is null", Status::kInvalidArgument, [](DecodeArguments& a) { a.seed = nullptr; }},
  };
  Shape shape;
  shape.lengths = {10};
  Problem problem(shape);
  problem.upload();
  for (const Refusal& refusal : refusals) {
    DecodeArguments changed = problem.arguments();
    refusal.change(changed);
    EXPECT_EQ(decode(changed, nullptr), refusal.status) << refusal.message;
    EXPECT_NE(std::string(last_error()).find(refusal.message), std::string::npos) << last_error();
  }
}

}  // namespace
}  // namespace santa::gpu::testing
