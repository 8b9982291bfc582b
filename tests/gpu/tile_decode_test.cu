// S2ANTA-prop and S2ANTA-flash in and out of batches, caches and graphs; inputs out of the
// ordinary.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "other_draws.hpp"
#include "paged.hpp"
#include "tile_problem.hpp"

namespace santa::gpu::testing {
namespace {

TEST(TileDecode, OneTokenWithAllTheMass) {
  SANTA_NEED_DEVICE();
  for (const auto scheme : kSchemes) {
    for (const int samples : {1, 256}) {
      Shape shape = small(scheme, 1500);
      shape.samples = samples;
      Problem problem(shape);
      for (std::size_t i = 0; i < problem.queries_.size() / 2; ++i) {
        encode(ElementType::kFp16, 8, &problem.queries_[2 * i]);
      }
      for (int h = 0; h < 2; ++h) {
        for (int f = 0; f < 64; ++f) {
          encode(ElementType::kFp16, 20, &problem.keys_[2 * problem.index(0, 700, h, f)]);
        }
      }
      problem.upload();
      const std::vector<float> out = problem.run(1);
      for (int h = 0; h < 8; ++h) {
        for (int f = 0; f < 64; ++f) {
          ASSERT_EQ(out[h * 64 + f], static_cast<float>(problem.value(0, 700, h / 4, f)));
        }
      }
    }
  }
}

TEST(TileDecode, SameBitsAloneAndInABatch) {
  SANTA_NEED_DEVICE();
  for (const auto scheme : kSchemes) {
    for (const int samples : {256, 3000}) {
      Shape shape;
      shape.lengths = {5000, 0, 1, 300, 8192, 4097};
      shape.scheme = scheme;
      shape.samples = samples;
      shape.spread = 3;
      Problem batch(shape);
      batch.upload();
      const std::vector<float> together = batch.run(5, 9);
      ASSERT_EQ(together, batch.run(5, 9));
      DecodeArguments& a = batch.arguments();
      a.requests = 1;
      for (const int maximum : {8192, 5000}) {
        a.maximum_length = maximum;
        std::vector<float> alone = batch.run(5, 9);
        alone.resize(32 * 128);
        ASSERT_EQ(alone, std::vector<float>(together.begin(), together.begin() + 32 * 128))
            << static_cast<int>(scheme) << ' ' << samples << ' ' << maximum;
      }
    }
  }
}

TEST(TileDecode, PagedIsContiguousBitForBit) {
  SANTA_NEED_DEVICE();
  for (const auto scheme : kSchemes) {
    Shape shape;
    shape.lengths = {3000, 77, 2049};
    shape.scheme = scheme;
    shape.tile_tokens = 400;
    expect_paged_is_contiguous(shape);
  }
}

TEST(TileDecode, OneWorkspaceServesAllSchemesInTurn) {
  SANTA_NEED_DEVICE();
  Shape shape = small(ValueScheme::kTileProportional, 3000);
  Problem problem(shape);
  problem.upload();
  DecodeArguments& a = problem.arguments();
  constexpr ValueScheme kAll[] = {ValueScheme::kSystematic, ValueScheme::kTileProportional,
                                  ValueScheme::kTileUniform};
  std::size_t bytes = 0;
  for (const auto scheme : kAll) {
    a.scheme = scheme;
    bytes = std::max(bytes, decode_workspace_bytes(a));
  }
  const Device<std::uint8_t> workspace(bytes);
  a.workspace = workspace.get();
  a.workspace_bytes = bytes;
  std::vector<std::vector<float>> first;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 3; ++i) {
      a.scheme = kAll[i];
      const std::vector<float> out = problem.run(6);
      if (round == 0) first.push_back(out);
      ASSERT_EQ(out, first[i]) << round << ' ' << i;
    }
  }
}

TEST(TileDecode, EmptyRequestsGiveZeros) {
  SANTA_NEED_DEVICE();
  for (const auto scheme : kSchemes) {
    Shape shape;
    shape.lengths = {0, 100, 0, 0};
    shape.scheme = scheme;
    Problem problem(shape);
    problem.upload();
    const std::vector<float> out = problem.run(1);
    for (const int r : {0, 2, 3}) {
      for (int i = 0; i < 32 * 128; ++i) ASSERT_EQ(out[r * 32 * 128 + i], 0);
      for (int h = 0; h < 32; ++h) ASSERT_EQ(problem.log_sum_exp()[r * 32 + h], -INFINITY);
    }
    for (int i = 0; i < 32 * 128; ++i) ASSERT_TRUE(std::isfinite(out[32 * 128 + i]));
  }
}

