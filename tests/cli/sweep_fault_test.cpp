// Sweeps when something is wrong: points, folders, files, disks.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <functional>

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
  // A point for which there is a byte too little room, though its report fits.
  const std::string point = first_point();
  const auto bytes = fs::file_size(point);
  fs::remove(point);
  fs::remove(out_ + "/results.csv");
  Outcome outcome = run_command(
      {"sh", "-c",
       fmt::format("trap '' XFSZ; exec prlimit --fsize={} {} sweep {} --out {} --resume", bytes - 1,
                   SANTASIM_PROGRAM, spec_, out_)});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr(point));
  EXPECT_THAT(outcome.err, HasSubstr("File too large"));
  EXPECT_EQ(point_identities(out_).size(), 5U);
  EXPECT_FALSE(fs::exists(out_ + "/results.csv"));
  // The same for the table, where there is never room.
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

// Nothing is read or written through what somebody else put in a point's place.
TEST_F(SweepFault, LinkOrFolderInPlaceOfAPointIsRefused) {
  make_sweep();
  const std::string point = first_point();
  const std::string good = read_file(point);
  const std::string elsewhere = folder_ / "elsewhere";
  const auto refused = [&](const std::string& what) {
    expect_refused(resume(), {point + ": " + what, "--resume does without it"});
  };
  fs::remove(point);
  fs::create_symlink(elsewhere, point);
  refused("is a symbolic link");
  EXPECT_FALSE(fs::exists(elsewhere));
  write_file(elsewhere, good);
  refused("is a symbolic link");
  EXPECT_EQ(read_file(elsewhere), good);
  fs::remove(point);
  fs::create_directory(point);
  refused("is a folder");
  fs::remove(point);
  ASSERT_EQ(::mkfifo(point.c_str(), 0600), 0);
  refused("is a pipe or a device");
  fs::remove(point);
  expect_success(resume());
  EXPECT_EQ(folder_contents(out_), whole_);
}

TEST_F(SweepFault, FolderIsNotMixedUp) {
  make_sweep();
  expect_refused(run_program(sweep_words(spec_, out_)),
                 {"--out", "holds results of this sweep", "--resume"});
  write_file(spec_, small_sweep(4));
  expect_refused(resume(),
                 {"--out", "holds another sweep: \"small\" with other settings in its SPEC",
                  "6 points in place of 8"});
  expect_refused(run_program(sweep_words(spec_, out_)), {"holds another sweep"});
  // Comments and order of words are no other sweep.
  write_file(spec_, "# the same\n" + small_sweep(3));
  expect_success(resume());
  const std::string manifest = read_file(out_ + "/sweep.json");
  std::string older = manifest;
  older.replace(older.find("santasim 0."), 11, "santasim 9.");
  write_file(out_ + "/sweep.json", older);
  expect_refused(resume(), {"--out", "holds results of santasim 9."});
  write_file(out_ + "/sweep.json", manifest);
  expect_success(resume());
  EXPECT_EQ(folder_contents(out_), whole_);
  fs::create_directory(folder_ / "other");
  write_file(folder_ / "other/file", "x");
  expect_refused(run_program(sweep_words(spec_, folder_ / "other", {"--resume"})),
                 {"--out", "is not empty and holds no sweep"});
  expect_refused(run_program(sweep_words(spec_, folder_ / "none", {"--resume"})),
                 {"--resume", "none\": is not there"});
  EXPECT_FALSE(fs::exists(folder_ / "none"));
}

TEST_F(SweepFault, ManifestThatIsDamagedIsWrittenAgainForItsPoints) {
  make_sweep();
  const std::string file = out_ + "/sweep.json";
  const std::string manifest = whole_.at("sweep.json");
  for (const std::string& bad : {std::string(), std::string("{}"), std::string("[]"),
                                 manifest.substr(0, manifest.size() / 2)}) {
    write_file(file, bad);
    expect_refused(run_program(sweep_words(spec_, out_)),
                   {file + ": is damaged", "--resume, which writes it again"});
    const Outcome outcome = resume();
    expect_success(outcome);
    EXPECT_THAT(outcome.out, HasSubstr("6 found, 0 simulated"));
    EXPECT_EQ(folder_contents(out_), whole_);
  }
  fs::remove(file);
  expect_refused(run_program(sweep_words(spec_, out_)), {file + ": is missing"});
  expect_success(resume());
  EXPECT_EQ(folder_contents(out_), whole_);
  // Points of another SPEC, or of another program, are not taken over.
  write_file(file, "");
  write_file(spec_, small_sweep(2));
  expect_refused(resume(), {"sweep.json: is damaged, and points/", "is no point of SPEC"});
  EXPECT_EQ(read_file(file), "");
  write_file(spec_, small_sweep(3));
  fs::remove(file);
  fs::create_directory(file);
  expect_refused(resume(), {file + ": is a folder"});
}

