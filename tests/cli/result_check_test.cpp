// Files that are no result of a run: what report, explain and compare say of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "program.hpp"

namespace santa::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class ResultCheck : public testing::Test {
 protected:
  void SetUp() override {
    std::vector<std::string> words = small_run();
    words.insert(words.end(), {"--json", path_});
    expect_success(run_program(words));
    good_ = read_json(path_);
  }
  // Every command that reads results refuses this one, in one line.
  void expect_refused_everywhere(const json& report, const std::vector<std::string>& parts) {
    const std::string bad = folder_ / "bad.json";
    write_file(bad, report.dump());
    std::vector<std::string> all = {bad + ": "};
    all.insert(all.end(), parts.begin(), parts.end());
    expect_refused(run_program({"compare", path_, bad}), all);
    expect_refused(run_program({"explain", bad, "--bounds-only"}), all);
    expect_refused(run_program({"report", bad, "-o", folder_ / "page.html"}), all);
  }
  // The good result with another value at a pointer ("/latency/ns").
  json with(const std::string& pointer, const json& value) const {
    json report = good_;
    report[json::json_pointer(pointer)] = value;
    return report;
  }
  json without(const std::string& pointer) const {
    const json::json_pointer place(pointer);
    json report = good_;
    report[place.parent_pointer()].erase(place.back());
    return report;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "good.json";
  json good_;
};

TEST_F(ResultCheck, MissingAndBadKeysAreNamed) {
  const std::string no_result = "so it is no result of a run";
  expect_refused_everywhere(without("/energy/parts_pj"),
                            {"energy.parts_pj: missing", no_result, "an object"});
  expect_refused_everywhere(with("/energy/parts_pj", json::object()),
                            {"energy.parts_pj", no_result});
  expect_refused_everywhere(without("/unit"), {"unit: missing", "a text"});
  expect_refused_everywhere(without("/latency/ns"), {"latency.ns: missing", "a number above 0"});
  expect_refused_everywhere(with("/latency/ns", 0), {"latency.ns: got 0,", "a number above 0"});
  expect_refused_everywhere(with("/latency/ns", -4), {"latency.ns: got -4,", "a number above 0"});
  expect_refused_everywhere(with("/latency/ns", "4"), {"latency.ns: got \"4\"", "a number"});
  expect_refused_everywhere(with("/traffic/key_bytes", -1), {"traffic.key_bytes: got -1"});
  expect_refused_everywhere(without("/baselines/topk/blocks"),
                            {"baselines.topk.blocks: missing", no_result});
  expect_refused_everywhere(with("/configuration/clock_mhz", nullptr),
                            {"configuration.clock_mhz: got null"});
  expect_refused_everywhere(with("/latency", 7), {"latency: got 7,", "an object"});
  expect_refused_everywhere(with("/energy/windows/power_mw/0", "x"),
                            {"energy.windows.power_mw", "a list of numbers"});
  expect_refused_everywhere(with("/provenance/program", "other"),
                            {"provenance.program: got \"other\"", "\"santasim\""});
}

// Numbers that may each be right, and cannot be so together.
TEST_F(ResultCheck, ContradictionsAreNamed) {
  const double total = good_["energy"]["total_pj"]["mid"];
  expect_refused_everywhere(with("/latency/ns", 1e308), {"latency.cycles", "latency.ns"});
  expect_refused_everywhere(with("/latency/cycles", 1), {"latency.cycles: got 1,", "latency.ns"});
  expect_refused_everywhere(with("/energy/total_pj/mid", 2 * total),
                            {"energy.total_pj.mid", "which follows from energy.parts_pj"});
  expect_refused_everywhere(with("/energy/parts_pj/adders/low", 1e6),
                            {"energy.total_pj.low", "which follows from energy.parts_pj"});
  expect_refused_everywhere(with("/energy/average_power_mw/high", 1),
                            {"energy.average_power_mw.high: got 1,", "latency.ns"});
  expect_refused_everywhere(with("/traffic/total_bytes", 1), {"traffic.total_bytes: got 1,"});
  json busy = good_;
  busy["blocks"]["value_gather"]["busy_cycles"] = busy["latency"]["cycles"].get<int>() + 1;
  expect_refused_everywhere(busy, {"blocks.value_gather.busy_cycles", "at most latency.cycles"});
}

TEST_F(ResultCheck, ResultOfAModelIsNamedWithWhatTakesIt) {
  const std::string model = folder_ / "model.json";
  expect_success(run_program({"model", "bitnet-2b-4t", "--config", "edge-lpddr5", "--lengths", "64",
                              "--methods", "dense", "--sample-layers", "1", "--json", model}));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"compare", path_, model}, {"explain", model}}) {
    expect_refused(run_program(words), {model + ": is no result of a run but of santasim model",
                                        "santasim report shows those"});
  }
}

