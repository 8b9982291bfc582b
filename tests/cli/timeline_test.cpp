// The timeline: the Chrome trace format, tracks without overlaps, and the run's length.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "program.hpp"

namespace santa::test {
namespace {

using nlohmann::json;
using Track = std::pair<int, int>;  // process and thread

// Picoseconds, the resolution of the file.
std::int64_t to_ps(const json& microseconds) {
  return std::llround(microseconds.get<double>() * 1e6);
}

class Timeline : public testing::Test {
 protected:
  // A clock whose period is no whole number of picoseconds.
  void SetUp() override {
    const std::string timeline = folder_ / "timeline.json";
    expect_success(run_program(small_run(
        {"--set", "clock_mhz=333", "--timeline", timeline, "--json", folder_ / "report.json"})));
    events_ = read_json(timeline)["traceEvents"];
    report_ = read_json(folder_ / "report.json");
  }
  std::vector<double> latencies_ns() const {
    std::vector<double> result = {report_["latency"]["ns"]};
    for (const char* name : {"dense", "dense_fp16", "topk"}) {
      result.push_back(report_["baselines"][name]["latency"]["ns"]);
    }
    return result;
  }

  TemporaryFolder folder_;
  json events_;
  json report_;
};

TEST_F(Timeline, HasOneProcessAUnitAndOneNamedTrackABlock) {
  std::map<int, std::string> processes;
  std::map<Track, std::string> tracks;
  for (const json& event : events_) {
    if (event["ph"] != "M") continue;
    if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
    if (event["name"] == "thread_name") {
      tracks[{event["pid"], event["tid"]}] = event["args"]["name"];
    }
  }
  EXPECT_EQ(processes.size(), 4U);
  std::set<std::string> blocks;
  for (const auto& [track, name] : tracks) {
    if (track.first == 1) blocks.insert(name);
  }
  for (const auto& block : report_["blocks"].items()) EXPECT_EQ(blocks.count(block.key()), 1U);
  for (const json& event : events_) {
    if (event["ph"] != "X") continue;
    EXPECT_EQ(tracks.count({event["pid"], event["tid"]}), 1U);
  }
}

TEST_F(Timeline, SpansOfATrackDoNotOverlapAndEndWithTheRun) {
  std::map<Track, std::vector<std::pair<std::int64_t, std::int64_t>>> spans;
  std::map<int, std::int64_t> last_end;
  for (const json& event : events_) {
    if (event["ph"] != "X") continue;
    const std::int64_t start = to_ps(event["ts"]);
    const std::int64_t end = start + to_ps(event["dur"]);
    ASSERT_GE(start, 0);
    ASSERT_GE(end, start);
    spans[{event["pid"], event["tid"]}].emplace_back(start, end);
    last_end[event["pid"]] = std::max(last_end[event["pid"]], end);
  }
  EXPECT_GT(spans.size(), 10U);
  for (auto& [track, list] : spans) {
    std::sort(list.begin(), list.end());
    for (std::size_t i = 1; i < list.size(); ++i) {
      ASSERT_GE(list[i].first, list[i - 1].second)
          << "process " << track.first << ", track " << track.second;
    }
  }
  const std::vector<double> latencies = latencies_ns();
  for (std::size_t i = 0; i < latencies.size(); ++i) {
    EXPECT_EQ(last_end[static_cast<int>(i) + 1], std::llround(latencies[i] * 1e3));
  }
}

TEST_F(Timeline, PowerCounterIntegratesToTheEnergy) {
  std::map<int, std::vector<std::pair<std::int64_t, double>>> power;
  for (const json& event : events_) {
    if (event["ph"] != "C") continue;
    power[event["pid"]].emplace_back(to_ps(event["ts"]), event["args"]["power_mw"]);
  }
  ASSERT_EQ(power.size(), 4U);
  double energy_pj = 0.0;
  for (std::size_t i = 0; i + 1 < power[1].size(); ++i) {
    energy_pj +=
        power[1][i].second * 1e-3 * static_cast<double>(power[1][i + 1].first - power[1][i].first);
  }
  const double total = report_["energy"]["total_pj"]["mid"];
  EXPECT_NEAR(energy_pj, total, 1e-4 * total);
}

}  // namespace
}  // namespace santa::test