TEST(TileDecode, ScoresFarBelowZeroCountAsAny) {
  SANTA_NEED_DEVICE();
  for (const auto scheme : kSchemes) {
    Shape shape;
    shape.lengths = {600};
    shape.scheme = scheme;
    Problem problem(shape, [](int, int, int, int) { return 1.0F; });
    for (std::size_t i = 0; i < problem.queries_.size() / 2; ++i) {
      encode(ElementType::kBf16, -3e4F, &problem.queries_[2 * i]);
    }
    for (int n = 0; n < 600; ++n) {
      for (int h = 0; h < 8; ++h) {
        for (int f = 0; f < 128; ++f) {
          encode(ElementType::kBf16, 2, &problem.keys_[2 * problem.index(0, n, h, f)]);
        }
      }
    }
    problem.upload();
    for (const float x : problem.run(1)) ASSERT_EQ(x, 1);
    EXPECT_LT(problem.log_sum_exp()[0], -5e4F);
  }
}

TEST(TileDecode, NotANumberReachesItsGroupOnly) {
  SANTA_NEED_DEVICE();
  for (const auto scheme : kSchemes) {
    for (const float bad : {NAN, INFINITY}) {
      Shape shape;
      shape.lengths = {3000};
      shape.scheme = scheme;
      Problem problem(shape);
      encode(ElementType::kBf16, bad, &problem.keys_[2 * problem.index(0, 1234, 5, 17)]);
      for (int h = 0; h < 32; ++h) {  // an infinite key makes scores of +infinity
        encode(ElementType::kBf16, 1, &problem.queries_[2 * (h * 128 + 17)]);
      }
      problem.upload();
      const std::vector<float> out = problem.run(1);
      for (int h = 0; h < 32; ++h) {
        ASSERT_EQ(std::isnan(problem.log_sum_exp()[h]), h / 4 == 5);
        for (int f = 0; f < 128; ++f) {
          ASSERT_EQ(std::isnan(out[h * 128 + f]), h / 4 == 5) << h << ' ' << f;
        }
      }
    }
  }
}

TEST(TileDecode, SeedsAndOffsetsGiveOtherDraws) {
  SANTA_NEED_DEVICE();
  for (const auto scheme : kSchemes) {
    Shape shape;
    shape.scheme = scheme;
    expect_other_draws(shape);
  }
}

TEST(TileDecode, GraphIsReplayedAtAnotherLength) {
  SANTA_NEED_DEVICE();
  for (const auto scheme : kSchemes) {
    Shape shape;
    shape.lengths = {4000};
    shape.scheme = scheme;
    Problem problem(shape);
    problem.upload();
    cudaStream_t stream;
    check(cudaStreamCreate(&stream));
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    ASSERT_EQ(decode(problem.arguments(), stream), Status::kOk) << last_error();
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiate(&executable, graph, 0));
    for (const int length : {4000, 17, 3999, 0}) {
      auto* lengths = const_cast<std::int32_t*>(problem.arguments().lengths);
      check(cudaMemcpy(lengths, &length, 4, cudaMemcpyHostToDevice));
      problem.launch();
      const std::vector<float> direct = problem.output();
      for (int again = 0; again < 3; ++again) check(cudaGraphLaunch(executable, stream));
      check(cudaStreamSynchronize(stream));
      EXPECT_EQ(problem.output(), direct) << length;
    }
    check(cudaGraphExecDestroy(executable));
    check(cudaGraphDestroy(graph));
    check(cudaStreamDestroy(stream));
  }
}

TEST(TileDecode, WrongTilesAreRefusedByName) {
  SANTA_NEED_DEVICE();
  for (const auto scheme : kSchemes) {
    Problem problem(small(scheme, 10));
    problem.upload();
    for (const int tile : {0, -128, 112, 1040, 136}) {
      DecodeArguments changed = problem.arguments();
      changed.tile_tokens = tile;
      EXPECT_EQ(decode(changed, nullptr), Status::kInvalidArgument);
      EXPECT_EQ(std::string(last_error()), "tile_tokens is " + std::to_string(tile) +
                                               ", allowed are multiples of 16, 128 to 1024");
      EXPECT_EQ(decode_workspace_bytes(changed), 0U);
    }
    DecodeArguments changed = problem.arguments();
    changed.head_dimension = 72;
    EXPECT_EQ(decode(changed, nullptr), Status::kUnsupported);
    EXPECT_NE(std::string(last_error()).find("head_dimension is 72"), std::string::npos);
    changed = problem.arguments();
    changed.key_layout = KeyLayout::kFeatureMajor;
    EXPECT_EQ(decode(changed, nullptr), Status::kUnsupported);
    EXPECT_NE(std::string(last_error()).find("key_layout is kFeatureMajor"), std::string::npos);
    changed = problem.arguments();
    --changed.workspace_bytes;
    EXPECT_EQ(decode(changed, nullptr), Status::kWorkspaceTooSmall);
    changed = problem.arguments();
    changed.keys.data = nullptr;
    EXPECT_EQ(decode(changed, nullptr), Status::kInvalidArgument);
  }
}

}  // namespace
}  // namespace santa::gpu::testing
