// `santasim cosim`: a run that agrees, its report, and what is refused.
#include <gtest/gtest.h>

#include "program.hpp"

namespace santa::test {
namespace {

TEST(Cosim, OneScenarioAgrees) {
  const Outcome outcome = run_program({"cosim", "--seed", "3"});
  expect_success(outcome);
  EXPECT_NE(outcome.out.find("no difference"), std::string::npos);
  EXPECT_NE(outcome.out.find("1 scenarios"), std::string::npos);
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

TEST(Cosim, WritesVectorsAndReport) {
  const TemporaryFolder folder;
  const Outcome outcome = run_program(
      {"cosim", "--seed", "3", "--vectors", folder / "vectors", "--json", folder / "report.json"});
  expect_success(outcome);
  EXPECT_NE(read_file(folder / "vectors/seed-3-request-0/memory.hex").find("// descriptor"),
            std::string::npos);
  EXPECT_EQ(read_json(folder / "report.json")["config"], "tiny-test");
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
  expect_refused(run_program({"cosim", "--config", "tinny-test"}), {"tinny-test", "tiny-test"});
  expect_refused(run_program({"cosim", "--trace", folder / "none.safetensors"}),
                 {"none.safetensors"});
  expect_refused(run_program({"cosim", "--seed", "1", "--vectors", "/dev/null/x"}),
                 {"--vectors", "/dev/null/x"});
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
