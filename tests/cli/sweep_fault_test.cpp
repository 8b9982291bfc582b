// Sweeps when something is wrong: points, folders, files, disks.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>

#include "sweep_support.hpp"

namespace santa::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class SweepFault : public testing::Test {
 protected:
  // Of small_sweep(3): 6 points, all done.
  void make_sweep() {
    write_file(spec_, small_sweep(3));
    expect_success(run_program(sweep_words(spec_, out_)));
    whole_ = folder_contents(out_);
    ASSERT_EQ(point_identities(out_).size(), 6U);
  }
  std::string first_point() const {
    return out_ + "/points/" + point_identities(out_).begin()->first;
  }
  Outcome resume() const { return run_program(sweep_words(spec_, out_, {"--resume"})); }

  TemporaryFolder folder_;
  std::string spec_ = folder_ / "spec.yaml";
  std::string out_ = folder_ / "out";
  std::map<std::string, std::string> whole_;
};

TEST_F(SweepFault, BadPointsAreReportedAndTheOthersFinish) {
  write_file(spec_,
             "name: some are bad\n"
             "fixed: {config: tiny-test, synthetic: gaussian, query-heads: 2, kv-heads: 1, "
             "context: 16, no-baselines: true}\n"
             // 3 is no power of two, and 65 features do not fit the unit, as its run finds out.
             "grid: {samples: [4, 3], head-dimension: [8, 65]}\n");
  const Outcome outcome = run_program(sweep_words(spec_, out_));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.out, HasSubstr("4 points, 4 different: 0 found, 1 simulated, 3 failed"));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 3);
  EXPECT_THAT(outcome.err, HasSubstr("samples=3 head-dimension=8): --samples: got \"3\""));
  EXPECT_THAT(outcome.err, HasSubstr("unit.max_head_dimension: the request needs 65"));
  std::ifstream lines(out_ + "/results.jsonl");
  std::string line;
  std::vector<std::string> states;
  while (std::getline(lines, line)) {
    const auto row = nlohmann::json::parse(line);
    states.push_back(row["status"]);
    EXPECT_EQ(row["result"].is_null(), row["status"] == "failed");
    EXPECT_EQ(row["reason"].is_string(), row["status"] == "failed");
    if (row["status"] == "failed") {
      EXPECT_THAT(outcome.err, HasSubstr(row["key"].get<std::string>()));
    }
  }
  EXPECT_EQ(states, (std::vector<std::string>{"done", "failed", "failed", "failed"}));
  // The same again: failures are tried again, and the files are the same.
  const auto before = folder_contents(out_);
  const Outcome again = resume();
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.out, HasSubstr("1 found, 0 simulated, 3 failed"));
  EXPECT_EQ(folder_contents(out_), before);
}

TEST_F(SweepFault, DamagedPointIsSimulatedAgain) {
  make_sweep();
  const std::string point = first_point();
  const std::string good = read_file(point);
  std::string flipped = good;
  const std::size_t digit = flipped.find("\"cycles\": ") + 10;
  flipped[digit] = flipped[digit] == '1' ? '2' : '1';
  for (const std::string& bad : {std::string(), std::string("{"), good.substr(0, good.size() / 2),
                                 flipped, good + "\n", std::string("{\n  \"sweep\": 5,\n}\n")}) {
    write_file(point, bad);
    const Outcome outcome = resume();
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_THAT(outcome.out, HasSubstr("5 found, 1 simulated, 0 failed"));
    EXPECT_THAT(outcome.err, HasSubstr(point + ": is not the result that was written"));
    EXPECT_EQ(folder_contents(out_), whole_);
  }
}

TEST_F(SweepFault, PointOfAnotherConfigurationIsNotTaken) {
  make_sweep();
  const auto points = point_identities(out_);
  const std::string other = out_ + "/points/" + points.rbegin()->first;
  fs::copy_file(other, first_point(), fs::copy_options::overwrite_existing);
  const Outcome outcome = resume();
  EXPECT_THAT(outcome.err, HasSubstr("is not the result that was written"));
  EXPECT_EQ(folder_contents(out_), whole_);
}

