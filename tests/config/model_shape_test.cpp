// Model shapes and how they fit the hardware.
#include "santa/config/model_shape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "expect_refused.hpp"
#include "santa/config/preset.hpp"

namespace santa::config {
namespace {

struct Expected {
  const char* name;
  std::int64_t layers, query_heads, kv_heads, max_context;
};

TEST(ModelShape, ShippedShapes) {
  const std::vector<Expected> all = {{"bitnet-2b-4t", 30, 20, 5, 4096},
                                     {"deepseek-r1-distill-qwen-7b", 28, 28, 4, 131072},
                                     {"llama-3.1-8b", 32, 32, 8, 131072},
                                     {"qwen2.5-coder-1.5b", 28, 12, 2, 32768}};
  for (const Expected& expected : all) {
    const ModelShape shape = load_model_shape(expected.name);
    EXPECT_EQ(shape.name, expected.name);
    EXPECT_EQ(shape.layers, expected.layers);
    EXPECT_EQ(shape.query_heads, expected.query_heads);
    EXPECT_EQ(shape.kv_heads, expected.kv_heads);
    EXPECT_EQ(shape.head_dimension, 128);
    EXPECT_EQ(shape.max_context, expected.max_context);
    EXPECT_DOUBLE_EQ(shape.softmax_scale(), 0.08838834764831845);
  }
}

TEST(ModelShape, AllShippedFilesLoadFitTheChipsAndReadBack) {
  for (const std::string& name : preset_names("models")) {
    const ModelShape shape = load_model_shape(name);
    EXPECT_EQ(shape.name, name);
    EXPECT_NO_THROW(require_fit(load_hardware("edge-lpddr5"), shape));
    EXPECT_NO_THROW(require_fit(load_hardware("server-hbm3"), shape));
    const std::string text = shape.canonical_text();
    EXPECT_EQ(read_model_shape(load_yaml_text(text, "canonical")).canonical_text(), text);
  }
}

TEST(ModelShape, StatedScale) {
  const ModelShape shape = load_model_shape("llama-3.1-8b", {{"softmax_scale", "0.0625"}});
  EXPECT_EQ(shape.softmax_scale(), 0.0625);
  EXPECT_THAT(shape.canonical_text(), testing::HasSubstr("\nsoftmax_scale: 0.0625\n"));
  EXPECT_EQ(refusal_of([] {
              load_model_shape("llama-3.1-8b", {{"softmax_scale", "0"}});
            }),
            "--set: softmax_scale: got 0; allowed: inverse_sqrt_head_dimension, or a number from "
            "1e-06 to 1000000");
}

TEST(ModelShape, TheGroupMustDivide) {
  EXPECT_EQ(refusal_of([] {
              load_model_shape("llama-3.1-8b", {{"query_heads", "33"}});
            }),
            "--set: query_heads: got 33; allowed: a multiple of kv_heads, which is 8");
  EXPECT_THAT(refusal_of([] {
                load_model_shape("llama-3.1-8b", {{"kv_heads", "64"}});
              }),
              testing::EndsWith("query_heads: got 32; allowed: a multiple of kv_heads, which is "
                                "64"));
}

TEST(ModelShape, MustFitTheUnit) {
  const HardwareConfig hardware = load_hardware("tiny-test");
  const Override short_head = {"head_dimension", "64"};
  EXPECT_NO_THROW(require_fit(hardware, load_model_shape("llama-3.1-8b", {short_head})));
  EXPECT_EQ(refusal_of([&] { require_fit(hardware, load_model_shape("llama-3.1-8b")); }),
            "model \"llama-3.1-8b\": head_dimension: got 128; allowed: at most "
            "unit.max_head_dimension on hardware \"tiny-test\", which is 64");
  EXPECT_EQ(refusal_of([&] {
              require_fit(hardware, load_model_shape("qwen2.5-coder-1.5b", {short_head}));
            }),
            "model \"qwen2.5-coder-1.5b\": query_heads / kv_heads: got 6; allowed: at most "
            "unit.group_heads on hardware \"tiny-test\", which is 4");
}

TEST(ModelShape, EveryKeyIsDescribed) {
  const std::vector<KeyDescription> keys = describe_model_keys();
  EXPECT_EQ(keys.size(), 9u);
  for (const KeyDescription& key : keys) EXPECT_EQ(key.sentence.back(), '.') << key.key;
}

}  // namespace
}  // namespace santa::config