TEST_F(SweepFault, AnotherNameIsNoOtherSweep) {
  make_sweep();
  std::string spec = small_sweep(3);
  spec.replace(spec.find("small"), 5, "renamed");
  write_file(spec_, spec);
  expect_refused(run_program(sweep_words(spec_, out_)), {"holds results of this sweep"});
  const Outcome outcome = resume();
  expect_success(outcome);
  EXPECT_THAT(outcome.out, HasSubstr("6 found, 0 simulated"));
  auto expected = whole_;
  std::string& manifest = expected.at("sweep.json");
  manifest.replace(manifest.find("small"), 5, "renamed");
  EXPECT_EQ(folder_contents(out_), expected);
}

// A file that changes while the sweep runs: no result under a key that is not its own. The second
// of three points takes long enough for the change, which the third then finds.
class SweepWithAChange : public SweepFault {
 protected:
  // `change` after the first point is there. What is on standard error.
  std::string run_with(const std::string& fixed, const std::function<void()>& change) {
    write_file(spec_,
               "name: change\nfixed: {synthetic: gaussian, query-heads: 8, kv-heads: 2,\n"
               "  head-dimension: 64, samples: 64, no-baselines: true, " +
                   fixed + "}\ngrid: {context: [16, 150000, 24]}\n");
    const std::string err = folder_ / "err";
    const pid_t process =
        start_program(sweep_words(spec_, out_, {"--jobs", "1"}), folder_ / "log", err);
    EXPECT_TRUE(wait_for_points(out_, 1, process));
    change();
    EXPECT_EQ(end_of(process), 2);
    return read_file(err);
  }
  // In one step, so that nobody reads half of it.
  void change_file(const std::string& path, const std::string& text) {
    write_file(folder_ / "new", text);
    fs::rename(folder_ / "new", path);
  }
  // With the files as they were, what is there is what a sweep in another folder gives; the second
  // point may have read them before or after the change.
  void expect_right_points() {
    const auto points = point_identities(out_);
    EXPECT_GE(points.size(), 1U);
    EXPECT_LE(points.size(), 2U);
    const std::string other = folder_ / "other";
    expect_success(run_program(sweep_words(spec_, other)));
    for (const auto& [name, identity] : points) {
      EXPECT_EQ(read_file(out_ + "/points/" + name), read_file(other + "/points/" + name));
    }
    expect_success(resume());
    EXPECT_EQ(folder_contents(out_), folder_contents(other));
  }
  static std::string replaced(std::string text, const std::string& what, const std::string& by) {
    return text.replace(text.find(what), what.size(), by);
  }
};

TEST_F(SweepWithAChange, HardwareIsNotFiledUnderTheOldKey) {
  const std::string config = folder_ / "unit.yaml";
  const std::string text = read_file(SANTA_SOURCE_DIR "/configs/hardware/edge-lpddr5.yaml");
  write_file(config, text);
  const std::string err = run_with("config: " + config, [&] {
    change_file(config, replaced(text, "clock_mhz: 1000", "clock_mhz: 900"));
  });
  EXPECT_THAT(err, HasSubstr("context=24): " + config + ": is not what it was when the sweep"));
  expect_refused(resume(), {"holds another sweep: \"change\" with the same settings, but another "
                            "config " +
                            config});
  write_file(config, text);
  expect_right_points();
}

TEST_F(SweepWithAChange, PackThatChangesUnderASimulationEndsThatToo) {
  const std::string config = folder_ / "unit.yaml";
  const std::string pack = folder_ / "pack.yaml";
  write_file(config, replaced(read_file(SANTA_SOURCE_DIR "/configs/hardware/edge-lpddr5.yaml"),
                              "energy_pack: horowitz-45nm", "energy_pack: " + pack));
  const std::string text = read_file(SANTA_SOURCE_DIR "/configs/energy/horowitz-45nm.yaml");
  write_file(pack, text);
  const std::string err =
      run_with("config: " + config, [&] { change_file(pack, "# another\n" + text); });
  EXPECT_THAT(err, HasSubstr("context=150000): " + pack + ": is not what it was"));
  EXPECT_THAT(err, HasSubstr("context=24): " + pack + ": is not what it was"));
  write_file(pack, text);
  expect_right_points();
}

TEST_F(SweepWithAChange, TimingIsPartOfTheHardware) {
  const std::string timing = folder_ / "timing.yaml";
  const std::string text = read_file(SANTA_SOURCE_DIR "/configs/dram/lpddr5-6400.yaml");
  write_file(timing, text);
  const std::string err =
      run_with("config: edge-lpddr5, memory: {model: dram, timing: " + timing + "}",
               [&] { change_file(timing, replaced(text, "window_bursts: ", "window_bursts: 1")); });
  EXPECT_THAT(err, HasSubstr("context=24): "));
  EXPECT_THAT(err, HasSubstr("or its memory.timing " + timing + ": is not what it was"));
  write_file(timing, text);
  expect_right_points();
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
  expect_refused(resume(), {"holds another sweep: \"small\" with the same settings, but another "
                            "config " +
                            config});
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
