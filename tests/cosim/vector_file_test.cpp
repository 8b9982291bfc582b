// Recorded vectors as files: nothing is lost, nothing broken is taken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../tensor/support.hpp"
#include "santa/cosim/vector_request.hpp"
#include "santa/error.hpp"
#include "santa/vectors/file.hpp"
#include "santa/vectors/producer.hpp"
#include "small_unit.hpp"

// SystemC's library calls it from a main() of its own, which is not used.
extern "C" int sc_main(int /*argc*/, char** /*argv*/) {
  return 0;
}

namespace santa::vectors {
namespace {

using tensor::message_of;
using tensor::read_file;
using tensor::TemporaryFolder;
using testing::HasSubstr;

Vector make_vector(std::uint64_t number) {
  Vector vector;
  vector.request = cosim::vector_request(cosim::small_unit(), number);
  GoldenProducer golden;
  vector.results = golden.answer(vector.request);
  vector.provenance = {golden.device(), "santasim 0.1.0", "0123456789ab", "2026-01-31"};
  return vector;
}

// A vector with every kind of tensor: group scores, some rows, several heads.
Vector full_vector() {
  for (std::uint64_t number = 1;; ++number) {
    Vector vector = make_vector(number);
    if (!vector.request.request.query.ratio.empty() && vector.request.group() > 2 &&
        vector.results.rows.size() > 2 && vector.request.tiles() > 1) {
      return vector;
    }
  }
}

void expect_equal(const attention::QueryOperands& a, const attention::QueryOperands& b) {
  EXPECT_EQ(a.group, b.group);
  EXPECT_EQ(a.head_dimension, b.head_dimension);
  EXPECT_EQ(a.scheme, b.scheme);
  EXPECT_EQ(a.draws_log2, b.draws_log2);
  EXPECT_EQ(a.magnitude, b.magnitude);
  EXPECT_EQ(a.negative, b.negative);
  ASSERT_EQ(a.ratio.size(), b.ratio.size());
  for (std::size_t i = 0; i < a.ratio.size(); ++i) {
    EXPECT_EQ(a.ratio[i].exponent, b.ratio[i].exponent);
    EXPECT_EQ(a.ratio[i].upper_probability, b.ratio[i].upper_probability);
  }
  ASSERT_EQ(a.scale.size(), b.scale.size());
  for (std::size_t i = 0; i < a.scale.size(); ++i) {
    EXPECT_EQ(a.scale[i].exponent, b.scale[i].exponent);
    EXPECT_EQ(a.scale[i].sign_a, b.scale[i].sign_a);
    EXPECT_EQ(a.scale[i].shift_a, b.scale[i].shift_a);
    EXPECT_EQ(a.scale[i].sign_b, b.scale[i].sign_b);
    EXPECT_EQ(a.scale[i].shift_b, b.scale[i].shift_b);
  }
}

TEST(VectorFile, RoundTripOfEveryKindOfRequest) {
  const TemporaryFolder folder;
  for (std::uint64_t number = 1; number <= 70; ++number) {
    SCOPED_TRACE(number);
    const Vector vector = make_vector(number);
    write_vector(folder.path("v"), vector);
    const Vector read = read_vector(folder.path("v"));
    EXPECT_EQ(read.path, folder.path("v"));
    EXPECT_EQ(read.request.workload, vector.request.workload);
    EXPECT_EQ(read.request.context, vector.request.context);
    EXPECT_EQ(read.request.options.scores, vector.request.options.scores);
    EXPECT_EQ(read.request.options.values, vector.request.options.values);
    EXPECT_EQ(read.request.options.samples, vector.request.options.samples);
    expect_equal(read.request.request.query, vector.request.request.query);
    EXPECT_EQ(read.request.request.score_stream, vector.request.request.score_stream);
    EXPECT_EQ(read.request.request.value_streams, vector.request.request.value_streams);
    EXPECT_EQ(read.request.cache->tile_keys, vector.request.cache->tile_keys);
    EXPECT_EQ(read.request.cache->keys, vector.request.cache->keys);
    EXPECT_EQ(read.request.cache->values, vector.request.cache->values);
    EXPECT_FALSE(first_difference(vector.request, read.results, vector.results));
    EXPECT_FALSE(
        first_difference(read.request, read.results, GoldenProducer().answer(read.request)));
    EXPECT_EQ(read.provenance.device.producer, kGoldenProducer);
    EXPECT_EQ(read.provenance.device.name, vector.provenance.device.name);
    EXPECT_EQ(read.provenance.device.driver, "none");
    EXPECT_EQ(read.provenance.device.toolkit, vector.provenance.device.toolkit);
    EXPECT_EQ(read.provenance.program, "santasim 0.1.0");
    EXPECT_EQ(read.provenance.commit, "0123456789ab");
    EXPECT_EQ(read.provenance.date, "2026-01-31");
    // What was read writes the same bytes.
    const std::string bytes = read_file(folder.path("v"));
    write_vector(folder.path("w"), read);
    EXPECT_EQ(read_file(folder.path("w")), bytes);
  }
}

TEST(VectorFile, WhatLiesInsideAFusedKernelMayBeAbsent) {
  const TemporaryFolder folder;
  const Vector full = full_vector();
  Vector vector = full;
  vector.results.coefficients.reset();
  vector.results.scores.reset();
  vector.results.weights.reset();
  write_vector(folder.path("v"), vector);
  const Results results = read_vector(folder.path("v")).results;
  EXPECT_FALSE(results.coefficients || results.scores || results.weights);
  EXPECT_FALSE(first_difference(full.request, results, full.results));
  EXPECT_LT(compared_values(results, full.request.group()),
            compared_values(full.results, full.request.group()));
}

TEST(VectorFile, EveryTruncationIsRefused) {
  const TemporaryFolder folder;
  write_vector(folder.path("v"), full_vector());
  const std::string bytes = read_file(folder.path("v"));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::string path = folder.write("cut", bytes.substr(0, length));
    EXPECT_THROW(read_vector(path), InputError) << length;
  }
  EXPECT_THROW(read_vector(folder.write("long", bytes + '\0')), InputError);
}

// One bit wrong anywhere. Only blanks behind the header's JSON may change into another blank.
TEST(VectorFile, EveryFlippedByteIsRefused) {
  const TemporaryFolder folder;
  const Vector vector = full_vector();
  write_vector(folder.path("v"), vector);
  const std::string bytes = read_file(folder.path("v"));
  const std::size_t end = bytes.rfind('}') == std::string::npos ? 0 : bytes.find("}}", 8) + 2;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int bit : {1, 8, 128}) {
      std::string broken = bytes;
      broken[at] = static_cast<char>(broken[at] ^ bit);
      const bool blank = at >= end && bytes[at] == ' ' && broken[at] == '\t';
      if (blank) continue;
      EXPECT_THROW(read_vector(folder.write("broken", broken)), InputError)
          << "byte " << at << ", bit " << bit;
    }
  }
}

