// santasim model: whole steps, their sums, repetition, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "program.hpp"
#include "trace_file.hpp"

namespace santa::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kModel =
    "name: small\nsource: a test\nlicence: none\nlayers: 6\nquery_heads: 4\nkv_heads: 2\n"
    "head_dimension: 16\nmax_context: 1000\nsoftmax_scale: inverse_sqrt_head_dimension\n";

// A small model on a small trace.
class Model : public testing::Test {
 protected:
  Model() {
    write_file(folder_ / "small.yaml", kModel);
    write_file(folder_ / "trace.safetensors", small_trace({0, 1}).bytes());
  }
  std::vector<std::string> arguments(const std::vector<std::string>& more) const {
    std::vector<std::string> all = {"model",    folder_ / "small.yaml",
                                    "--config", "tiny-test",
                                    "--trace",  folder_ / "trace.safetensors"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Outcome run(const std::vector<std::string>& more) const { return run_program(arguments(more)); }
  json run_json(std::vector<std::string> more) const {
    more.insert(more.end(), {"--json", "-"});
    const Outcome outcome = run(more);
    expect_success(outcome);
    return json::parse(outcome.out);
  }
  TemporaryFolder folder_;
};

double value(const json& report, const std::string& method, const std::string& pointer) {
  return report["methods"][method].at(json::json_pointer("/step" + pointer + "/value"));
}

TEST_F(Model, SumsAgreeAndRatiosFollow) {
  const json report = run_json({"--context", "300", "--batch", "2"});
  EXPECT_EQ(report["requests"]["lengths"], json({300, 300}));
  EXPECT_EQ(report["requests"]["cache_bytes"], 2.0 * 300 * 6 * 2 * 16 * 2);
  EXPECT_EQ(report["simulated"]["heads"], 24);
  EXPECT_EQ(report["simulated"]["heads_total"], 24);
  for (const char* method : {"dense", "dense_fp16", "topk", "sampled", "bernoulli"}) {
    const json& result = report["methods"][method];
    double layers = 0.0;
    for (const json& layer : result["layers"]["latency_ns"]) layers += layer.get<double>();
    EXPECT_EQ(result["layers"]["latency_ns"].size(), 6U);
    EXPECT_NEAR(value(report, method, "/latency_ns"), layers, 1e-9 * layers);
    EXPECT_EQ(result["step"]["latency_ns"]["ci95"], 0.0);
    EXPECT_NEAR(result["tokens_per_s"], 2e9 / layers, 1e-6);
    double parts = 0.0;
    for (const json& part : result["step"]["energy_pj"]["parts"]) {
      parts += part["value"].get<double>();
    }
    const double total = value(report, method, "/energy_pj/total/mid");
    EXPECT_NEAR(parts, total, 1e-9 * total);
    EXPECT_NEAR(result["energy_pj_per_token"], total / 2, 1e-9 * total);
    double streams = 0.0;
    for (const auto& [name, stream] : result["step"]["traffic_bytes"].items()) {
      if (name != "total") streams += stream["value"].get<double>();
    }
    EXPECT_EQ(streams, value(report, method, "/traffic_bytes/total"));
    EXPECT_NEAR(result["relative_to_dense"]["energy"],
                total / value(report, "dense", "/energy_pj/total/mid"), 1e-12);
  }
  // 300 keys of 16 bytes, keys and values, 2 requests, 2 heads, 6 layers.
  EXPECT_EQ(value(report, "dense", "/traffic_bytes/key"), 300.0 * 16 * 2 * 2 * 6);
  EXPECT_EQ(value(report, "sampled", "/multiplies"), 0.0);
  EXPECT_GT(value(report, "dense", "/multiplies"), 0.0);
  EXPECT_GT(value(report, "dense_fp16", "/traffic_bytes/total"),
            1.8 * value(report, "dense", "/traffic_bytes/total"));
}

TEST_F(Model, RepeatsByteForByteWhateverTheNumberOfProcesses) {
  const std::vector<std::string> options = {"--lengths", "50,200,333",     "--sample-layers", "3",
                                            "--set",     "system.units=2", "--json",          "-"};
  const auto with = [&](const char* jobs) {
    std::vector<std::string> all = options;
    all.insert(all.end(), {"--jobs", jobs});
    const Outcome outcome = run(all);
    expect_success(outcome);
    return outcome.out;
  };
  const std::string one = with("1");
  EXPECT_EQ(with("7"), one);
  // The command in the result repeats it.
  const std::string command = json::parse(one)["provenance"]["command"];
  std::istringstream words(command);
  std::vector<std::string> again;
  for (std::string word; words >> word;) again.push_back(word);
  again.erase(again.begin());
  again.insert(again.end(), {"--json", "-"});
  EXPECT_EQ(run_program(again).out, one);
}

TEST_F(Model, SeedsChangeWhatTheyShould) {
  const json base = run_json({"--context", "300"});
  const json seed = run_json({"--context", "300", "--seed", "2"});
  const json data = run_json({"--context", "300", "--data-seed", "2"});
  EXPECT_EQ(value(base, "topk", "/samples/row_reads"), value(seed, "topk", "/samples/row_reads"));
  EXPECT_NE(value(base, "sampled", "/samples/row_reads"),
            value(seed, "sampled", "/samples/row_reads"));
  EXPECT_NE(value(base, "topk", "/samples/row_reads"), value(data, "topk", "/samples/row_reads"));
}

TEST_F(Model, ASampleOfLayersEstimatesAllOfThem) {
  const json all = run_json({"--context", "300"});
  const json some = run_json({"--context", "300", "--sample-layers", "4"});
  EXPECT_EQ(some["simulated"]["heads"], 8);
  EXPECT_EQ(some["simulated"]["layers"].size(), 4U);
  for (const char* method : {"topk", "sampled", "bernoulli"}) {
    const json& latency = some["methods"][method]["step"]["latency_ns"];
    EXPECT_GT(latency["ci95"], 0.0);
    // Three half widths: seeds are fixed.
    EXPECT_NEAR(latency["value"], value(all, method, "/latency_ns"),
                3 * latency["ci95"].get<double>());
    // Its layers are the same ones as in the whole.
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t layer = some["simulated"]["layers"][i];
      EXPECT_EQ(some["methods"][method]["layers"]["latency_ns"][i],
                all["methods"][method]["layers"]["latency_ns"][layer]);
    }
  }
  const json one = run_json({"--context", "300", "--sample-layers", "1"});
  EXPECT_TRUE(one["methods"]["topk"]["step"]["latency_ns"]["ci95"].is_null());
}

TEST_F(Model, AtTheTracesLengthTheDataIsTheTrace) {
  // Whatever is drawn, 100 tokens are those of a head of the trace: two data seeds that draw other
  // heads still give one of four latencies a layer and request.
  std::set<double> latencies;
  for (const char* seed : {"1", "2", "3", "4", "5", "6"}) {
    const json report =
        run_json({"--context", "100", "--data-seed", seed, "--methods", "topk", "--top-k", "8"});
    EXPECT_EQ(report["data"]["kv_heads"], 4);
    for (const json& layer : report["methods"]["topk"]["layers"]["latency_ns"]) {
      latencies.insert(layer.get<double>());
    }
  }
  EXPECT_LE(latencies.size(), 32U);  // pairs of four heads, two orders of queries each
  EXPECT_GT(latencies.size(), 1U);
}

TEST_F(Model, EveryKeyIsDocumented) {
  const json report = run_json({"--context", "100", "--set", "memory.model=dram"});
  const json documented = json::parse(run_program({"describe", "stats", "--json"}).out);
  const auto has = [&](const std::string& key, const json& root) {
    json::json_pointer pointer;
    for (std::size_t begin = 0; begin <= key.size();) {
      const std::size_t dot = std::min(key.find('.', begin), key.size());
      pointer.push_back(key.substr(begin, dot - begin));
      begin = dot + 1;
    }
    return root.contains(pointer);
  };
  for (const json& entry : documented["model"]) {
    EXPECT_TRUE(has(entry["key"], report)) << entry["key"];
  }
  const json& sampled = report["methods"]["sampled"];
  const std::string blocks = "step.blocks.";
  std::set<std::string> keys;
  for (const json& entry : documented["method"]) {
    std::string key = entry["key"];
    keys.insert(key);
    const std::size_t star = key.find('*');
    if (star != std::string::npos) key.replace(star, 1, "value_gather");
    EXPECT_TRUE(has(key, sampled)) << key;
  }
  // And no other: lists and names of blocks apart.
  std::set<std::string> found = {"layers.latency_ns", "layers.energy_pj"};
  const json flat = sampled.flatten();
  for (const auto& item : flat.items()) {
    std::string key = item.key().substr(1);
    std::replace(key.begin(), key.end(), '/', '.');
    if (key.rfind("layers.", 0) == 0) continue;
    if (key.rfind(blocks, 0) == 0) {
      key.replace(blocks.size(), key.find('.', blocks.size()) - blocks.size(), "*");
    }
    found.insert(key);
  }
  EXPECT_EQ(found, keys);
}

TEST_F(Model, TableFitsTheScreenAndStatesTheSample) {
  const Outcome outcome =
      run({"--lengths", "300,1000", "--sample-layers", "2", "--set", "system.units=2"});
  expect_success(outcome);
  std::istringstream words(outcome.out);
  std::string text;  // on one line
  for (std::string word; words >> word;) text += word + " ";
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  for (const char* part : {"batch 2 of 300 to 1,000 tokens", "2 of 6 layers, 8 of 24 heads",
                           "95 % interval", "2 units", "attention alone", "+ Bernoulli",
                           "units busy until the end", "energy, uJ/token"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
  const Outcome longer = run({"--context", "2000", "--sample-layers", "1"});
  EXPECT_NE(longer.out.find("beyond the 1000 that the model was made for"), std::string::npos);
  EXPECT_NE(longer.out.find("unknown"), std::string::npos);
}

TEST_F(Model, TsvHasOneColumnAMethod) {
  const Outcome outcome = run({"--context", "100", "--tsv", "--methods", "topk,dense"});
  expect_success(outcome);
  std::istringstream lines(outcome.out);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "key\tunit\tdense\ttopk");
  std::set<std::string> keys;
  while (std::getline(lines, line)) {
    EXPECT_EQ(std::count(line.begin(), line.end(), '\t'), 3) << line;
    EXPECT_TRUE(keys.insert(line.substr(0, line.find('\t'))).second) << line;
    EXPECT_EQ(line.find('{'), std::string::npos) << line;
  }
  // A block of both, and one of each.
  for (const char* block : {"mac_array", "softmax_unit", "topk_selector"}) {
    EXPECT_EQ(keys.count(std::string("step.blocks.") + block + ".busy_cycles.value"), 1U) << block;
  }
  EXPECT_EQ(keys.count("step.blocks.ternary_gather.busy_cycles.value"), 0U);
}

// The limit follows from the time that memory and blocks are busy, of several units the mean.
TEST_F(Model, LimitIsWhatIsBusiest) {
  for (const char* units : {"1", "2"}) {
    const json report = run_json(
        {"--context", "300", "--batch", "2", "--set", std::string("system.units=") + units});
    const double period_ns = 1e3 / report["configuration"]["clock_mhz"].get<double>();
    for (const auto& [name, method] : report["methods"].items()) {
      const double cycles = value(report, name, "/latency_ns") / period_ns;
      double most = value(report, name, "/memory/busy_ns") / period_ns / cycles;
      for (const json& block : method["step"]["blocks"]) {
        double sum = 0.0;
        for (const json& part : block) sum += part["value"].get<double>();
        EXPECT_LE(sum, cycles * 1.001) << name;  // busy, starved and blocked exclude each other
        most = std::max(most, block["busy_cycles"]["value"].get<double>() / cycles);
      }
      const json& busiest = method["busiest"];
      EXPECT_GE(busiest["busy_fraction"], most * (1.0 - 1e-12)) << name;
      EXPECT_LE(busiest["busy_fraction"], 1.0) << name;
      EXPECT_EQ(method["limit"],
                busiest["busy_fraction"].get<double>() >= 0.8 ? busiest["name"] : json("latency"));
    }
    EXPECT_TRUE(report["methods"]["sampled"]["step"]["blocks"].contains("value_gather"));
    EXPECT_FALSE(report["methods"]["dense"]["step"]["blocks"].contains("value_gather"));
  }
}

TEST_F(Model, NamesTheChoicesOfTheMethodsThatRun) {
  const auto methods = [&](const std::string& names) {
    const Outcome outcome = run({"--methods", names});
    expect_success(outcome);
    const std::size_t begin = outcome.out.find("methods ");
    return outcome.out.substr(begin, outcome.out.find("energy ", begin) - begin);
  };
  EXPECT_THAT(methods("dense"), HasSubstr("all keys, all values"));
  EXPECT_THAT(methods("topk"), AllOf(HasSubstr("top-k: "), Not(HasSubstr("sampled"))));
  EXPECT_THAT(methods("sampled"), AllOf(HasSubstr("sampled: sys"), HasSubstr("seed 1"),
                                        Not(HasSubstr("Bernoulli")), Not(HasSubstr("top-k"))));
  EXPECT_THAT(methods("bernoulli"), HasSubstr("Bernoulli: bernoulli of "));
}

TEST_F(Model, RefusesBadInput) {
  const std::pair<std::vector<std::string>, std::vector<std::string>> cases[] = {
      {{"--batch", "65"}, {"--batch: got \"65\"", "1 to 64"}},
      {{"--batch", "0"}, {"--batch: got \"0\""}},
      {{"--context", "1048577"}, {"--context: got \"1048577\"", "1 to 1048576"}},
      {{"--lengths", "5,,6"}, {"--lengths: got \"\"", "1 to 1048576"}},
      {{"--lengths", "5", "--batch", "2"}, {"--lengths: contradicts --batch"}},
      {{"--lengths", "5", "--context", "2"}, {"--lengths: contradicts --context"}},
      {{"--methods", "sparse"}, {"--methods: got \"sparse\"", "dense, dense_fp16, topk"}},
      {{"--methods", "topk,topk"}, {"--methods: topk is named twice"}},
      {{"--methods", "dense", "--samples", "4"}, {"--samples: has no effect"}},
      {{"--methods", "sampled", "--bernoulli", "4"}, {"--bernoulli: has no effect"}},
      {{"--values", "dense"}, {"--values: got \"dense\"", "santa, strat, sys"}},
      {{"--scores", "exact"}, {"--scores: got \"exact\"", "bernoulli-group"}},
      {{"--samples", "3"}, {"--samples: got \"3\"", "a power of two"}},
      {{"--sample-layers", "7"}, {"--sample-layers: got 7", "1 to 6"}},
      {{"--jobs", "0"}, {"--jobs: got \"0\""}},
      {{"--synthetic", "gaussian"}, {"--synthetic: contradicts --trace"}},
      {{"--tsv", "--json", "-"}, {"--tsv: contradicts --json -"}},
      {{"--set", "unit.tile_keys=128", "--set", "unit.stash_kib=64"},
       {"--trace", "layer 0 has 100 tokens", "at least 128"}},
      {{"--set", "unit.group_heads=1", "--set", "unit.max_head_dimension=16"},
       {"unit.group_heads"}},
      {{"--set", "system.units=2", "--set", "system.key_bits=2"}, {"system.key_bits: got 2"}},
      {{"--json", "/"}, {"--json"}},
  };
  for (const auto& [options, parts] : cases) expect_refused(run(options), parts);
  expect_refused(run_program({"model"}), {"MODEL"});
  expect_refused(run_program({"model", "no-such-model"}), {"no-such-model", "llama-3.1-8b"});
  // 7 query heads a KV head, the shipped trace has 6.
  expect_refused(run_program({"model", "deepseek-r1-distill-qwen-7b", "--context", "100"}),
                 {"6 query heads a KV head", "7 as the model has", "--synthetic gaussian"});
  expect_refused(run({"--json", folder_ / "small.yaml"}), {"--json", "MODEL"});
}

TEST(SystemOptions, WhatKnowsOneUnitRefusesMore) {
  expect_refused(run_program({"cosim", "--seed", "1", "--set", "system.units=2"}),
                 {"system.units: got 2", "the unit in SystemVerilog"});
  expect_refused(run_program({"cosim", "--seed", "1", "--set", "system.key_bits=4"}),
                 {"system.key_bits: got 4"});
  expect_refused(run_program(small_run({"--set", "memory.model=dram", "--set",
                                        "system.placement=keys-values", "--dram-trace", "x"})),
                 {"--dram-trace", "system.placement interleaved"});
}

TEST(SystemOptions, RunObeysTheSystem) {
  const Outcome outcome = run_program(
      small_run({"--set", "system.units=2", "--set", "system.key_bits=4", "--json", "-"}));
  expect_success(outcome);
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report["latency"]["units_ns"].size(), 2U);
  EXPECT_TRUE(report["blocks"].contains("unit1.key_fetch"));
  EXPECT_EQ(report["configuration"]["system"]["key_bits"], 4);
}

}  // namespace
}  // namespace santa::test
