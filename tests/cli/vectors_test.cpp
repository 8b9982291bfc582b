// `santasim vectors` and `santasim cosim --vectors`: what is recorded is found again, and what is
// broken or wrong is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "program.hpp"
#include "santa/vectors/file.hpp"

namespace santa::test {
namespace {

using testing::HasSubstr;

const std::string kShipped = SANTA_SOURCE_DIR "/traces/vectors/golden-cpu";

class VectorsTest : public testing::Test {
 protected:
  std::string recorded(const char* seeds = "7") {
    std::string place = folder_ / "set";
    expect_success(run_program({"vectors", "record", place, "--seeds", seeds}));
    return place;
  }
  // Changes a vector of the set and gives it a sum that is right again.
  static void change(const std::string& path, const std::function<void(vectors::Vector&)>& edit) {
    vectors::Vector vector = vectors::read_vector(path);
    edit(vector);
    vectors::write_vector(path, vector);
  }

  TemporaryFolder folder_;
};

TEST_F(VectorsTest, WhatIsRecordedIsCheckedAndReplayed) {
  const std::string place = recorded();
  const Outcome check = run_program({"vectors", "check", place});
  expect_success(check);
  EXPECT_THAT(check.out, HasSubstr("7 vectors, "));
  EXPECT_THAT(check.out, HasSubstr("7 of golden-cpu on "));
  EXPECT_THAT(check.out, HasSubstr("no difference\n"));
  const Outcome cosim = run_program({"cosim", "--vectors", place, "--json", folder_ / "r.json"});
  expect_success(cosim);
  EXPECT_THAT(cosim.out, HasSubstr("vectors replayed       6 of 7\n"));
  EXPECT_THAT(cosim.out, HasSubstr("1 cycle model alone: strat values, the unit has sys"));
  const auto report = read_json(folder_ / "r.json");
  EXPECT_EQ(report["command"], "santasim cosim --config tiny-test --vectors " + place);
  EXPECT_EQ(report["requests"], 6);
  EXPECT_EQ(report["vectors"]["replayed"], 6);
  EXPECT_GT(report["vectors"]["values_compared"], 500);
  EXPECT_EQ(report["vectors"]["cycle_model_alone"][0]["file"],
            place + "/tiny-test-007.safetensors");
  EXPECT_TRUE(report["vectors"]["skipped"].empty());
  EXPECT_GT(report["checks"]["outputs"]["compared"], 0);
  EXPECT_GT(report["cycle_model"]["outputs_compared"], report["checks"]["outputs"]["compared"]);
}

// On one day the same program writes the same bytes.
TEST_F(VectorsTest, RecordingIsRepeatable) {
  ASSERT_EQ(::setenv("SOURCE_DATE_EPOCH", "1000000000", 1), 0);
  expect_success(run_program({"vectors", "record", folder_ / "a", "--seeds", "3"}));
  expect_success(run_program({"vectors", "record", folder_ / "b/c", "--seeds", "3"}));
  ::unsetenv("SOURCE_DATE_EPOCH");
  for (const char* name : {"tiny-test-001", "tiny-test-002", "tiny-test-003"}) {
    const std::string file = std::string(name) + ".safetensors";
    EXPECT_EQ(read_file(folder_ / ("a/" + file)), read_file(folder_ / ("b/c/" + file)));
    EXPECT_EQ(vectors::read_vector(folder_ / ("a/" + file)).provenance.date, "2001-09-09");
  }
}

// The requests of a run, a file a KV head.
TEST_F(VectorsTest, ARunsRequestsAreCaptured) {
  const std::vector<std::string> run = {
      "--synthetic",      "gaussian", "--query-heads", "4",         "--kv-heads", "2",
      "--head-dimension", "16",       "--context",     "100",       "--layers",   "2",
      "--samples",        "32",       "--scores",      "bernoulli", "--seed",     "5"};
  std::vector<std::string> words = {"vectors", "capture", folder_ / "run"};
  words.insert(words.end(), run.begin(), run.end());
  const Outcome outcome = run_program(words);
  expect_success(outcome);
  EXPECT_THAT(outcome.out, HasSubstr("4 vectors of Gaussian tensors, data seed 1 written to "));
  const Outcome check = run_program({"vectors", "check", folder_ / "run"});
  expect_success(check);
  EXPECT_THAT(check.out, HasSubstr("4 vectors, "));
  const vectors::Vector vector =
      vectors::read_vector(folder_ / "run/layer-001-kv-head-001.safetensors");
  EXPECT_EQ(vector.request.workload, "layer 1, KV head 1");
  EXPECT_EQ(vector.request.context, 100U);
  EXPECT_EQ(vector.request.group(), 2U);
  EXPECT_EQ(vector.request.options.samples, 32U);
  expect_refused(run_program(words), {"DIR", "is there already"});
  words.insert(words.end(), {"--set", "system.key_bits=4"});
  expect_refused(run_program(words), {"a recorded vector"});
}

TEST_F(VectorsTest, ADifferenceIsNamedWithBothValues) {
  const std::string place = recorded();
  int output = 0;
  change(place + "/tiny-test-002.safetensors",
         [&](vectors::Vector& vector) { output = vector.results.output[0]++; });
  const Outcome check = run_program({"vectors", "check", place});
  EXPECT_EQ(check.exit_code, 1);
  const std::string both =
      "recorded " + std::to_string(output + 1) + ", golden model " + std::to_string(output);
  EXPECT_THAT(check.err, HasSubstr("tiny-test-002.safetensors ("));
  EXPECT_THAT(check.err, HasSubstr("output of head 0, feature 0: " + both));
  EXPECT_THAT(check.err, HasSubstr("1 of 7 vectors differ"));
  const Outcome cosim = run_program({"cosim", "--vectors", place});
  EXPECT_EQ(cosim.exit_code, 1);
  EXPECT_THAT(cosim.err, HasSubstr("golden model: " + place + "/tiny-test-002.safetensors"));
  EXPECT_THAT(cosim.err, HasSubstr(both));
  EXPECT_THAT(cosim.err, HasSubstr("repeat with: santasim cosim --config tiny-test --vectors "));
}

TEST_F(VectorsTest, BrokenFilesAreRefused) {
  const std::string place = recorded();
  const std::string path = place + "/tiny-test-003.safetensors";
  const std::string bytes = read_file(path);
  std::string flipped = bytes;
  flipped[flipped.size() - 5] = static_cast<char>(flipped[flipped.size() - 5] ^ 4);
  for (const std::string& broken : {bytes.substr(0, bytes.size() / 2), flipped, std::string()}) {
    write_file(path, broken);
    expect_refused(run_program({"vectors", "check", place}), {"tiny-test-003.safetensors: "});
    expect_refused(run_program({"cosim", "--vectors", place}), {"tiny-test-003.safetensors: "});
  }
  write_file(path, flipped);
  expect_refused(run_program({"vectors", "check", place}),
                 {"metadata checksum: got ", "the sum of the content"});
}

TEST_F(VectorsTest, VectorsThatDoNotFitTheUnitAreNamedOrCounted) {
  const std::string place = folder_ / "wide";
  expect_success(
      run_program({"vectors", "record", place, "--config", "eight-heads", "--seeds", "3"}));
  expect_refused(run_program({"cosim", "--vectors", place}),
                 {"--vectors", "none of 3 vectors fits the unit", "eight-heads-001.safetensors",
                  "64 keys a tile, the unit has 16", "allowed: vectors of 16 keys a tile"});
  expect_success(run_program({"vectors", "record", place, "--seeds", "3"}));
  const Outcome cosim = run_program({"cosim", "--vectors", place, "--json", "-"});
  expect_success(cosim);
  const auto report = nlohmann::json::parse(cosim.out);
  EXPECT_EQ(report["vectors"]["replayed"], 3);
  EXPECT_EQ(report["vectors"]["skipped"].size(), 3U);
  EXPECT_EQ(report["vectors"]["skipped"][0]["reason"], "64 keys a tile, the unit has 16");
}

TEST_F(VectorsTest, BadInputIsRefused) {
  const std::string place = recorded("1");
  expect_refused(run_program({"vectors", "record", place, "--seeds", "2"}),
                 {"DIR", "tiny-test-001.safetensors", "is there already"});
  expect_refused(run_program({"vectors", "record", folder_ / "x", "--seeds", "0"}),
                 {"--seeds", "\"0\"", "1 to"});
  expect_refused(run_program({"vectors", "record", folder_ / "x", "--producer", "abacus"}),
                 {"--producer", "\"abacus\"", "golden-cpu"});
  expect_refused(run_program({"vectors", "record", folder_ / "x", "--config", "tinny-test"}),
                 {"--config", "\"tinny-test\""});
  expect_refused(run_program({"vectors", "record", "/dev/null/x"}), {"DIR", "/dev/null/x"});
  expect_refused(run_program({"vectors", "record"}), {"DIR"});
  expect_refused(run_program({"vectors", "check", folder_ / "none"}), {"DIR", "none"});
  expect_refused(run_program({"vectors", "check", ""}), {"DIR"});
  expect_refused(run_program({"vectors"}), {"santasim vectors --help"});
  std::filesystem::create_directory(folder_ / "empty");
  expect_refused(run_program({"vectors", "check", folder_ / "empty"}), {"DIR", "holds none"});
}

// Every score scheme with every value scheme, for four shapes.
TEST_F(VectorsTest, ADiverseSetIsRecordedByOneCommand) {
  const std::string place = folder_ / "set";
  expect_success(run_program({"vectors", "record", place, "--diverse", "--seeds", "20"}));
  const Outcome check = run_program({"vectors", "check", place});
  expect_success(check);
  EXPECT_THAT(check.out, HasSubstr("80 vectors, "));
  std::map<std::string, std::set<std::string>> pairs;
  for (const std::string& file : vectors::vector_files("DIR", place)) {
    const vectors::Request request = vectors::read_vector(file).request;
    const std::string name = std::filesystem::path(file).filename().string();
    pairs[name.substr(0, name.rfind('-'))].insert(
        std::string(attention::to_string(request.options.scores)) + " " +
        std::string(attention::to_string(request.options.values)));
  }
  for (const char* unit : {"tiny-test", "eight-heads", "edge-lpddr5", "server-hbm3"}) {
    EXPECT_EQ(pairs[unit].size(), 20U) << unit;
  }
  expect_refused(run_program({"vectors", "record", place, "--diverse", "--config", "tiny-test"}),
                 {"--diverse", "--config"});
  expect_refused(run_program({"vectors", "record", place, "--diverse", "--seeds", "1"}),
                 {"DIR", "tiny-test-001.safetensors", "is there already"});
}

// Where there is no device, one message says so; where there is one, it agrees.
TEST_F(VectorsTest, AGpuIsAskedByName) {
  const std::string place = folder_ / "gpu";
  const Outcome outcome =
      run_program({"vectors", "record", place, "--producer", "golden-cuda", "--seeds", "2"});
  if (outcome.exit_code == 0) {
    expect_success(run_program({"vectors", "check", place}));
    return;
  }
  expect_refused(outcome, {"--producer: golden-cuda: ", "CUDA", "golden-cpu"});
  EXPECT_FALSE(std::filesystem::exists(place));
}

// The limit of the file size stands for a full disk: nothing of the set is left.
TEST_F(VectorsTest, AFullDiskIsReported) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {2500, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Outcome outcome = run_program({"vectors", "record", folder_ / "set"});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  expect_refused(outcome, {"cannot write: File too large"});
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "set"));
}

