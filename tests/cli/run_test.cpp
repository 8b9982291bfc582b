// Runs that succeed: what they print, what they write, and that they repeat.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "program.hpp"

namespace santa::test {
namespace {

using nlohmann::json;

json run_json(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = small_run(more);
  arguments.insert(arguments.end(), {"--json", "-"});
  const Outcome outcome = run_program(arguments);
  expect_success(outcome);
  return json::parse(outcome.out);
}

TEST(Run, TableCountsDifferentRowsOnlyWhereSomeAreChosen) {
  const auto line_of = [](const Outcome& outcome) {
    const std::string label = "value rows, different";
    const std::size_t begin = outcome.out.find(label);
    if (begin == std::string::npos) return std::string();
    return outcome.out.substr(begin, outcome.out.find('\n', begin) - begin);
  };
  EXPECT_EQ(line_of(run_program(small_run({"--values", "dense", "--no-baselines"}))), "");
  EXPECT_NE(line_of(run_program(small_run({"--no-baselines"}))), "");
  // Dense int8 and dense fp16, between the sampled unit and the top-k unit.
  const std::string all = line_of(run_program(small_run()));
  EXPECT_EQ(std::count(all.begin(), all.end(), '-'), 2) << all;
}

TEST(Run, TableFitsTheScreenAndNamesItsUnits) {
  const Outcome outcome = run_program(small_run());
  expect_success(outcome);
  std::istringstream lines(outcome.out);
  std::string line;
  while (std::getline(lines, line)) EXPECT_LE(line.size(), 100U) << line;
  for (const char* text :
       {"SYNTHETIC", "tiny-test", "horowitz-45nm", "latency, cycles", "energy, pJ", "sram_leakage",
        "logic_leakage", "dense int8", "dense fp16", "top-k k=256", "output error", "seed 1"}) {
    EXPECT_NE(outcome.out.find(text), std::string::npos) << text;
  }
}

TEST(Run, TsvHasOneColumnAUnit) {
  const Outcome outcome = run_program(small_run({"--tsv"}));
  expect_success(outcome);
  std::istringstream lines(outcome.out);
  std::string line;
  std::size_t count = 0;
  while (std::getline(lines, line)) {
    EXPECT_EQ(std::count(line.begin(), line.end(), '\t'), 5) << line;
    ++count;
  }
  EXPECT_GT(count, 100U);
  EXPECT_EQ(outcome.out.rfind("key\tunit\tsampled\tdense\tdense_fp16\ttopk\n", 0), 0U);
}

TEST(Run, SameInputsGiveTheSameBytes) {
  const TemporaryFolder folder;
  std::string results[2];
  for (int i = 0; i < 2; ++i) {
    const std::string json_file = folder / ("a" + std::to_string(i));
    const std::string timeline = folder / ("t" + std::to_string(i));
    const Outcome outcome = run_program(small_run({"--json", json_file, "--timeline", timeline}));
    expect_success(outcome);
    results[i] = outcome.out + read_file(json_file) + read_file(timeline);
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(Run, SeedAndStepChangeTheDraws) {
  const json one = run_json({"--samples", "16"});
  const json other_seed = run_json({"--samples", "16", "--seed", "2"});
  const json other_step = run_json({"--samples", "16", "--step", "1"});
  const json other_data = run_json({"--samples", "16", "--data-seed", "2"});
  const auto error = [](const json& report) { return report["accuracy"]["relative_l2"]; };
  EXPECT_NE(error(one), error(other_seed));
  EXPECT_NE(error(one), error(other_step));
  // The data are the same, so the dense unit sees no difference, until the data change.
  const auto dense = [](const json& report) {
    return report["baselines"]["dense"]["accuracy"]["relative_l2"];
  };
  EXPECT_EQ(dense(one), dense(other_seed));
  EXPECT_EQ(dense(one), dense(other_step));
  EXPECT_NE(dense(one), dense(other_data));
}

TEST(Run, OverridesReachTheHardware) {
  const json slow = run_json({"--set", "clock_mhz=100", "--set", "memory.channels=1"});
  EXPECT_EQ(slow["configuration"]["clock_mhz"], 100);
  EXPECT_EQ(slow["configuration"]["memory"]["channels"], 1);
  // Of 10 ns. The last response of the memory may fall between two edges of the clock.
  const double cycles = slow["latency"]["cycles"];
  EXPECT_LE(slow["latency"]["ns"], 10.0 * cycles);
  EXPECT_GT(slow["latency"]["ns"], 10.0 * (cycles - 1.0));
  EXPECT_NE(slow["provenance"]["configuration_hash"],
            run_json({})["provenance"]["configuration_hash"]);
}

TEST(Run, BaselineAsMainUnit) {
  const json all = run_json({"--top-k", "32"});
  const json dense = run_json({"--values", "dense", "--top-k", "32"});
  EXPECT_EQ(dense["unit"], "dense");
  EXPECT_EQ(dense["latency"], all["baselines"]["dense"]["latency"]);
  EXPECT_EQ(dense["baselines"], all["baselines"]);
  const json topk = run_json({"--values", "topk", "--samples", "32"});
  EXPECT_EQ(topk["unit"], "topk");
  EXPECT_EQ(topk["options"]["top_k"], 32);
  EXPECT_EQ(topk["energy"]["total_pj"], all["baselines"]["topk"]["energy"]["total_pj"]);
  EXPECT_TRUE(topk["options"]["samples"].is_null());
}

TEST(Run, NoBaselines) {
  const json report = run_json({"--no-baselines"});
  EXPECT_EQ(report["unit"], "sampled");
  EXPECT_FALSE(report.contains("baselines"));
  EXPECT_TRUE(report["relative_to_dense"]["energy"].is_null());
  const json all = run_json({});
  EXPECT_EQ(report["energy"], all["energy"]);
  EXPECT_EQ(report["latency"], all["latency"]);
}

TEST(Run, EverySchemeRuns) {
  for (const char* values : {"santa", "strat", "sys"}) {
    for (const char* scores : {"exact", "bernoulli", "bernoulli-iid", "bernoulli-group"}) {
      const json report =
          run_json({"--values", values, "--scores", scores, "--samples", "64", "--no-baselines"});
      EXPECT_EQ(report["options"]["values"], values);
      EXPECT_EQ(report["options"]["scores"], scores);
      EXPECT_EQ(report["samples"]["drawn"], 4 * 64);
      EXPECT_EQ(report["operations"]["multiplies"], 0);
      EXPECT_EQ(report["operations"]["divides"], 0);
    }
  }
}

TEST(Run, NeedleIsFound) {
  const Outcome outcome =
      run_program({"run", "--synthetic", "needle", "--query-heads", "4", "--kv-heads", "2",
                   "--head-dimension", "64", "--context", "1024", "--json", "-"});
  expect_success(outcome);
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report["input"]["kind"], "needle");
  EXPECT_LT(report["accuracy"]["relative_l2"], 0.2);
}

TEST(Run, ModelShapeIsLabelledSynthetic) {
  const std::vector<std::string> arguments = {
      "run", "--model", "bitnet-2b-4t", "--context", "64", "--layers", "2"};
  const Outcome table = run_program(arguments);
  expect_success(table);
  EXPECT_NE(table.out.find("SYNTHETIC"), std::string::npos);
  EXPECT_NE(table.out.find("2 of 30 layers"), std::string::npos);
  std::vector<std::string> with_json = arguments;
  with_json.insert(with_json.end(), {"--json", "-"});
  const json report = json::parse(run_program(with_json).out);
  EXPECT_EQ(report["input"]["synthetic"], true);
  EXPECT_EQ(report["input"]["model_layers"], 30);
  EXPECT_EQ(report["input"]["layers"], json({0, 1}));
  EXPECT_EQ(report["input"]["requests"], 2 * 5);
}

// The command in the provenance repeats the run, every byte of it.
TEST(Run, CommandInProvenanceRepeatsTheRun) {
  const std::vector<std::string> runs[] = {
      small_run({"--set", "clock_mhz=123.5", "--scores", "bernoulli", "--samples", "32"}),
      small_run({"--values", "dense", "--top-k", "16"}),
      small_run({"--values", "topk", "--samples", "16", "--no-baselines"}),
      small_run({"--values", "santa", "--seed", "7", "--step", "3", "--no-baselines"}),
      {"run", "--layers", "13"},
  };
  for (std::vector<std::string> arguments : runs) {
    arguments.insert(arguments.end(), {"--json", "-"});
    const Outcome first = run_program(arguments);
    expect_success(first);
    std::istringstream words(json::parse(first.out)["provenance"]["command"].get<std::string>());
    std::vector<std::string> again;
    std::string word;
    words >> word;  // the program
    while (words >> word) again.push_back(word);
    again.insert(again.end(), {"--json", "-"});
    EXPECT_EQ(run_program(again).out, first.out);
  }
}

}  // namespace
}  // namespace santa::test
