// From a sweep's file to its points.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "options.hpp"
#include "santa/error.hpp"
#include "sweep/point.hpp"
#include "sweep/spec.hpp"
#include "sweep/sweep_progress.hpp"
#include "sweep/tables.hpp"

namespace santa::cli {
namespace {

SweepSpec parse(const std::string& text) {
  return parse_sweep_spec(text, "spec.yaml");
}

std::vector<std::string> texts(const SweepSpec& spec) {
  std::vector<std::string> texts;
  for (const Settings& point : spec.points) {
    std::string text;
    for (const auto& [key, value] : point)
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
    texts.push_back(text);
  }
  return texts;
}

void expect_error(const std::string& text, const std::vector<std::string>& parts) {
  try {
    parse(text);
    ADD_FAILURE() << "accepted: " << text;
  } catch (const InputError& error) {
    for (const std::string& part : parts) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << "'" << part << "' is not in: " << error.what();
    }
  }
}

TEST(SweepSpec, SectionsMultiplyInTheirOrder) {
  const SweepSpec spec = parse(
      "name: all\n"
      "grid: {samples: [4, 8], memory: {latency_ns: [50, 60]}}\n"
      "list: [{values: santa}, {scores: bernoulli, bernoulli: 2}]\n"
      "fixed: {config: tiny-test}\n");
  EXPECT_EQ(texts(spec),
            (std::vector<std::string>{
                "config=tiny-test values=santa samples=4 memory.latency_ns=50",
                "config=tiny-test values=santa samples=4 memory.latency_ns=60",
                "config=tiny-test values=santa samples=8 memory.latency_ns=50",
                "config=tiny-test values=santa samples=8 memory.latency_ns=60",
                "config=tiny-test scores=bernoulli bernoulli=2 samples=4 memory.latency_ns=50",
                "config=tiny-test scores=bernoulli bernoulli=2 samples=4 memory.latency_ns=60",
                "config=tiny-test scores=bernoulli bernoulli=2 samples=8 memory.latency_ns=50",
                "config=tiny-test scores=bernoulli bernoulli=2 samples=8 memory.latency_ns=60"}));
  EXPECT_EQ(spec.keys, (std::vector<std::string>{"config", "values", "scores", "bernoulli",
                                                 "samples", "memory.latency_ns"}));
}

TEST(SweepSpec, EveryOptionOfRunAndEveryHardwareKeyCanBeSet) {
  std::size_t options = 0;
  for (const OptionName& option : option_names(SimulationCommand::kRun)) {
    ++options;
    EXPECT_NO_THROW(parse(fmt::format("name: x\ngrid: {{{}: [a, b]}}\n", option.name)));
  }
  // As `santasim run --help` lists them.
  const std::set<std::string> must = {
      "trace",  "query",   "scale",     "model", "context", "layers",    "config", "values",
      "scores", "samples", "bernoulli", "top-k", "seed",    "data-seed", "step",   "no-baselines"};
  EXPECT_GE(options, must.size());
  for (const std::string& name : must) {
    EXPECT_NO_THROW(parse(fmt::format("name: x\nlist: [{{{}: a}}]\n", name))) << name;
  }
  for (const config::KeyDescription& key : config::describe_hardware_keys()) {
    const std::size_t dot = key.key.find('.');
    const std::string entry =
        dot == std::string::npos
            ? key.key + ": [1]"
            : fmt::format("{}: {{{}: [1]}}", key.key.substr(0, dot), key.key.substr(dot + 1));
    EXPECT_NO_THROW(parse("name: x\ngrid: {" + entry + "}\n")) << key.key;
  }
}

TEST(SweepSpec, EveryOptionOfModelCanBeSet) {
  const std::string head = "name: x\ncommand: model\n";
  std::set<std::string> names;
  for (const OptionName& option : option_names(SimulationCommand::kModel)) {
    names.insert(option.name);
    const SweepSpec spec =
        parse_sweep_spec(fmt::format("{}grid: {{{}: [a, b]}}\n", head, option.name), "spec.yaml");
    EXPECT_EQ(spec.command, SimulationCommand::kModel);
    EXPECT_EQ(spec.points.size(), 2U);
  }
  // As `santasim model --help` lists them, less --set, --jobs and those of the output.
  EXPECT_EQ(names,
            (std::set<std::string>{"model", "context", "batch", "lengths", "trace", "synthetic",
                                   "data-seed", "config", "methods", "values", "scores", "samples",
                                   "bernoulli", "top-k", "seed", "step", "sample-layers"}));
  EXPECT_NO_THROW(parse(head + "grid: {system: {units: [1, 2]}, dram: {cl_cycles: [14]}}\n"));
  EXPECT_EQ(parse("name: x\ncommand: run\ngrid: {samples: [4]}\n").command,
            SimulationCommand::kRun);
  EXPECT_EQ(parse("name: x\ngrid: {samples: [4]}\n").command, SimulationCommand::kRun);
}

TEST(SweepSpec, SettingsBecomeArgumentsOfModel) {
  const SweepKeys known(SimulationCommand::kModel);
  EXPECT_EQ(known.words({{"model", "-x"}, {"batch", "4"}, {"system.units", "2"}}),
            (std::vector<std::string>{"--batch=4", "--set=system.units=2", "--", "-x"}));
}

TEST(SweepSpec, SettingsBecomeArgumentsOfRun) {
  const SweepKeys known;
  EXPECT_EQ(known.words({{"samples", "64"},
                         {"no-baselines", "true"},
                         {"memory.latency_ns", "1.5"},
                         {"clock_mhz", "500"}}),
            (std::vector<std::string>{"--samples=64", "--no-baselines",
                                      "--set=memory.latency_ns=1.5", "--set=clock_mhz=500"}));
  EXPECT_TRUE(known.words({{"no-baselines", "false"}}).empty());
  EXPECT_THROW(known.words({{"no-baselines", "yes"}}), InputError);
}

TEST(SweepSpec, RandomValuesAreInRangeAndRepeatable) {
  const std::string text =
      "name: random\n"
      "random:\n"
      "  points: 2000\n"
      "  seed: 5\n"
      "  keys:\n"
      "    values: {draw: choice, values: [santa, strat, sys]}\n"
      "    context: {draw: integer, from: 3, to: 6}\n"
      "    top-k: {draw: log-integer, from: 1, to: 1000}\n"
      "    samples: {draw: power-of-two, from: 2, to: 16}\n"
      "    clock_mhz: {draw: number, from: -2.5, to: 2.5}\n"
      "    memory: {latency_ns: {draw: log-number, from: 0.01, to: 100}}\n";
  const SweepSpec spec = parse(text);
  ASSERT_EQ(spec.points.size(), 2000U);
  EXPECT_EQ(texts(spec), texts(parse(text)));
  std::map<std::string, std::map<std::string, int>> seen;
  double log_sum = 0.0;
  double small = 0.0;
  for (const Settings& point : spec.points) {
    for (const auto& [key, value] : point) ++seen[key][value];
    const double clock = std::stod(point[4].value);
    EXPECT_TRUE(clock >= -2.5 && clock <= 2.5);
    const double latency = std::stod(point[5].value);
    EXPECT_TRUE(latency >= 0.01 && latency <= 100.0);
    log_sum += std::log10(latency);
    const double top_k = std::stod(point[2].value);
    EXPECT_TRUE(top_k >= 1 && top_k <= 1000);
    small += top_k < 32 ? 1.0 : 0.0;
  }
  EXPECT_EQ(seen["values"].size(), 3U);
  EXPECT_EQ(seen["context"].size(), 4U);
  EXPECT_EQ(seen["context"].begin()->first, "3");
  EXPECT_EQ(seen["samples"].size(), 4U);
  // Each value of four has 500 +- 5 standard deviations of sqrt(2000 * 1/4 * 3/4) = 19.4.
  for (const auto& [value, count] : seen["context"]) EXPECT_NEAR(count, 500, 97) << value;
  for (const auto& [value, count] : seen["samples"]) EXPECT_NEAR(count, 500, 97) << value;
  // The logarithm is uniform in [-2, 2]: mean 0 +- 5 standard errors of 4 / sqrt(12 * 2000).
  EXPECT_NEAR(log_sum / 2000.0, 0.0, 0.13);
  // Below 32 of 1 to 1000: log(32) / log(1001) of all, 1003 +- 5 * 22.4.
  EXPECT_NEAR(small, 1003.0, 112.0);
}

TEST(SweepSpec, FirstRandomValuesStayTheSameForEver) {
  const SweepSpec spec = parse(
      "name: random\n"
      "random: {points: 3, seed: 1, keys: {seed: {draw: integer, from: 1, to: 1000000}}}\n");
  // mt19937_64 with seed 1: 2469588189546311528, 2516265689700432462, 8323445853463659930, over
  // 2^64.
  EXPECT_EQ(texts(spec), (std::vector<std::string>{"seed=133877", "seed=136408", "seed=451215"}));
}

TEST(SweepSpec, ShippedFilesHavePointsThatRun) {
  std::size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(SANTA_SOURCE_DIR "/configs/sweeps")) {
    ++files;
    const SweepSpec spec = load_sweep_spec(entry.path().string());
    PointMaker maker(spec.command);
    for (const Settings& settings : spec.points) {
      EXPECT_EQ(maker.make(settings).refusal, "") << entry.path();
    }
  }
  EXPECT_GE(files, 1U);
}