TEST_F(SweepFault, FullDiskLosesNothing) {
  make_sweep();
  // A point whose bytes go where there is never room.
  const std::string point = first_point();
  fs::remove(point);
  fs::remove(out_ + "/results.csv");
  fs::create_symlink("/dev/full", point);
  Outcome outcome = resume();
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr(point));
  EXPECT_THAT(outcome.err, HasSubstr("No space left on device"));
  EXPECT_EQ(point_identities(out_).size(), 6U);
  EXPECT_FALSE(fs::exists(out_ + "/results.csv"));
  fs::remove(point);
  // The same for the table.
  fs::create_symlink("/dev/full", out_ + "/results.csv");
  outcome = resume();
  expect_refused(outcome, {"results.csv", "No space left on device"});
  fs::remove(out_ + "/results.csv");
  outcome = resume();
  expect_success(outcome);
  EXPECT_THAT(outcome.out, HasSubstr("6 found, 0 simulated"));
  EXPECT_EQ(folder_contents(out_), whole_);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(SweepFault, FolderIsNotMixedUp) {
  make_sweep();
  expect_refused(run_program(sweep_words(spec_, out_)),
                 {"--out", "holds results of this sweep", "--resume"});
  write_file(spec_, small_sweep(4));
  expect_refused(resume(), {"--out", "holds another sweep, \"small\""});
  expect_refused(run_program(sweep_words(spec_, out_)), {"holds another sweep"});
  // Comments and order of words are no other sweep.
  write_file(spec_, "# the same\n" + small_sweep(3));
  expect_success(resume());
  const std::string manifest = read_file(out_ + "/sweep.json");
  std::string older = manifest;
  older.replace(older.find("santasim 0."), 11, "santasim 9.");
  write_file(out_ + "/sweep.json", older);
  expect_refused(resume(), {"--out", "holds results of santasim 9."});
  write_file(out_ + "/sweep.json", "{}");
  expect_refused(resume(), {"--out", "holds another sweep"});
  fs::remove(out_ + "/sweep.json");
  expect_refused(resume(), {"--out", "is not empty and holds no sweep"});
  write_file(out_ + "/sweep.json", manifest);
  expect_success(resume());
  EXPECT_EQ(folder_contents(out_), whole_);
}

TEST_F(SweepFault, ChangedPresetIsAnotherSweep) {
  const std::string config = folder_ / "unit.yaml";
  const std::string text = read_file(SANTA_SOURCE_DIR "/configs/hardware/tiny-test.yaml");
  write_file(config, text);
  std::string spec = small_sweep(1);
  spec.replace(spec.find("tiny-test"), 9, config);
  write_file(spec_, spec);
  expect_success(run_program(sweep_words(spec_, out_)));
  write_file(config, "# a comment\n" + text);
  expect_success(resume());
  std::string changed = text;
  changed.replace(changed.find("latency_ns: 50"), 14, "latency_ns: 51");
  write_file(config, changed);
  expect_refused(resume(), {"holds another sweep"});
}

TEST_F(SweepFault, TwoSweepsInOneFolderAreRefused) {
  make_sweep();
  const int lock = ::open(out_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  expect_refused(resume(), {"--out", "another sweep is writing there"});
  ::close(lock);
  expect_success(resume());
}

TEST_F(SweepFault, BadFoldersAreRefused) {
  write_file(spec_, small_sweep(1));
  write_file(folder_ / "file", "x");
  expect_refused(run_program(sweep_words(spec_, folder_ / "file")), {"--out", "cannot be made"});
  expect_refused(run_program(sweep_words(spec_, folder_ / "file/out")), {"--out"});
  expect_refused(run_program({"sweep", spec_, "--out", ""}), {"--out", "a folder"});
  expect_refused(run_program({"sweep", spec_}), {"--out"});
  expect_refused(run_program({"sweep", "--out", out_}), {"SPEC"});
  expect_refused(run_program(sweep_words(spec_, out_, {"--jobs", "0"})), {"--jobs", "1 to 1024"});
  expect_refused(run_program(sweep_words(folder_ / "none.yaml", out_)),
                 {"none.yaml", "cannot be found"});
  EXPECT_FALSE(fs::exists(out_));
}

}  // namespace
}  // namespace santa::test
