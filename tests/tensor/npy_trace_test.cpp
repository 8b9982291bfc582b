#include <gtest/gtest.h>

#include <limits>

#include "santa/tensor/trace.hpp"
#include "support.hpp"

namespace santa::tensor {
namespace {

class NpyTraceTest : public testing::Test {
 protected:
  // An array of |i1 or <f4 whose elements are all `element`.
  std::string array(const std::string& name, const std::string& descr, const std::string& shape,
                    std::size_t elements, const std::string& element) {
    const std::string header =
        "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + "}";
    std::string bytes("\x93NUMPY\x01\0", 8);
    bytes += static_cast<char>(header.size());
    bytes += '\0';
    bytes += header;
    for (std::size_t i = 0; i < elements; ++i) bytes += element;
    return folder_.write(name, bytes);
  }
  std::string query(const std::string& shape, std::size_t elements) {
    return array("query.npy", "<f4", shape, elements, one_);
  }
  std::string cache(const std::string& name, const std::string& shape, std::size_t elements) {
    return array(name, "<f4", shape, elements, one_);
  }
  std::string refused(const std::string& query, const std::string& key, const std::string& value,
                      std::optional<double> scale = std::nullopt) {
    return message_of([&] { load_npy_trace(query, key, value, scale); }, folder_);
  }

  const std::string one_{"\x00\x00\x80\x3f", 4};
  TemporaryFolder folder_;
};

TEST_F(NpyTraceTest, ShapesAndScale) {
  const std::string q = query("(4, 16)", 64);
  const std::string k = cache("key.npy", "(2, 3, 16)", 96);
  const std::string v = array("value.npy", "|i1", "(2, 3, 16)", 96, "\x05");
  const Trace trace = load_npy_trace(q, k, v);
  EXPECT_EQ(trace.kind, "arrays");
  EXPECT_EQ(trace.path, q);
  EXPECT_EQ(trace.group(), 2U);
  EXPECT_EQ(trace.context_length, 3U);
  EXPECT_EQ(trace.decode_position, 2U);
  EXPECT_EQ(trace.softmax_scale, 0.25);
  ASSERT_EQ(trace.layers.size(), 1U);
  EXPECT_FALSE(trace.layers[0].key_scale.has_value());
  EXPECT_EQ(value_head(trace.layers[0], 1), std::vector<float>(48, 5.0F));
  EXPECT_EQ(load_npy_trace(q, k, v, 2.0).softmax_scale, 2.0);
  EXPECT_EQ(refused(q, k, v, std::numeric_limits<double>::infinity()),
            "softmax scale: got inf; allowed: a number, finite and above 0");
  EXPECT_EQ(refused(q, k, v, 0.0), "softmax scale: got 0; allowed: a number, finite and above 0");
}

TEST_F(NpyTraceTest, NoKeysAtAll) {
  const Trace trace = load_npy_trace(query("(1, 1)", 1), cache("key.npy", "(1, 0, 1)", 0),
                                     cache("value.npy", "(1, 0, 1)", 0));
  EXPECT_EQ(trace.context_length, 0U);
  EXPECT_EQ(trace.decode_position, 0U);
}

TEST_F(NpyTraceTest, ShapesThatDoNotFit) {
  const std::string q = query("(4, 2)", 8);
  const std::string k = cache("key.npy", "(2, 3, 2)", 12);
  EXPECT_EQ(refused(k, k, k),
            "key.npy: shape: got [2, 3, 2]; allowed: [query_heads, head_dimension]");
  EXPECT_EQ(refused(q, q, k),
            "query.npy: shape: got [4, 2]; allowed: [kv_heads, keys, head_dimension]");
  EXPECT_EQ(refused(q, k, cache("value.npy", "(2, 2, 3)", 12)),
            "value.npy: shape: got [2, 2, 3]; allowed: [2, 3, 2], the key's");
  EXPECT_EQ(refused(q, cache("k3", "(3, 3, 2)", 18), k),
            "k3: shape: got [3, 3, 2]; allowed: KV heads that the 4 query heads are 1 to 16 times "
            "of");
  EXPECT_EQ(refused(q, cache("k3", "(2, 3, 3)", 18), k),
            "k3: shape: got [2, 3, 3]; allowed: the query's head dimension, 2 on axis 2");
  EXPECT_EQ(refused(q, cache("k3", "(0, 3, 2)", 0), k),
            "k3: shape: got [0, 3, 2]; allowed: KV heads from 1 to 65536 on axis 0");
  EXPECT_EQ(refused(array("q", "<f4", "(4, 1025)", 4100, one_), k, k),
            "q: shape: got [4, 1025]; allowed: a head dimension from 1 to 1024 on axis 1");
  EXPECT_EQ(refused(array("q", "|i1", "(4, 2)", 8, "\x01"), k, k),
            "q: descr: got \"|i1\"; allowed: '<f4', '<f2' for a query");
  EXPECT_EQ(refused(q, array("nan", "<f4", "(2, 3, 2)", 12, "\xff\xff\xff\xff"), k),
            "nan: tensor \"key\": NaN at index [0, 0, 0] of [2, 3, 2], element 0; allowed: finite "
            "values");
}

}  // namespace
}  // namespace santa::tensor
