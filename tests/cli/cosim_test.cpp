// `santasim cosim`: a run that agrees, its report, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "program.hpp"
#include "shipped_trace.hpp"
#include "trace_file.hpp"

namespace santa::test {
namespace {

TEST(Cosim, OneScenarioAgrees) {
  const Outcome outcome = run_program({"cosim", "--seed", "3"});
  expect_success(outcome);
  EXPECT_NE(outcome.out.find("no difference"), std::string::npos);
  EXPECT_NE(outcome.out.find("1 scenarios"), std::string::npos);
}

// Scenario 0 is every directed request, those that must be refused among them.
TEST(Cosim, ScenarioZeroIsTheDirectedOne) {
  const Outcome outcome = run_program({"cosim", "--seed", "0", "--json", "-"});
  expect_success(outcome);
  const auto report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report["scenarios"], 1);
  EXPECT_GT(report["requests"], 80);
  for (const char* bin : {"completion: 0", "completion: 1"}) {
    EXPECT_GT(report["coverage"]["bins"].at(bin), 0) << bin;
  }
  EXPECT_EQ(report["latency"].size(), 0U);
  EXPECT_TRUE(report["latency_error"]["mean"].is_null());
}

TEST(Cosim, ReportHasEveryKey) {
  const TemporaryFolder folder;
  const Outcome outcome = run_program({"cosim", "--seeds", "1", "--json", folder / "report.json"});
  expect_success(outcome);
  const auto report = nlohmann::ordered_json::parse(read_file(folder / "report.json"));
  std::vector<std::string> keys;
  for (const auto& [key, value] : report.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"command", "config", "unit_hash", "scenarios",
                                            "requests", "cycles", "failure", "failed_seed", "waves",
                                            "checks", "cycle_model", "bus_rules_checked", "vectors",
                                            "coverage", "latency", "latency_error"}));
  EXPECT_TRUE(report["vectors"].is_null());
  EXPECT_EQ(report["scenarios"], 3);  // 0, 1, and the requests whose latency is compared
  EXPECT_EQ(report["coverage"]["bins"].size(), report["coverage"]["total"]);
  std::size_t met = 0;
  for (const auto& [bin, hits] : report["coverage"]["bins"].items()) met += hits > 0 ? 1U : 0U;
  EXPECT_EQ(report["coverage"]["met"], met);
  ASSERT_EQ(report["latency"].size(), 9U);
  double largest = 0.0;
  for (const auto& row : report["latency"]) {
    const double rtl = row["rtl_cycles"];
    const double model = row["cycle_model_cycles"];
    EXPECT_DOUBLE_EQ(row["error"], (model - rtl) / rtl);
    largest = std::max(largest, std::abs(row["error"].get<double>()));
  }
  EXPECT_DOUBLE_EQ(report["latency_error"]["largest_absolute"], largest);
  EXPECT_LE(report["latency_error"]["mean_absolute"], largest);
  std::istringstream lines(outcome.out);
  std::string line;
  while (std::getline(lines, line)) EXPECT_LE(line.size(), 100U) << line;
}

// The unit is the built one as long as its own keys are; clock and memory may change.
TEST(Cosim, SetChangesTheMemory) {
  const auto cycles = [](const std::string& latency) {
    const Outcome outcome = run_program(
        {"cosim", "--seeds", "0", "--set", "memory.latency_ns=" + latency, "--json", "-"});
    expect_success(outcome);
    const auto report = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(report["command"], "santasim cosim --config tiny-test --set memory.latency_ns=" +
                                     latency + " --seeds 0");
    return report["latency"][0]["rtl_cycles"].get<int>();
  };
  EXPECT_LT(cycles("20"), cycles("2000"));
  expect_refused(run_program({"cosim", "--set", "unit.row_buffer_rows=8"}),
                 {"--config", "with --set", "is not built into this program", "tiny-test"});
  expect_refused(run_program({"cosim", "--set", "unit.rows=8"}), {"unit.rows"});
}

TEST(Cosim, TraceGivesARequestForEachKvHead) {
  const TemporaryFolder folder;
  const std::string path = folder / "trace.safetensors";
  write_file(path, small_trace({2, 7}).bytes());
  const Outcome outcome = run_program({"cosim", "--trace", path, "--json", "-"});
  expect_success(outcome);
  const auto report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report["requests"], 4);
  ASSERT_EQ(report["latency"].size(), 4U);
  EXPECT_EQ(report["latency"][3]["workload"], "layer 7, KV head 1");
  EXPECT_EQ(report["latency"][3]["context"], 100);
  // The shipped trace has 6 query heads a group, of 128 features.
  expect_refused(run_program({"cosim", "--trace", cli::find_shipped_trace()}),
                 {"query heads of a group", "got 6", "at most 4 on tiny-test"});
}