TEST(ModelResultCheck, MissingAndBadKeysAreNamed) {
  const TemporaryFolder folder;
  const std::string path = folder / "model.json";
  const std::string bad = folder / "bad.json";
  expect_success(
      run_program({"model", "bitnet-2b-4t", "--config", "edge-lpddr5", "--lengths", "64",
                   "--methods", "dense,sampled", "--sample-layers", "1", "--json", path}));
  const json good = read_json(path);
  const auto refused = [&](const std::string& pointer, const json& value,
                           const std::vector<std::string>& parts) {
    const json::json_pointer place(pointer);
    json report = good;
    if (value.is_discarded()) {
      report[place.parent_pointer()].erase(place.back());
    } else {
      report[place] = value;
    }
    write_file(bad, report.dump());
    expect_refused(run_program({"report", bad, "-o", folder / "page.html"}), parts);
  };
  const json none(json::value_t::discarded);
  const std::string step = "/methods/sampled/step";
  const std::string name = "methods.sampled.step.";
  refused(step + "/blocks/query_encoder", none, {name + "blocks.query_encoder: missing"});
  refused(step + "/energy_pj/parts/adders/ci95", 1e308,
          {name + "energy_pj.parts.adders.ci95: got 1e+308", "null, with one layer of several"});
  refused(step + "/energy_pj/parts/adders", "x",
          {name + "energy_pj.parts.adders: got \"x\"", "an object"});
  refused(step + "/energy_pj/parts/adders/value", nullptr,
          {name + "energy_pj.parts.adders.value: got null"});
  refused(step + "/samples/unique_rows/value", json::object(),
          {name + "samples.unique_rows.value: got a list or an object"});
  refused(step + "/samples/drawn/ci95", true, {name + "samples.drawn.ci95: got true"});
  refused(step + "/unit_ns", none, {name + "unit_ns.value: missing"});
  refused("/methods/dense", 0, {"methods.dense: got 0", "an object"});
  refused("/options/values", 0, {"options.values: got 0", "a text"});
  refused("/options/samples", "many", {"options.samples: got \"many\""});
}

// A number that fits all others, and is not what the command gives.
TEST_F(ResultCheck, ExplainComparesEveryNumber) {
  json half = good_;
  for (const char* end : {"low", "mid", "high"}) {
    json& parts = half["energy"]["parts_pj"];
    const double moved = parts["adders"][end];
    parts["adders"][end] = 0.0;
    parts["registers"][end] = parts["registers"][end].get<double>() + moved;
  }
  const std::vector<std::pair<json, std::string>> changed = {
      {with("/samples/drawn", 1), "samples.drawn: 1, but its command gives"},
      {with("/accuracy/relative_l2", 0.5), "accuracy.relative_l2: 0.5, but its command gives"},
      {with("/blocks/value_gather/busy_cycles", 1), "blocks.value_gather.busy_cycles: 1, but"},
      {half, "energy.parts_pj.adders.high: 0.0, but its command gives"}};
  const std::string bad = folder_ / "bad.json";
  for (const auto& [report, part] : changed) {
    write_file(bad, report.dump());
    expect_refused(run_program({"explain", bad}), {bad, part, "--bounds-only"});
    expect_success(run_program({"explain", bad, "--bounds-only"}));
  }
  expect_success(run_program({"explain", path_}));
}

}  // namespace
}  // namespace santa::test