TEST_F(VectorsTest, WhatIsNoFileIsNotPassedOver) {
  const std::string place = recorded("2");
  const auto refused = [&](const std::string& name, const char* words) {
    expect_refused(run_program({"vectors", "check", place}), {name, words});
    std::filesystem::remove(place + "/" + name);
  };
  std::filesystem::create_symlink("nowhere", place + "/gone.safetensors");
  refused("gone.safetensors", "is no file");
  std::filesystem::create_symlink("/dev/zero", place + "/zero.safetensors");
  refused("zero.safetensors", "is no file");
  ASSERT_EQ(::mkfifo((place + "/pipe.safetensors").c_str(), 0600), 0);
  refused("pipe.safetensors", "is no file");
  std::filesystem::create_directory_symlink(place, place + "/again");
  refused("again", "is a link to a folder");
  expect_success(run_program({"vectors", "check", place}));
}

TEST_F(VectorsTest, ADateThatIsNoneIsRefused) {
  for (const char* seconds : {"", "abc", "-1", "12x", "253402300800", "99999999999999999999"}) {
    ::setenv("SOURCE_DATE_EPOCH", seconds, 1);
    const Outcome outcome = run_program({"vectors", "record", folder_ / "set", "--seeds", "1"});
    ::unsetenv("SOURCE_DATE_EPOCH");
    expect_refused(outcome, {"$SOURCE_DATE_EPOCH", seconds, "0 to 253402300799"});
  }
  ::setenv("SOURCE_DATE_EPOCH", "253402300799", 1);
  const Outcome outcome = run_program({"vectors", "record", folder_ / "set", "--seeds", "1"});
  ::unsetenv("SOURCE_DATE_EPOCH");
  expect_success(outcome);
  const Outcome check = run_program({"vectors", "check", folder_ / "set"});
  expect_success(check);
  EXPECT_THAT(check.out, HasSubstr("9999-12-31"));
}

