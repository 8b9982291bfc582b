#include "santa/tensor/trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "santa/error.hpp"
#include "support.hpp"

namespace santa::tensor {
namespace {

class TraceTest : public testing::Test {
 protected:
  Trace load(const std::vector<std::uint32_t>& layers = {}) {
    write_safetensors(folder_.path("f"), small_.tensors, small_.metadata);
    return load_trace(folder_.path("f"), layers);
  }
  std::string refused() {
    return message_of([&] { load(); }, folder_);
  }
  // The message with one metadata value changed.
  std::string refused(const std::string& key, const std::string& value) {
    const Metadata before = small_.metadata;
    small_.metadata[key] = value;
    std::string message = refused();
    small_.metadata = before;
    return message;
  }
  void make_integer(const std::string& role) {
    std::vector<int> numbers;
    for (int i = 0; i < 30; ++i) numbers.push_back(4 * i - 60);
    small_.tensor("layers.0." + role) = i8_tensor("layers.0." + role, {2, 5, 3}, numbers);
    small_.tensors.push_back(
        f32_tensor("layers.0." + role + "_scale", {2, 3}, {0.5F, 1, 2, 4, 8, 0.25F}));
  }

  TemporaryFolder folder_;
  SmallTrace small_;
};

TEST_F(TraceTest, WhatTheFileStates) {
  small_.tensors.push_back(f32_tensor("layers.0.output", {4, 3}, std::vector<float>(12, 2.0F)));
  small_.metadata["layers.0.sliding_window"] = "5";
  small_.metadata["unknown"] = "ignored";
  const Trace trace = load();
  EXPECT_EQ(trace.path, folder_.path("f"));
  EXPECT_EQ(trace.kind, "synthetic");
  EXPECT_EQ(trace.model, "none");
  EXPECT_EQ(trace.model_licence, "MIT");
  EXPECT_EQ(trace.text, "none");
  EXPECT_EQ(trace.query_heads, 4U);
  EXPECT_EQ(trace.kv_heads, 2U);
  EXPECT_EQ(trace.group(), 2U);
  EXPECT_EQ(trace.head_dimension, 3U);
  EXPECT_EQ(trace.context_length, 5U);
  EXPECT_EQ(trace.decode_position, 4U);
  EXPECT_EQ(trace.softmax_scale, 0.5);
  EXPECT_EQ(trace.metadata, small_.metadata);
  ASSERT_EQ(trace.layers.size(), 1U);
  const TraceLayer& layer = trace.layers[0];
  EXPECT_EQ(layer.sliding_window, 5U);
  EXPECT_EQ(layer.keys(), 5U);
  EXPECT_EQ(query_floats(layer)[11], -1.0F + 0.25F * 11);
  EXPECT_EQ(key_head(layer, 0).front(), 100.0F);
  EXPECT_EQ(key_head(layer, 1).front(), 100.0F + 0.25F * 15);
  EXPECT_EQ(key_head(layer, 1).size(), 15U);
  EXPECT_EQ(value_head(layer, 1).back(), 200.0F + 0.25F * 29);
  EXPECT_EQ(layer.output->to_floats(), std::vector<float>(12, 2.0F));
  EXPECT_THROW(key_head(layer, 2), std::out_of_range);
  EXPECT_THROW(key_integers(layer, 0), std::logic_error);
  EXPECT_TRUE(read_trace_header(folder_.path("f")).contents[0].has_output);
}

TEST_F(TraceTest, EveryOrderOfAxesGivesTheSame) {
  const Trace plain = load();
  const std::vector<std::string> names = {"kv_head", "token", "feature"};
  const std::uint64_t extents[] = {2, 5, 3};
  std::vector<std::size_t> order = {0, 1, 2};
  do {
    // Element [a][b][c] of the default order goes to its place in the stored order.
    std::vector<float> stored(30);
    for (std::uint64_t i = 0; i < 30; ++i) {
      const std::uint64_t index[] = {i / 15, i / 3 % 5, i % 3};
      std::uint64_t place = 0;
      for (const std::size_t axis : order) place = place * extents[axis] + index[axis];
      stored[place] = 100.0F + 0.25F * static_cast<float>(i);
    }
    small_.tensor("layers.0.key") = f32_tensor(
        "layers.0.key", {extents[order[0]], extents[order[1]], extents[order[2]]}, stored);
    small_.metadata["axes.key"] = names[order[0]] + "," + names[order[1]] + "," + names[order[2]];
    const Trace trace = load();
    EXPECT_EQ(trace.layers[0].key.bytes, plain.layers[0].key.bytes) << small_.metadata["axes.key"];
    EXPECT_EQ(trace.layers[0].key.shape, plain.layers[0].key.shape);
  } while (std::next_permutation(order.begin(), order.end()));

  std::vector<float> columns(12);
  for (std::size_t i = 0; i < 12; ++i) {
    columns[i % 3 * 4 + i / 3] = -1.0F + 0.25F * static_cast<float>(i);
  }
  small_.tensor("layers.0.query") = f32_tensor("layers.0.query", {3, 4}, columns);
  small_.metadata["axes.query"] = "feature,query_head";
  EXPECT_EQ(query_floats(load().layers[0]), query_floats(plain.layers[0]));
}

TEST_F(TraceTest, Integers) {
  make_integer("key");
  make_integer("value");
  const TraceLayer layer = load().layers[0];
  EXPECT_EQ(key_integers(layer, 1)[2], 8);
  EXPECT_EQ(value_integers(layer, 0)[0], -60);
  EXPECT_EQ(key_head(layer, 1)[2], 8 * 0.25F);
  EXPECT_EQ(value_head(layer, 0)[0], -30.0F);
  EXPECT_THROW(key_integers(layer, 2), std::out_of_range);

  small_.tensor("layers.0.key_scale").bytes[3] ^= 0x80;
  EXPECT_EQ(refused(),
            "f: tensor \"layers.0.key_scale\": -0.5 at element 0; allowed: scales from 0 to 2^120");
  small_.tensor("layers.0.key_scale").bytes.assign(24, 0);
  EXPECT_EQ(key_head(load().layers[0], 1)[2], 0.0F);
  small_.tensor("layers.0.value_scale").bytes.assign(24, 0);
  EXPECT_EQ(refused(),
            "f: tensor \"layers.0.value_scale\": 0 at element 0; allowed: powers of two from "
            "2^-120 to 2^120");
  small_.tensor("layers.0.value_scale") =
      f32_tensor("layers.0.value_scale", {2, 3}, {1, 0.5, 2, 3, 1, 1});
  EXPECT_EQ(
      refused(),
      "f: tensor \"layers.0.value_scale\": 3 at element 3; allowed: powers of two from 2^-120 "
      "to 2^120");
  small_.tensors.pop_back();
  EXPECT_EQ(refused(), "f: tensor \"layers.0.value_scale\": is missing; allowed: shape [2, 3]");
}

TEST_F(TraceTest, NoKeysAtAll) {
  small_.tensor("layers.0.key") = f32_tensor("layers.0.key", {2, 0, 3}, {});
  small_.tensor("layers.0.value") = f32_tensor("layers.0.value", {3, 2, 0}, {});
  small_.metadata["axes.value"] = "feature,kv_head,token";
  small_.metadata["context_length"] = "0";
  small_.metadata["decode_position"] = "0";
  const TraceLayer layer = load().layers[0];
  EXPECT_EQ(layer.keys(), 0U);
  EXPECT_EQ(layer.value.shape, (std::vector<std::uint64_t>{2, 0, 3}));
  EXPECT_TRUE(key_head(layer, 1).empty());
}

TEST_F(TraceTest, LayersByNumber) {
  for (const char* role : {"query", "key", "value"}) {
    Tensor copy = small_.tensor(std::string("layers.0.") + role);
    copy.name = std::string("layers.7.") + role;
    small_.tensors.push_back(copy);
  }
  small_.metadata["layers"] = "0,7";
  EXPECT_EQ(load().layers.size(), 2U);
  const Trace trace = load({7, 7});
  ASSERT_EQ(trace.layers.size(), 1U);
  EXPECT_EQ(trace.layers[0].layer, 7U);
  EXPECT_EQ(trace.contents.size(), 2U);
  EXPECT_EQ(message_of([&] { load({7, 3}); }, folder_), "f: layer: got 3; allowed: 0,7");
}

TEST_F(TraceTest, SlidingWindowHasFewerKeys) {
  small_.metadata["context_length"] = "9";
  small_.metadata["decode_position"] = "8";
  EXPECT_EQ(refused(),
            "f: tensor \"layers.0.key\": shape: got [2, 5, 3]; allowed: [2, 9, 3], as the metadata "
            "state");
  small_.metadata["layers.0.context_length"] = "5";
  small_.metadata["layers.0.first_position"] = "4";
  small_.metadata["layers.0.sliding_window"] = "5";
  EXPECT_EQ(load().layers[0].keys(), 5U);
  EXPECT_EQ(refused("layers.0.first_position", "3"),
            "f: metadata layers.0.first_position: got \"3\"; allowed: 4");
  EXPECT_EQ(refused("layers.0.sliding_window", "4"),
            "f: metadata layers.0.sliding_window: got \"4\"; allowed: 5, the keys of the layer, or "
            "more");
  EXPECT_EQ(refused("layers.0.context_length", "10"),
            "f: metadata layers.0.context_length: got \"10\"; allowed: an integer from 0 to 9");
}

TEST_F(TraceTest, MetadataThatIsMissing) {
  const Metadata all = small_.metadata;
  for (const auto& entry : all) {
    small_.metadata = all;
    small_.metadata.erase(entry.first);
    const std::string prefix = "f: metadata " + entry.first + ": is missing; allowed: ";
    EXPECT_EQ(refused().substr(0, prefix.size()), prefix);
  }
}

TEST_F(TraceTest, MetadataOutOfRange) {
  EXPECT_EQ(refused("format", "x\n"), "f: metadata format: got \"x\\n\"; allowed: santasim-trace");
  EXPECT_EQ(refused("format_version", "2"), "f: metadata format_version: got \"2\"; allowed: 1");
  EXPECT_EQ(refused("kind", "real"),
            "f: metadata kind: got \"real\"; allowed: captured, synthetic");
  EXPECT_EQ(refused("rotary", "none"), "f: metadata rotary: got \"none\"; allowed: applied");
  EXPECT_EQ(refused("query_heads", "5"),
            "f: metadata query_heads: got \"5\"; allowed: 1 to 16 times the 2 of kv_heads");
  EXPECT_EQ(refused("query_heads", "34"),
            "f: metadata query_heads: got \"34\"; allowed: 1 to 16 times the 2 of kv_heads");
  EXPECT_EQ(refused("kv_heads", "0"),
            "f: metadata kv_heads: got \"0\"; allowed: an integer from 1 to 65536");
  EXPECT_EQ(refused("head_dimension", "1025"),
            "f: metadata head_dimension: got \"1025\"; allowed: an integer from 1 to 1024");
  EXPECT_EQ(refused("context_length", "1048577"),
            "f: metadata context_length: got \"1048577\"; allowed: an integer from 0 to 1048576");
  EXPECT_EQ(refused("decode_position", "5"), "f: metadata decode_position: got \"5\"; allowed: 4");
  for (const char* bad : {"", " 3", "+3", "-3", "03", "3.0", "3 ", "18446744073709551619"}) {
    EXPECT_EQ(refused("head_dimension", bad), std::string("f: metadata head_dimension: got \"") +
                                                  bad + "\"; allowed: an integer from 1 to 1024");
  }
  for (const char* bad : {"", "0", "-1", "nan", "inf", "1e999", "1e-999", "0.5x", "0x1p3"}) {
    EXPECT_EQ(refused("softmax_scale", bad),
              std::string("f: metadata softmax_scale: got \"") + bad +
                  "\"; allowed: a decimal number, finite and above 0");
  }
  for (const char* bad : {"", "0,", "1,0", "0,0", "a", "65536"}) {
    EXPECT_EQ(refused("layers", bad), std::string("f: metadata layers: got \"") + bad +
                                          "\"; allowed: layer indices from 0 to 65535 with "
                                          "commas, rising");
  }
  for (const char* bad : {"", "kv_head,token", "kv_head,token,token", "token,kv_head,feature,x"}) {
    EXPECT_EQ(refused("axes.key", bad), std::string("f: metadata axes.key: got \"") + bad +
                                            "\"; allowed: kv_head,token,feature in any order");
  }
}

TEST_F(TraceTest, TensorsThatDoNotFit) {
  EXPECT_EQ(refused("head_dimension", "4"),
            "f: tensor \"layers.0.query\": shape: got [4, 3]; allowed: [4, 4], as the metadata "
            "state");
  EXPECT_EQ(refused("layers", "1"),
            "f: tensor \"layers.1.query\": is missing; allowed: shape [4, 3]");
  small_.tensor("layers.0.value").shape = {5, 2, 3};
  EXPECT_EQ(refused(),
            "f: tensor \"layers.0.value\": shape: got [5, 2, 3]; allowed: [2, 5, 3], as the "
            "metadata state");
  small_ = SmallTrace();
  small_.tensor("layers.0.query") = i8_tensor("layers.0.query", {4, 3}, std::vector<int>(12, 1));
  EXPECT_EQ(refused(), "f: tensor \"layers.0.query\": dtype: got I8; allowed: F32, F16, BF16");
  small_ = SmallTrace();
  small_.tensors.push_back(f32_tensor("layers.0.key_scale", {2, 3}, std::vector<float>(6, 1)));
  EXPECT_EQ(refused(),
            "f: tensor \"layers.0.key_scale\": is there without an I8 tensor; allowed: scales of "
            "I8 tensors only");
}

TEST_F(TraceTest, ValuesThatAreNotFinite) {
  for (const char* role : {"query", "key", "value"}) {
    small_ = SmallTrace();
    const float infinity = std::numeric_limits<float>::infinity();
    Tensor& tensor = small_.tensor(std::string("layers.0.") + role);
    std::memcpy(tensor.bytes.data() + 4 * 7, &infinity, 4);
    const std::string message = refused();
    EXPECT_EQ(message.find(std::string("f: tensor \"layers.0.") + role + "\": Inf at index ["), 0U)
        << message;
    EXPECT_NE(message.find("element 7; allowed: finite values"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace santa::tensor