class VectorRefusal : public testing::Test {
 protected:
  // The message for a file whose metadata or tensors were changed after its sum was taken.
  std::string refused(const std::function<void(tensor::Metadata&)>& change) {
    write_vector(folder_.path("v"), full_vector());
    const tensor::SafetensorsFile file(folder_.path("v"));
    tensor::Metadata metadata = file.metadata();
    std::vector<tensor::Tensor> tensors;
    for (const auto& [name, info] : file.tensors()) tensors.push_back(file.read(name));
    change(metadata);
    if (edit_) edit_(tensors);
    tensor::write_safetensors(folder_.path("v"), tensors, metadata);
    return message_of([&] { read_vector(folder_.path("v")); }, folder_);
  }
  std::string refused_text(const std::string& key, const std::string& value) {
    return refused([&](tensor::Metadata& metadata) { metadata[key] = value; });
  }
  std::string refused_tensors(const std::function<void(std::vector<tensor::Tensor>&)>& edit) {
    edit_ = edit;
    return refused([](tensor::Metadata&) {});
  }
  // The message for a vector that was written as it is, with a sum that is right.
  std::string refused_value(const std::function<void(Vector&)>& change) {
    Vector vector = full_vector();
    change(vector);
    write_vector(folder_.path("v"), vector);
    return message_of([&] { read_vector(folder_.path("v")); }, folder_);
  }

