// The JSON report against its documentation, and its sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include "program.hpp"

namespace santa::test {
namespace {

using nlohmann::json;

class Report : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const Outcome outcome = run_program(small_run({"--json", "-"}));
    expect_success(outcome);
    report() = json::parse(outcome.out);
    documented() = json::parse(run_program({"describe", "stats", "--json"}).out);
  }
  static json& report() {
    static json value;
    return value;
  }
  static json& documented() {
    static json value;
    return value;
  }
  static std::vector<std::string> unit_prefixes() {
    return {"", "baselines.dense.", "baselines.dense_fp16.", "baselines.topk."};
  }
  static const json& unit(const std::string& prefix) {
    if (prefix.empty()) return report();
    return report()["baselines"][prefix.substr(10, prefix.size() - 11)];
  }
};

// Every documented key, for all units.
std::vector<std::string> documented_keys(const json& documented,
                                         const std::vector<std::string>& unit_prefixes) {
  std::vector<std::string> keys;
  for (const json& entry : documented["run"]) keys.push_back(entry["key"]);
  for (const std::string& prefix : unit_prefixes) {
    for (const json& entry : documented["unit"]) {
      keys.push_back(prefix + entry["key"].get<std::string>());
    }
  }
  return keys;
}

// Keys of the values in a report; lists of objects as "[]".
void collect(const json& value, const std::string& key, std::set<std::string>& keys) {
  const bool list_of_objects = value.is_array() && !value.empty() && value[0].is_object();
  if (value.is_object()) {
    for (const auto& [name, part] : value.items()) {
      std::string path = key;
      if (!path.empty()) path += ".";
      collect(part, path += name, keys);
    }
  } else if (list_of_objects) {
    for (const json& part : value) collect(part, key + "[]", keys);
  } else {
    keys.insert(key);
  }
}

bool matches(const std::string& pattern, const std::string& key) {
  const std::size_t star = pattern.find('*');
  if (star == std::string::npos) return pattern == key;
  const std::size_t rest = std::min(key.find('.', star), key.size());
  return rest > star && key.compare(0, star, pattern, 0, star) == 0 &&
         key.substr(rest) == pattern.substr(star + 1);
}

TEST_F(Report, EveryKeyIsDocumentedAndEveryDocumentedKeyIsThere) {
  std::set<std::string> actual;
  collect(report(), "", actual);
  std::set<std::string> unused(actual);
  for (const std::string& pattern : documented_keys(documented(), unit_prefixes())) {
    std::size_t found = 0;
    for (const std::string& key : actual) {
      if (!matches(pattern, key)) continue;
      ++found;
      unused.erase(key);
    }
    EXPECT_GE(found, 1U) << "documented, but missing: " << pattern;
  }
  for (const std::string& key : unused) ADD_FAILURE() << "not documented: " << key;
}

TEST_F(Report, HasTheKeysThatUsersRelyOn) {
  for (const char* key :
       {"/latency/cycles", "/latency/ns", "/energy/total_pj/low", "/energy/total_pj/mid",
        "/energy/total_pj/high", "/energy/parts_pj/adders/mid", "/traffic/key_bytes",
        "/traffic/value_bytes", "/operations/score_adds", "/accuracy/relative_l2",
        "/samples/unique_rows", "/baselines/dense/latency/cycles",
        "/baselines/topk/energy/total_pj/mid", "/baselines/dense_fp16/traffic/key_bytes",
        "/provenance/version", "/provenance/configuration_hash", "/options/seed",
        "/input/source"}) {
    EXPECT_TRUE(report().contains(json::json_pointer(key))) << key;
  }
}

TEST_F(Report, EveryKeyHasAUnitOrNeedsNoneAndASentence) {
  for (const json* list : {&documented()["run"], &documented()["unit"]}) {
    for (const json& entry : *list) {
      const std::string key = entry["key"];
      const std::string sentence = entry["meaning"];
      ASSERT_FALSE(sentence.empty()) << key;
      EXPECT_EQ(sentence.back(), '.') << key;
      const std::string unit = entry["unit"];
      for (const char* suffix : {"_pj", "_cycles", "_bytes", "_ns", "_mw"}) {
        const std::size_t length = std::string(suffix).size();
        if (key.size() > length && key.compare(key.size() - length, length, suffix) == 0) {
          EXPECT_NE(unit, "") << key;
        }
      }
    }
  }
}

void expect_near_relative(double a, double b, const std::string& what) {
  EXPECT_NEAR(a, b, 1e-9 * std::max(std::abs(a), std::abs(b))) << what;
}

