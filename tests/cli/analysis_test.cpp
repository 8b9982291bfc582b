// `santasim compare` and `santasim explain`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "program.hpp"

namespace santa::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Analysis : public testing::Test {
 protected:
  // A small run with these options, as a file.
  std::string result(const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = small_run(more);
    words.insert(words.end(), {"--json", folder_ / name});
    expect_success(run_program(words));
    return folder_ / name;
  }
  json explained(const std::vector<std::string>& more) {
    std::vector<std::string> words = {"explain", "--json", "-"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_program(words);
    expect_success(outcome);
    return json::parse(outcome.out);
  }
  static std::vector<std::string> small_options(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = small_run(more);
    words.erase(words.begin());
    return words;
  }

  TemporaryFolder folder_;
};

TEST_F(Analysis, ComparisonGivesDifferencesAndRatios) {
  const std::string a = result("a.json");
  const std::string b = result("b.json", {"--samples", "64", "--set", "memory.latency_ns=75"});
  const Outcome outcome = run_program({"compare", a, b, "--json", "-"});
  expect_success(outcome);
  const json comparison = json::parse(outcome.out);
  const json first = read_json(a);
  const json second = read_json(b);
  std::map<std::string, json> numbers;
  for (const json& number : comparison["numbers"]) numbers[number["key"]] = number;
  for (const char* key : {"latency.ns", "energy.total_pj.mid", "traffic.value_bytes",
                          "baselines.topk.energy.parts_pj.adders.high"}) {
    std::string pointer = "/" + std::string(key);
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    const double value_a = first.at(json::json_pointer(pointer));
    const double value_b = second.at(json::json_pointer(pointer));
    EXPECT_EQ(numbers.at(key)["a"], value_a);
    EXPECT_EQ(numbers.at(key)["b"], value_b);
    EXPECT_EQ(numbers.at(key)["difference"], value_b - value_a);
    EXPECT_EQ(numbers.at(key)["ratio"], value_b / value_a);
  }
  EXPECT_EQ(numbers.at("latency.ns")["unit"], "ns");
  EXPECT_EQ(numbers.at("baselines.topk.energy.parts_pj.adders.high")["unit"], "pJ");
  EXPECT_TRUE(numbers.at("operations.multiplies")["ratio"].is_null());
  std::vector<std::string> choices;
  for (const json& choice : comparison["choices"]) choices.push_back(choice["key"]);
  EXPECT_THAT(choices, testing::IsSupersetOf({"options.samples", "options.top_k",
                                              "configuration.memory.latency_ns",
                                              "provenance.configuration_hash"}));
  const Outcome table = run_program({"compare", a, b});
  expect_success(table);
  EXPECT_THAT(table.out, HasSubstr("configuration.memory.latency_ns\n    A  50\n    B  75"));
  EXPECT_THAT(table.out, HasSubstr("samples.drawn"));
  const Outcome tsv = run_program({"compare", a, b, "--tsv"});
  expect_success(tsv);
  EXPECT_EQ(static_cast<std::size_t>(std::count(tsv.out.begin(), tsv.out.end(), '\n')),
            comparison["numbers"].size() + 1);
}

TEST_F(Analysis, ResultEqualsItself) {
  const std::string a = result("a.json");
  const Outcome outcome = run_program({"compare", a, a});
  expect_success(outcome);
  EXPECT_THAT(outcome.out, HasSubstr("The same choices."));
  const json comparison = json::parse(run_program({"compare", a, a, "--json", "-"}).out);
  EXPECT_TRUE(comparison["choices"].empty());
  EXPECT_GT(comparison["numbers"].size(), 200U);
  for (const json& number : comparison["numbers"]) EXPECT_EQ(number["difference"], 0.0);
}

TEST_F(Analysis, NumbersOfOneResultAloneAreNamed) {
  const std::string a = result("a.json");
  const std::string b = result("b.json", {"--values", "dense", "--no-baselines"});
  const json comparison = json::parse(run_program({"compare", a, b, "--json", "-"}).out);
  EXPECT_THAT(
      comparison["only_a"].get<std::vector<std::string>>(),
      testing::IsSupersetOf({"blocks.ternary_gather.busy_cycles", "baselines.topk.latency.ns"}));
  EXPECT_THAT(comparison["only_b"].get<std::vector<std::string>>(),
              testing::Contains("blocks.divider.busy_cycles"));
}

TEST_F(Analysis, WhatCannotBeComparedIsRefused) {
  const std::string a = result("a.json");
  const std::string b = result("b.json", {"--data-seed", "2"});
  expect_refused(run_program({"compare", a, b}),
                 {b, "input.data_seed", "2, but 1 in", "--other-input"});
  expect_success(run_program({"compare", a, b, "--other-input"}));
  expect_refused(run_program({"compare", a, folder_ / "none.json"}),
                 {"none.json", "cannot be read"});
  expect_refused(run_program({"compare", a, folder_ / ""}), {"cannot be read"});
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  for (const std::string& endless : {std::string("/dev/zero"), folder_ / "pipe"}) {
    const std::vector<std::string> words = {endless, "is a pipe or a device"};
    expect_refused(run_program({"compare", a, endless}), words);
    expect_refused(run_program({"explain", endless}), words);
    expect_refused(run_program({"report", endless, "-o", folder_ / "r.html"}), words);
    expect_refused(run_program({"report", a, "--plotly", endless, "-o", folder_ / "r.html"}),
                   words);
  }
  write_file(folder_ / "text", "no json");
  expect_refused(run_program({"compare", folder_ / "text", a}), {"text", "is no JSON"});
  for (const char* other : {"[]", "5", "{}", "{\"provenance\": {\"program\": \"santasim\"}}"}) {
    write_file(folder_ / "other.json", other);
    expect_refused(run_program({"compare", a, folder_ / "other.json"}),
                   {"other.json", "is no result of a run"});
  }
  std::string cut = read_file(a);
  cut.resize(cut.size() / 2);
  write_file(folder_ / "cut.json", cut);
  expect_refused(run_program({"compare", a, folder_ / "cut.json"}), {"cut.json", "is no JSON"});
  expect_refused(run_program({"compare", a}), {"B"});
  expect_refused(run_program({"compare", a, b, "--json", a}), {"--json", "is the input file of A"});
  expect_refused(run_program({"compare", a, a, "--tsv", "--json", "-"}), {"--tsv", "contradicts"});
}

// Every gain is that of a run, and none goes beyond the bound that the counters give.
TEST_F(Analysis, GainsAreMeasuredAndWithinTheBounds) {
  const std::map<std::string, std::string> resources = {
      {"unit.digit_lanes", "ternary_gather"},  {"unit.value_lanes", "value_gather"},
      {"unit.weight_lanes", "weight_unit"},    {"unit.scan_lanes", "systematic_sampler"},
      {"unit.normalizer_lanes", "normalizer"}, {"unit.port_bytes", "memory port, reads"},
      {"memory.channels", "memory bandwidth"}, {"baselines.dense_multipliers", "mac_array"},
      {"baselines.exp_lanes", "softmax_unit"}};
  std::size_t checked = 0;
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, std::vector<std::string>{"--values", "dense"},
        std::vector<std::string>{"--values", "topk", "--top-k", "8"},
        std::vector<std::string>{"--scores", "bernoulli", "--set", "memory.channel_gb_per_s=1"}}) {
    const json explanation = explained(small_options(more));
    std::map<std::string, double> floors;
    for (const json& resource : explanation["resources"]) {
      floors[resource["name"]] = resource["floor_fraction"];
    }
    for (const json& change : explanation["changes"]) {
      if (!change["refusal"].is_null()) continue;
      const std::string command = change["command"];
      const Outcome run = run_command(
          {"sh", "-c", SANTASIM_PROGRAM + command.substr(command.find(' ')) + " --json -"});
      expect_success(run);
      const json report = json::parse(run.out);
      const double latency = explanation["latency_ns"];
      EXPECT_DOUBLE_EQ(report["latency"]["ns"].get<double>() / latency - 1.0,
                       change["latency_change"].get<double>());
      EXPECT_EQ(report["accuracy"]["relative_l2"], change["relative_l2"]);
      const auto resource = resources.find(change["key"]);
      if (resource == resources.end() || floors.count(resource->second) == 0) continue;
      ++checked;
      EXPECT_GE(1.0 + change["latency_change"].get<double>(), floors.at(resource->second) - 1e-9)
          << change;
    }
  }
  EXPECT_GE(checked, 16U);
}