TEST(SweepSpec, MistakesAreNamed) {
  expect_error("grid: {samples: [1]}\n", {"spec.yaml", "name", "missing"});
  expect_error("name: x\n", {"grid: missing", "list, grid, random"});
  expect_error("name: x\nfixed: {samples: 4}\n", {"grid: missing"});
  expect_error("name: x\ngrid: {sampels: [1]}\n",
               {"spec.yaml:2", "grid.sampels", "did you mean samples?"});
  expect_error("name: x\ngrid: {memory: {latency: [1]}}\n", {"grid.memory.latency"});
  expect_error("name: x\ngrid: {memory: [1]}\n", {"grid.memory", "a map"});
  expect_error("name: x\ngrid: {samples: 4}\n", {"grid.samples", "got 4", "a list"});
  expect_error("name: x\ngrid: {samples: []}\n", {"grid.samples"});
  for (const char* empty : {"{}", "{memory: {}}"}) {
    expect_error(fmt::format("name: x\ngrid: {}\n", empty),
                 {"spec.yaml:2: grid: is empty", "at least one key"});
    expect_error(fmt::format("name: x\nlist:\n  - {{samples: 4}}\n  - {}\n", empty),
                 {"spec.yaml:4: list[1]: is empty", "at least one key"});
  }
  expect_error("name: x\ngrid: {json: [a]}\n", {"grid.json", "unknown key"});
  expect_error("name: x\ngrid: {set: [a]}\n", {"grid.set", "unknown key"});
  expect_error("name: x\nlist: [{samples: [1]}]\n", {"list[0].samples"});
  expect_error("name: x\nlist: [{samples: 1}]\ngrid: {samples: [2]}\n",
               {"grid.samples", "in the section list, too"});
  expect_error("name: x\nfixed: {samples: 1}\nlist: [{samples: 1}]\n",
               {"samples", "in the section fixed, too"});
  expect_error("name: x\ngrid: {samples: [1]}\nlsit: []\n", {"lsit", "did you mean \"list\"?"});
  const std::string random = "name: x\nrandom: {points: 2, seed: 1, keys: ";
  expect_error(random + "{}}\n", {"random.keys", "is empty"});
  expect_error(random + "{samples: {draw: even, from: 1, to: 2}}}\n", {"draw", "choice, integer"});
  expect_error(random + "{samples: {draw: integer, from: 5, to: 2}}}\n", {"to", "got 2", "5 to"});
  expect_error(random + "{samples: {draw: integer, from: 5}}}\n", {"to", "missing"});
  expect_error(random + "{samples: {draw: log-number, from: 0, to: 1}}}\n", {"from", "got 0"});
  expect_error(random + "{samples: {draw: integer, from: 1, to: 2, step: 1}}}\n", {"step"});
  expect_error(
      "name: x\nrandom: {points: 0, seed: 1, keys: {seed: {draw: integer, from: 1, to: 2}}}\n",
      {"points", "got 0"});
  expect_error(
      "name: x\nrandom: {points: 1000000, seed: 1, keys: {seed: {draw: integer, from: 1, "
      "to: 2}}}\ngrid: {samples: [1, 2]}\n",
      {"2 times 1000000 points"});
}