TEST_F(Report, EnergySumsAgree) {
  for (const std::string& prefix : unit_prefixes()) {
    const json& energy = unit(prefix)["energy"];
    for (const char* end : {"low", "mid", "high"}) {
      double parts = 0.0;
      double blocks = 0.0;
      for (const json& part : energy["parts_pj"]) parts += part[end].get<double>();
      for (const json& block : energy["blocks_pj"]) blocks += block[end].get<double>();
      const double total = energy["total_pj"][end];
      expect_near_relative(parts, total, prefix + "parts");
      expect_near_relative(blocks, total, prefix + "blocks");
    }
    double lines = 0.0;
    for (const json& line : energy["operations"]) lines += line["total_pj"].get<double>();
    for (const json& line : energy["static"]) lines += line["total_pj"].get<double>();
    const double mid = energy["total_pj"]["mid"];
    expect_near_relative(lines, mid, prefix + "lines");
    const json& windows = energy["windows"];
    double over_time = 0.0;
    double duration = 0.0;
    for (std::size_t i = 0; i < windows["power_mw"].size(); ++i) {
      over_time += windows["power_mw"][i].get<double>() * windows["duration_ns"][i].get<double>();
      duration += windows["duration_ns"][i].get<double>();
    }
    expect_near_relative(over_time, mid, prefix + "power x time");
    expect_near_relative(duration, unit(prefix)["latency"]["ns"], prefix + "duration");
    EXPECT_GT(mid, 0.0);
  }
}

TEST_F(Report, TrafficSumsAgree) {
  for (const std::string& prefix : unit_prefixes()) {
    const json& traffic = unit(prefix)["traffic"];
    std::uint64_t sum = 0;
    for (const auto& [name, bytes] : traffic.items()) {
      if (name != "total_bytes") sum += bytes.get<std::uint64_t>();
    }
    EXPECT_EQ(sum, traffic["total_bytes"]) << prefix;
  }
}

TEST_F(Report, BlocksAreNoBusierThanTheRunIsLong) {
  for (const std::string& prefix : unit_prefixes()) {
    const std::uint64_t cycles = unit(prefix)["latency"]["cycles"];
    EXPECT_FALSE(unit(prefix)["blocks"].empty());
    for (const auto& [name, block] : unit(prefix)["blocks"].items()) {
      EXPECT_LE(block["busy_cycles"].get<std::uint64_t>(), cycles) << prefix << name;
    }
  }
}

// Rounding to half precision alone is better than int8, and both are better than few samples.
TEST_F(Report, AccuracyHasTheExpectedOrder) {
  const auto error = [](const std::string& prefix) {
    return unit(prefix)["accuracy"]["relative_l2"].get<double>();
  };
  EXPECT_LT(error("baselines.dense_fp16."), 2e-3);
  EXPECT_LT(error("baselines.dense_fp16."), error("baselines.dense."));
  EXPECT_LT(error("baselines.dense."), 0.05);
  EXPECT_LT(error("baselines.dense."), error(""));
}

TEST(Describe, EveryTopicInEveryFormat) {
  for (const char* topic : {"stats", "config", "energy"}) {
    const Outcome text = run_program({"describe", topic});
    expect_success(text);
    EXPECT_GT(text.out.size(), 1000U);
    const Outcome as_json = run_program({"describe", topic, "--json"});
    expect_success(as_json);
    EXPECT_FALSE(json::parse(as_json.out).empty());
    const Outcome markdown = run_program({"describe", topic, "--markdown"});
    expect_success(markdown);
    EXPECT_NE(markdown.out.find("| --- |"), std::string::npos);
  }
}

TEST(Describe, ConfigurationListsEveryPreset) {
  const json description = json::parse(run_program({"describe", "config", "--json"}).out);
  std::set<std::string> names;
  for (const json& preset : description["presets"]) names.insert(preset["name"]);
  for (const char* name : {"edge-lpddr5", "server-hbm3", "llama-3.1-8b", "horowitz-45nm"}) {
    EXPECT_EQ(names.count(name), 1U) << name;
  }
}

// docs/json.md holds the output of `santasim describe stats --markdown` below its marker.
TEST(Describe, DocumentIsUpToDate) {
  const std::string document = read_file(SANTA_SOURCE_DIR "/docs/json.md");
  const std::string marker = "<!-- santasim describe stats --markdown -->\n";
  const std::size_t place = document.find(marker);
  ASSERT_NE(place, std::string::npos);
  EXPECT_TRUE(document.substr(place + marker.size()) ==
              run_program({"describe", "stats", "--markdown"}).out)
      << "replace what is below the marker in docs/json.md by the output of that command";
}

}  // namespace
}  // namespace santa::test