TEST_F(Analysis, LimitIsTheBusiestResource) {
  // So little bandwidth that nothing else matters, then so few lanes.
  const json slow = explained(small_options({"--set", "memory.channel_gb_per_s=0.1"}));
  EXPECT_EQ(slow["limit"], "memory bandwidth");
  EXPECT_EQ(slow["changes"][0]["key"], "memory.channel_gb_per_s");
  EXPECT_LT(slow["changes"][0]["latency_change"], -0.4);
  const json narrow = explained({"--synthetic",
                                 "gaussian",
                                 "--config",
                                 "tiny-test",
                                 "--head-dimension",
                                 "4",
                                 "--context",
                                 "4096",
                                 "--samples",
                                 "1",
                                 "--query-heads",
                                 "4",
                                 "--kv-heads",
                                 "1",
                                 "--set",
                                 "unit.weight_lanes=1",
                                 "--set",
                                 "unit.stash_kib=64",
                                 "--set",
                                 "memory.max_outstanding=64"});
  EXPECT_EQ(narrow["limit"], "weight_unit");
  EXPECT_EQ(narrow["changes"][0]["key"], "clock_mhz");
  EXPECT_EQ(narrow["changes"][1]["key"], "unit.weight_lanes");
  const json waiting = explained(small_options({"--set", "memory.latency_ns=5000"}));
  EXPECT_EQ(waiting["limit"], "latency");
  EXPECT_GT(waiting["mean_outstanding"], 1.0);
}

