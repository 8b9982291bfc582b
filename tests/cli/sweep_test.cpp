// Sweeps from beginning to end: what they write, and that a kill changes nothing.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "sweep_support.hpp"

namespace santa::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::vector<std::string> lines_of(const std::string& text, const std::string& end) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t at = text.find(end); at != std::string::npos; at = text.find(end, begin)) {
    lines.push_back(text.substr(begin, at - begin));
    begin = at + end.size();
  }
  EXPECT_EQ(begin, text.size());
  return lines;
}

TEST(Sweep, ResultsAreThoseOfRunsInTheOrderOfTheFile) {
  const TemporaryFolder folder;
  write_file(
      folder / "spec.yaml",
      "name: both\n"
      "fixed: {config: tiny-test, synthetic: needle, context: 40, query-heads: 2, kv-heads: 1}\n"
      "list:\n"
      "  - {values: dense, head-dimension: 8}\n"
      "  - {samples: 8, head-dimension: 16}\n"
      "grid:\n"
      "  memory: {latency_ns: [50, 200]}\n");
  const Outcome outcome = run_program(sweep_words(folder / "spec.yaml", folder / "out"));
  expect_success(outcome);
  EXPECT_THAT(outcome.out, HasSubstr("4 points, 4 different: 0 found, 4 simulated, 0 failed"));
  const auto lines = lines_of(read_file(folder / "out/results.jsonl"), "\n");
  ASSERT_EQ(lines.size(), 4U);
  const char* latencies[] = {"50", "200", "50", "200"};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto line = nlohmann::json::parse(lines[i]);
    EXPECT_EQ(line["index"], i);
    EXPECT_EQ(line["status"], "done");
    EXPECT_TRUE(line["reason"].is_null());
    EXPECT_EQ(line["settings"]["memory.latency_ns"], latencies[i]);
    EXPECT_EQ(line["settings"]["head-dimension"], i < 2 ? "8" : "16");
    EXPECT_EQ(line["result"]["unit"], i < 2 ? "dense" : "sampled");
    // The point is what the run says that it names, and the table is the point less its long lists.
    auto point = read_json(folder / ("out/points/" + line["key"].get<std::string>() + ".json"));
    EXPECT_EQ(point["sweep"]["key"], line["key"]);
    point.erase("sweep");
    const std::string command = line["result"]["provenance"]["command"];
    const Outcome run = run_command(
        {"sh", "-c", SANTASIM_PROGRAM + command.substr(command.find(' ')) + " --json -"});
    expect_success(run);
    EXPECT_EQ(nlohmann::json::parse(run.out), point);
    EXPECT_FALSE(line["result"]["energy"].contains("operations"));
    EXPECT_EQ(line["result"]["latency"], point["latency"]);
    EXPECT_EQ(line["result"]["baselines"]["topk"]["traffic"],
              point["baselines"]["topk"]["traffic"]);
  }
  const auto rows = lines_of(read_file(folder / "out/results.csv"), "\r\n");
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0].rfind("index,key,status,reason,config,synthetic,context,query-heads,kv-heads,"
                          "values,head-dimension,samples,memory.latency_ns,provenance.program,",
                          0),
            0U)
      << rows[0];
  EXPECT_EQ(rows[1].rfind("0,", 0), 0U);
  EXPECT_THAT(rows[1], HasSubstr(",done,,tiny-test,needle,40,2,1,dense,8,,50,santasim,"));
  EXPECT_THAT(rows[4], HasSubstr(",done,,tiny-test,needle,40,2,1,,16,8,200,santasim,"));
}

TEST(Sweep, OneConfigurationIsSimulatedOnce) {
  const TemporaryFolder folder;
  write_file(folder / "spec.yaml",
             "name: twice\n"
             "fixed: {config: tiny-test, synthetic: gaussian, context: 16, query-heads: 1, "
             "kv-heads: 1, head-dimension: 8, no-baselines: true}\n"
             "list: [{clock_mhz: 200}, {clock_mhz: 200.0}, {clock_mhz: 100}]\n");
  const Outcome outcome = run_program(sweep_words(folder / "spec.yaml", folder / "out"));
  expect_success(outcome);
  EXPECT_THAT(outcome.out, HasSubstr("3 points, 2 different: 0 found, 2 simulated, 0 failed"));
  const auto lines = lines_of(read_file(folder / "out/results.jsonl"), "\n");
  ASSERT_EQ(lines.size(), 3U);
  const auto first = nlohmann::json::parse(lines[0]);
  const auto second = nlohmann::json::parse(lines[1]);
  EXPECT_EQ(first["key"], second["key"]);
  EXPECT_EQ(first["result"], second["result"]);
  EXPECT_NE(first["key"], nlohmann::json::parse(lines[2])["key"]);
}