// Every score and value scheme, groups of 1 to 8, both layouts; as docs/vectors.md says.
TEST(ShippedVectors, AreManyAndSmall) {
  std::map<std::string, int> seen;
  std::uintmax_t bytes = 0;
  const std::vector<std::string> files = vectors::vector_files("DIR", kShipped);
  for (const std::string& file : files) {
    const vectors::Vector vector = vectors::read_vector(file);
    ++seen["scores " + std::string(attention::to_string(vector.request.options.scores))];
    ++seen["values " + std::string(attention::to_string(vector.request.options.values))];
    ++seen["group " + std::to_string(vector.request.group())];
    if (vector.request.head_dimension() >= 16) ++seen["dimension 16 to 64"];
    bytes += std::filesystem::file_size(file);
    EXPECT_EQ(vector.provenance.commit.find("dirty"), std::string::npos) << file;
  }
  EXPECT_GE(files.size(), 50U);
  EXPECT_LT(bytes, 6000 * files.size());
  for (const attention::SchemeName& name : attention::kScoreSchemeNames) {
    EXPECT_GT(seen["scores " + std::string(name.name)], 0) << name.name;
  }
  for (const attention::SchemeName& name : attention::kValueSchemeNames) {
    EXPECT_GT(seen["values " + std::string(name.name)], 0) << name.name;
  }
  for (int group = 1; group <= 8; ++group) {
    EXPECT_GT(seen["group " + std::to_string(group)], 0) << group;
  }
  EXPECT_GT(seen["dimension 16 to 64"], 30);
}

}  // namespace
}  // namespace santa::test