TEST_F(Analysis, FileAndOptionsGiveTheSameExplanation) {
  const std::string a = result("a.json", {"--samples", "16"});
  EXPECT_EQ(explained({a}), explained(small_options({"--samples", "16"})));
  const Outcome text = run_program({"explain", a});
  expect_success(text);
  for (const char* part : {"Limited by", "ternary_gather", "Each change simulated alone",
                           "samples 16 -> 8", "refused: unit.key_lanes 16 -> 32"}) {
    EXPECT_THAT(text.out, HasSubstr(part));
  }
  const json bounds = explained({a, "--bounds-only"});
  EXPECT_TRUE(bounds["changes"].is_null());
  EXPECT_EQ(bounds["resources"], explained({a})["resources"]);
}

TEST_F(Analysis, ResultThatIsNotRepeatedIsRefused) {
  const std::string a = result("a.json");
  json changed = read_json(a);
  changed["samples"]["drawn"] = 1;
  write_file(a, changed.dump());
  expect_refused(run_program({"explain", a}),
                 {a, "samples.drawn: 1, but its command gives", "--bounds-only"});
  expect_success(run_program({"explain", a, "--bounds-only"}));
  changed["provenance"]["command"] = "rm -rf x";
  write_file(a, changed.dump());
  expect_refused(run_program({"explain", a}), {a, "provenance.command", "a command santasim run"});
  expect_refused(run_program({"explain", a, "--samples", "4"}),
                 {"--samples", "contradicts the result file"});
  expect_refused(run_program({"explain", "--bounds-only", "--jobs", "2"}), {"--jobs", "no effect"});
  expect_refused(run_program({"explain", "--samples", "3"}), {"--samples", "a power of two"});
  expect_refused(run_program({"explain", folder_ / "none"}), {"none", "cannot be read"});
}

}  // namespace
}  // namespace santa::test