TEST(Sweep, TimingsOfTheMemoryAreKeysToo) {
  const TemporaryFolder folder;
  write_file(folder / "spec.yaml",
             "name: timings\n"
             "fixed: {config: tiny-test, synthetic: gaussian, context: 64, query-heads: 1, "
             "kv-heads: 1, head-dimension: 8, no-baselines: true, memory: {model: dram}}\n"
             "grid: {dram: {cl_cycles: [14, 22]}}\n");
  const Outcome outcome = run_program(sweep_words(folder / "spec.yaml", folder / "out"));
  expect_success(outcome);
  const auto lines = lines_of(read_file(folder / "out/results.jsonl"), "\n");
  ASSERT_EQ(lines.size(), 2U);
  const auto first = nlohmann::json::parse(lines[0]), second = nlohmann::json::parse(lines[1]);
  EXPECT_NE(first["key"], second["key"]);
  EXPECT_NE(first["result"], second["result"]);
}

TEST(Sweep, JobsDoNotChangeTheBytes) {
  const TemporaryFolder folder;
  write_file(folder / "spec.yaml", small_sweep(10));
  expect_success(run_program(sweep_words(folder / "spec.yaml", folder / "1", {"--jobs", "1"})));
  expect_success(run_program(sweep_words(folder / "spec.yaml", folder / "7", {"--jobs", "7"})));
  EXPECT_EQ(folder_contents(folder / "1"), folder_contents(folder / "7"));
}

// 1,000 points, done without interruption. On a busy machine that takes more than the minute after
// which a line of progress comes, so standard error may have some.
class ThousandPoints : public testing::Test {
 protected:
  void SetUp() override {
    write_file(folder_ / "spec.yaml", small_sweep(500));
    const Outcome outcome = run_program(sweep_words(folder_ / "spec.yaml", folder_ / "whole"));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    ASSERT_THAT(outcome.out, HasSubstr("1000 points, 1000 different: 0 found, 1000 simulated"));
  }

  // Resumes with `command`, and expects that nothing was lost, repeated or changed.
  void expect_same_after(const std::vector<std::string>& command, const std::string& interrupted) {
    const auto before = point_identities(interrupted);
    ASSERT_GT(before.size(), 0U);
    ASSERT_LT(before.size(), 1000U);
    const Outcome outcome = run_command(command);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr(fmt::format("{} found, {} simulated, 0 failed",
                                                   before.size(), 1000 - before.size())));
    const auto after = point_identities(interrupted);
    for (const auto& [name, identity] : before) EXPECT_EQ(after.at(name), identity) << name;
    EXPECT_TRUE(folder_contents(folder_ / "whole") == folder_contents(interrupted));
  }

  TemporaryFolder folder_;
};

TEST_F(ThousandPoints, KilledAndResumedGiveTheSameBytes) {
  const std::string out = folder_ / "killed";
  fs::create_directory(out);  // --resume wants a folder
  const std::vector<std::string> words = sweep_words(folder_ / "spec.yaml", out, {"--resume"});
  // Two kills: one that nobody can catch, one that leaves a last word.
  pid_t process = start_program(words, folder_ / "log", folder_ / "err");
  ASSERT_TRUE(wait_for_points(out, 200, process));
  ::kill(process, SIGKILL);
  EXPECT_EQ(end_of(process), -SIGKILL);
  EXPECT_FALSE(fs::exists(out + "/results.csv"));
  process = start_program(words, folder_ / "log", folder_ / "err");
  ASSERT_TRUE(wait_for_points(out, 500, process));
  ::kill(process, SIGTERM);
  EXPECT_EQ(end_of(process), -SIGTERM);
  const std::string last_word = read_file(folder_ / "err");
  EXPECT_THAT(last_word, HasSubstr("keeps every point that was finished"));
  EXPECT_THAT(last_word, HasSubstr("--resume"));
  std::vector<std::string> command = {SANTASIM_PROGRAM};
  command.insert(command.end(), words.begin(), words.end());
  expect_same_after(command, out);
}