  TemporaryFolder folder_;
  std::function<void(std::vector<tensor::Tensor>&)> edit_;
};

TEST_F(VectorRefusal, NamesTheMetadataItsValueAndWhatIsAllowed) {
  EXPECT_EQ(refused_text("format", "santasim-trace"),
            "v: metadata format: got \"santasim-trace\"; allowed: santasim-vector");
  EXPECT_EQ(refused_text("format_version", "2"),
            "v: metadata format_version: got \"2\"; allowed: 1");
  EXPECT_EQ(refused_text("scores", "exakt"),
            "v: metadata scores: got \"exakt\"; allowed: exact, bernoulli, bernoulli-iid, "
            "bernoulli-group");
  EXPECT_EQ(refused_text("samples", "48"),
            "v: metadata samples: got \"48\"; allowed: a power of two from 1 to 4096");
  EXPECT_EQ(refused_text("bernoulli_draws", "128"),
            "v: metadata bernoulli_draws: got \"128\"; allowed: a power of two from 1 to 64");
  EXPECT_EQ(refused_text("group", "017"),
            "v: metadata group: got \"017\"; allowed: an integer from 1 to 16");
  EXPECT_EQ(refused_text("tile_keys", "-16"),
            "v: metadata tile_keys: got \"-16\"; allowed: a power of two from 16 to 1024");
  EXPECT_EQ(refused_text("date", "31.01.2026"),
            "v: metadata date: got \"31.01.2026\"; allowed: a date, YYYY-MM-DD");
  EXPECT_EQ(refused_text("device", ""),
            "v: metadata device: got \"\"; allowed: a text without control characters");
  EXPECT_EQ(refused([](tensor::Metadata& metadata) { metadata.erase("driver"); }),
            "v: metadata driver: is missing; allowed: a text without control characters");
  EXPECT_THAT(refused_text("workload", "another one"), HasSubstr("the sum of the content"));
  EXPECT_THAT(refused_text("context", "1"), HasSubstr("as the metadata state"));
}

TEST_F(VectorRefusal, NamesTheTensor) {
  const auto find = [](std::vector<tensor::Tensor>& tensors, const std::string& name) {
    return std::find_if(tensors.begin(), tensors.end(),
                        [&](const tensor::Tensor& t) { return t.name == name; });
  };
  EXPECT_EQ(refused_tensors([&](auto& tensors) { tensors.erase(find(tensors, "keys")); }),
            "v: tensor \"keys\": is missing; allowed: I8");
  EXPECT_EQ(refused_tensors([&](auto& tensors) {
              find(tensors, "result.output")->dtype = tensor::DType::kU16;
            }),
            "v: tensor \"result.output\": dtype: got U16; allowed: I16");
  EXPECT_THAT(refused_tensors([&](auto& tensors) {
                find(tensors, "result.row_keys")->shape = {1, 2, 3};
                find(tensors, "result.row_keys")->bytes.resize(24);
              }),
              HasSubstr("tensor \"result.row_keys\": shape: got [1, 2, 3]"));
  EXPECT_THAT(refused_tensors([&](auto& tensors) { find(tensors, "keys")->name = "key"; }),
              HasSubstr("tensor \"keys\": is missing"));
  EXPECT_THAT(refused_tensors([&](auto& tensors) {
                tensors.push_back(tensor::Tensor{"notes", tensor::DType::kI8, {0}, {}});
              }),
              HasSubstr("tensor \"notes\": is not known; allowed: keys, query.magnitude"));
}