TEST(SweepPoint, KeyFollowsTheConfigurationAndNotItsWriting) {
  PointMaker maker(SimulationCommand::kRun);
  const Settings plain = {{"config", "tiny-test"}, {"synthetic", "gaussian"}, {"samples", "64"}};
  const auto with = [&](const std::string& key, const std::string& value) {
    Settings settings = plain;
    settings.push_back({key, value});
    return maker.make(settings).key;
  };
  const SweepPoint point = maker.make(plain);
  EXPECT_EQ(point.refusal, "");
  EXPECT_EQ(point.key.size(), 16U);
  EXPECT_EQ(with("memory.latency_ns", "50"), point.key);  // what the preset says
  EXPECT_EQ(with("context", "4096"), point.key);          // the default
  EXPECT_NE(with("memory.latency_ns", "51"), point.key);
  EXPECT_NE(with("context", "4095"), point.key);
  EXPECT_NE(with("seed", "2"), point.key);
  EXPECT_NE(with("no-baselines", "true"), point.key);
  const SweepPoint bad = maker.make({{"config", "tiny-test"}, {"samples", "5"}});
  EXPECT_NE(bad.refusal.find("--samples"), std::string::npos);
  EXPECT_NE(bad.key, point.key);
}

TEST(SweepPoint, KeyOfAModelFollowsItsConfigurationToo) {
  PointMaker maker(SimulationCommand::kModel);
  const Settings plain = {{"model", "llama-3.1-8b"}, {"context", "8192"}};
  const auto with = [&](const std::string& key, const std::string& value) {
    Settings settings = plain;
    settings.push_back({key, value});
    const SweepPoint point = maker.make(settings);
    EXPECT_EQ(point.refusal, "") << key;
    return point.key;
  };
  const SweepPoint point = maker.make(plain);
  EXPECT_EQ(point.refusal, "");
  EXPECT_EQ(point.words.front(), "model");
  EXPECT_EQ(with("batch", "1"), point.key);  // the default
  EXPECT_EQ(with("config", "edge-lpddr5"), point.key);
  EXPECT_EQ(maker.make({{"model", "llama-3.1-8b"}, {"lengths", "8192"}}).key, point.key);
  const std::pair<const char*, const char*> others[] = {
      {"batch", "2"},         {"samples", "64"}, {"top-k", "64"},       {"methods", "dense"},
      {"sample-layers", "2"}, {"seed", "2"},     {"system.units", "2"}, {"memory.model", "dram"}};
  for (const auto& [key, value] : others) EXPECT_NE(with(key, value), point.key) << key;
  std::set<std::string> files;
  for (const auto& [name, hash] : maker.files()) files.insert(name);
  EXPECT_EQ(files.count("model llama-3.1-8b"), 1U);
  EXPECT_EQ(files.count("config edge-lpddr5"), 1U);
}

TEST(SweepTables, CsvFieldsAreQuotedWhereTheyMustBe) {
  EXPECT_EQ(csv_field("plain 1.5"), "plain 1.5");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\"\n"), "\"say \"\"x\"\"\n\"");
}

TEST(SweepProgress, DurationsAreShort) {
  EXPECT_EQ(duration_text(0.4), "0:00");
  EXPECT_EQ(duration_text(61), "1:01");
  EXPECT_EQ(duration_text(3599.6), "1:00:00");
  EXPECT_EQ(duration_text(86399), "23:59:59");
}

}  // namespace
}  // namespace santa::cli