#ifdef SANTA_MPIRUN

// The processes that a process started.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    // pid (name) state parent ...; the name may have anything in it.
    const std::size_t end = text.rfind(')');
    if (end == std::string::npos) continue;
    if (std::stol(text.substr(end + 4)) == parent) {
      children.push_back(static_cast<pid_t>(std::stol(name)));
    }
  }
  return children;
}

std::vector<std::string> under_mpirun(const std::vector<std::string>& words) {
#ifdef __SANITIZE_ADDRESS__
  // What the MPI library keeps until the end is not ours.
  ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
#endif
  std::vector<std::string> command = {SANTA_MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n",
                                      "3",          SANTASIM_PROGRAM};
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

TEST_F(ThousandPoints, LostRankEndsTheJobAndTheResumedJobRepeatsNothing) {
  const std::string out = folder_ / "ranks";
  fs::create_directory(out);
  const auto command = under_mpirun(sweep_words(folder_ / "spec.yaml", out, {"--resume"}));
  // A rank that works for the leader, then the leader.
  for (const std::size_t lost : {2U, 0U}) {
    const pid_t job = start_command(command, folder_ / "log", folder_ / "err");
    ASSERT_TRUE(wait_for_points(out, lost == 2 ? 300 : 600, job)) << read_file(folder_ / "err");
    std::vector<pid_t> ranks = children_of(job);
    ASSERT_EQ(ranks.size(), 3U);
    std::sort(ranks.begin(), ranks.end());  // started in this order
    ::kill(ranks.at(lost), SIGKILL);
    EXPECT_NE(end_of(job), 0);
    const std::string err = read_file(folder_ / "err");
    EXPECT_THAT(err, HasSubstr(fmt::format("process rank {}", lost)));
    EXPECT_THAT(err, HasSubstr("signal 9"));
    if (lost != 0) {
      EXPECT_THAT(err, HasSubstr("--resume"));
    }
    EXPECT_FALSE(fs::exists(out + "/results.csv"));
  }
  expect_same_after(command, out);
}

// A copy of the program that calls itself another version.
TEST(SweepUnderMpi, RanksOfTwoProgramsAreRefused) {
  const TemporaryFolder folder;
  std::string program = read_file(SANTASIM_PROGRAM);
  const std::string version = run_program({"--version"}).out;  // "santasim 0.1.0 (commit)"
  const std::size_t open = version.find('(');
  if (open == std::string::npos) GTEST_SKIP() << "built outside git";
  // Eight characters, which lie together in the program even where the compiler made them a number.
  const std::string commit = version.substr(open + 1, 8);
  std::size_t places = 0;
  for (std::size_t at = program.find(commit); at != std::string::npos; at = program.find(commit)) {
    program.replace(at, commit.size(), "01234567");
    ++places;
  }
  ASSERT_GE(places, 1U);
  const std::string other = folder / "other";
  write_file(other, program);
  fs::permissions(other, fs::perms::owner_all);
  write_file(folder / "spec.yaml", small_sweep(1));
  const auto words = sweep_words(folder / "spec.yaml", folder / "out");
  std::vector<std::string> command = {SANTA_MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n",
                                      "1",          SANTASIM_PROGRAM};
  command.insert(command.end(), words.begin(), words.end());
  command.insert(command.end(), {":", "-n", "1", other});
  command.insert(command.end(), words.begin(), words.end());
  const Outcome outcome = run_command(command);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("rank 1 is santasim"));
  EXPECT_THAT(outcome.err, HasSubstr("01234567"));
  EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST(SweepUnderMpi, BadSpecIsOneMessageAndItsExitCode) {
  const TemporaryFolder folder;
  write_file(folder / "spec.yaml", "name: bad\ngrid: {sampels: [1]}\n");
  const Outcome outcome =
      run_command(under_mpirun(sweep_words(folder / "spec.yaml", folder / "out")));
  EXPECT_EQ(outcome.exit_code, 2);
  const std::size_t first = outcome.err.find("sampels");
  EXPECT_THAT(outcome.err, HasSubstr("did you mean samples?"));
  EXPECT_EQ(outcome.err.find("sampels", first + 1), std::string::npos) << outcome.err;
}

#endif

}  // namespace
}  // namespace santa::test