// Values that the models could not take, in files that are whole.
TEST_F(VectorRefusal, NamesTheValue) {
  const auto query = [](Vector& vector) -> attention::QueryOperands& {
    return vector.request.request.query;
  };
  EXPECT_THAT(
      refused_value([&](Vector& v) { query(v).magnitude[3] = 0x7FFFFFFF; }),
      HasSubstr("v: tensor \"query.magnitude\": got 2147483647 at element 3; allowed: 0 to"));
  EXPECT_EQ(refused_value([&](Vector& v) { query(v).negative[5] = 2; }),
            "v: tensor \"query.negative\": got 2 at element 5; allowed: 0 to 1");
  EXPECT_THAT(refused_value([&](Vector& v) { query(v).ratio[1].exponent = 9; }),
              HasSubstr("v: tensor \"query.ratio_exponent\": got 9 at element 1; allowed: -4 to"));
  EXPECT_EQ(refused_value([&](Vector& v) { query(v).scale[0].exponent = 31; }),
            "v: tensor \"query.scale\": got 31 at element 0; allowed: -8 to 30");
  EXPECT_EQ(refused_value([&](Vector& v) { query(v).scale[0].shift_b = 0; }),
            "v: tensor \"query.scale\": got 0 at element 4; allowed: 1 to 6");
  EXPECT_THAT(refused_value([&](Vector& v) {
                query(v).scale[0] = {-8, 1, 1, 1, 1};
                for (auto& m : query(v).magnitude) m = 1U << (16 + query(v).draws_log2);
                for (auto& r : query(v).ratio) r = {1, 0};
              }),
              HasSubstr("tensor \"query.scale\": scores of head 0 could reach"));
  EXPECT_EQ(
      refused_value([&](Vector& v) { v.request.request.score_stream = 0; }),
      "v: tensor \"score_stream\": got 0 at element 0; allowed: any state but 0 for Bernoulli "
      "scores");
  EXPECT_EQ(refused_value([&](Vector& v) { v.request.request.value_streams[1] = 0; }),
            "v: tensor \"value_streams\": got 0 at element 1; allowed: any state but 0 for sampled "
            "values");
  EXPECT_THAT(refused_value([&](Vector& v) { v.results.rows[1].key = v.results.rows[0].key; }),
              HasSubstr("v: tensor \"result.row_keys\": got"));
  EXPECT_THAT(refused_value([&](Vector& v) { v.results.rows.back().key = v.request.context; }),
              HasSubstr("allowed: rising keys below"));
}

TEST(VectorFile, PartsThatDoNotFitAreNotWritten) {
  const TemporaryFolder folder;
  Vector vector = full_vector();
  vector.results.output.pop_back();
  EXPECT_THROW(write_vector(folder.path("v"), vector), std::invalid_argument);
  vector = full_vector();
  --vector.request.context;
  EXPECT_THROW(write_vector(folder.path("v"), vector), std::invalid_argument);
  EXPECT_TRUE(folder.names().empty());
}

// The limit of the file size stands for a disk that is full in the middle of the data.
TEST(VectorFile, FullDiskIsReportedAndLeavesNothing) {
  const TemporaryFolder folder;
  const Vector vector = full_vector();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {1024, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message = message_of([&] { write_vector(folder.path("v"), vector); }, folder);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(message, "v: cannot write: File too large; nothing was left");
  EXPECT_TRUE(folder.names().empty());
}

TEST(VectorFile, FoldersAreSearchedInOrder) {
  const TemporaryFolder folder;
  EXPECT_EQ(message_of([&] { vector_files("DIR", folder.path(".")); }, folder),
            "DIR: \".\": holds none; allowed: a folder with vectors, files *.safetensors");
  EXPECT_THAT(message_of([&] { vector_files("DIR", folder.path("no")); }, folder),
              HasSubstr("DIR: \"no\": No such file or directory"));
  folder.write("b.safetensors", "");
  folder.write("a.safetensors", "");
  folder.write("a.safetensors.1-0.partial", "");
  EXPECT_EQ(vector_files("DIR", folder.path("")),
            (std::vector<std::string>{folder.path("a.safetensors"), folder.path("b.safetensors")}));
}

}  // namespace
}  // namespace santa::vectors