TEST(Cosim, ReportIsTheSameEachTime) {
  const std::vector<std::string> arguments = {"cosim", "--seed", "7", "--json", "-"};
  const Outcome outcome = run_program(arguments);
  expect_success(outcome);
  EXPECT_EQ(outcome.out, run_program(arguments).out);
  const auto report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report["command"], "santasim cosim --config tiny-test --seed 7");
  EXPECT_TRUE(report["failure"].is_null());
  EXPECT_GT(report["requests"], 0);
  for (const auto& [name, check] : report["checks"].items()) {
    EXPECT_GE(check["compared"], check["expected"]) << name;
  }
}

TEST(Cosim, ExportsRequestsAndReport) {
  const TemporaryFolder folder;
  const Outcome outcome = run_program(
      {"cosim", "--seed", "3", "--export", folder / "files", "--json", folder / "report.json"});
  expect_success(outcome);
  EXPECT_NE(read_file(folder / "files/seed-3-request-0/memory.hex").find("// descriptor"),
            std::string::npos);
  EXPECT_EQ(read_json(folder / "report.json")["config"], "tiny-test");
}

// A limit of the file size, or a full disk, is no end without words, and leaves no part of a file.
TEST(Cosim, WavesWithoutRoomAreRefused) {
  const TemporaryFolder folder;
  for (const char* kib : {"1", "20", "100"}) {
    const Outcome outcome = run_command(
        {"bash", "-c", "cd \"$0\" && ulimit -f \"$1\" && shift && exec \"$@\"", folder / "", kib,
         SANTASIM_PROGRAM, "cosim", "--seed", "1", "--waves", "always"});
    expect_refused(outcome, {"--waves", "cosim-tiny-test-seed-1.fst", "disk is full"});
    EXPECT_TRUE(folder.files().empty()) << kib;
  }
}

TEST(Cosim, BadInputIsRefused) {
  const TemporaryFolder folder;
  expect_refused(run_program({"cosim", "--seed", "one"}), {"--seed", "\"one\""});
  expect_refused(run_program({"cosim", "--seeds=-1"}), {"--seeds", "\"-1\"", "0 to"});
  expect_refused(run_program({"cosim", "--seed", "1", "--seeds", "2"}),
                 {"--seed", "contradicts --seeds"});
  expect_refused(run_program({"cosim", "--seed", "1", "--trace", "x"}),
                 {"--trace", "contradicts --seed"});
  expect_refused(run_program({"cosim", "--waves", "sometimes"}),
                 {"--waves", "\"sometimes\"", "on-failure, always"});
  expect_refused(run_program({"cosim", "--json", ""}), {"--json"});
  expect_refused(run_program({"cosim", "--config", "tinny-test"}),
                 {"--config", "\"tinny-test\"", "tiny-test (unit ", "SANTA_COSIM_CONFIGS"});
  expect_refused(run_program({"cosim", "--trace", folder / "none.safetensors"}),
                 {"none.safetensors"});
  expect_refused(run_program({"cosim", "--seed", "1", "--export", "/dev/null/x"}),
                 {"--export", "/dev/null/x"});
  expect_refused(run_program({"cosim", "--seed", "1", "--vectors", "x"}),
                 {"--vectors", "contradicts --seed", "--trace, --vectors and --long"});
  expect_refused(run_program({"cosim", "--long", "--trace", "x"}),
                 {"--long", "contradicts --trace"});
  expect_refused(run_program({"cosim", "--vectors", folder / "none"}),
                 {"--vectors", "none", "No such file", "a folder with vectors"});
}

// A unit that is not built in is named with those that are, and with the way to build it.
TEST(Cosim, UnitsThatAreNotBuiltInAreNamed) {
  const TemporaryFolder folder;
  std::string text = read_file(SANTA_SOURCE_DIR "/configs/hardware/tiny-test.yaml");
  const std::string key = "row_buffer_rows: 4";
  text.replace(text.find(key), key.size(), "row_buffer_rows: 8");
  write_file(folder / "other.yaml", text);
  expect_refused(
      run_program({"cosim", "--config", folder / "other.yaml"}),
      {"--config", "is not built into this program", "tiny-test (unit ", "SANTA_COSIM_CONFIGS"});
}

}  // namespace
}  // namespace santa::test
