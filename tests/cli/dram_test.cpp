// The dram model of memory as a user meets it: results, traces, refusals.
#include <gtest/gtest.h>

#include <sstream>

#include "program.hpp"

namespace santa::test {
namespace {

using nlohmann::json;

std::vector<std::string> dram_run(const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = small_run({"--set", "memory.model=dram"});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(Dram, ResultsNameWhatLimitsTheMemory) {
  const Outcome table = run_program(dram_run());
  expect_success(table);
  EXPECT_NE(table.out.find("ddr4-3200 by the timing ddr4-3200"), std::string::npos);
  EXPECT_NE(table.out.find("memory limited by"), std::string::npos);
  const Outcome outcome = run_program(dram_run({"--json", "-"}));
  expect_success(outcome);
  const json report = json::parse(outcome.out);
  for (const json& unit : {report, report["baselines"]["topk"]}) {
    const json& memory = unit["memory"];
    EXPECT_EQ(memory["bursts"].get<std::uint64_t>() * 64, unit["traffic"]["total_bytes"]);
    std::uint64_t bursts = 0;
    for (const auto& [limit, count] : memory["limited_bursts"].items()) {
      bursts += count.get<std::uint64_t>();
    }
    EXPECT_EQ(bursts, memory["bursts"]);
    double time_ns = 0.0;
    for (const auto& [limit, ns] : memory["time_ns"].items()) time_ns += ns.get<double>();
    EXPECT_NEAR(time_ns, 2.0 * unit["latency"]["ns"].get<double>(), 200.0);
    EXPECT_EQ(memory["limited_bursts"].count(memory["limit"].get<std::string>()), 1U);
  }
  EXPECT_EQ(report["configuration"]["dram"]["trc_cycles"], 74);
  EXPECT_EQ(report["configuration"]["memory"]["timing"], "ddr4-3200");
  EXPECT_GT(report["energy"]["parts_pj"]["dram_refresh"]["mid"].get<double>(), 0.0);
}

TEST(Dram, KeysOfTheOtherModelAreNull) {
  const Outcome outcome = run_program(small_run({"--json", "-"}));
  expect_success(outcome);
  const json report = json::parse(outcome.out);
  for (const char* key : {"bursts", "precharges", "refreshes", "limit"}) {
    EXPECT_TRUE(report["memory"][key].is_null()) << key;
  }
  EXPECT_TRUE(report["memory"]["time_ns"]["bus"].is_null());
  EXPECT_TRUE(report["configuration"]["dram"]["trc_cycles"].is_null());
  EXPECT_EQ(report["energy"]["parts_pj"]["dram_refresh"]["mid"], 0.0);
}

// A stack's channels see few rows of a gather each: fewer activates in a time slow it down, and
// only
// --set says so.
TEST(Dram, ATimingIsSweptFromTheCommandLine) {
  const auto latency = [](const std::string& tfaw) {
    const Outcome outcome = run_program({"run",
                                         "--synthetic",
                                         "gaussian",
                                         "--query-heads",
                                         "8",
                                         "--kv-heads",
                                         "1",
                                         "--context",
                                         "32768",
                                         "--head-dimension",
                                         "128",
                                         "--samples",
                                         "256",
                                         "--config",
                                         "server-hbm3",
                                         "--set",
                                         "memory.model=dram",
                                         "--set",
                                         "dram.tfaw_cycles=" + tfaw,
                                         "--json",
                                         "-"});
    expect_success(outcome);
    const json report = json::parse(outcome.out);
    EXPECT_EQ(report["configuration"]["dram"]["tfaw_cycles"], std::stoi(tfaw));
    return report["latency"]["ns"].get<double>();
  };
  EXPECT_GT(latency("96"), 1.1 * latency("24"));
}

// Lines of a trace: address, read or write, and the cycle where the format has one.
TEST(Dram, TracesAreInTheFormatAskedFor) {
  const TemporaryFolder folder;
  std::uint64_t lines[2] = {0, 0};
  std::string addresses[2];
  for (const bool ramulator : {false, true}) {
    const std::string file = folder / (ramulator ? "r.trace" : "d.trace");
    std::vector<std::string> arguments = dram_run({"--dram-trace", file, "--json", "-"});
    if (ramulator) arguments.insert(arguments.end(), {"--dram-trace-format", "ramulator2"});
    const Outcome outcome = run_program(arguments);
    expect_success(outcome);
    const json report = json::parse(outcome.out);
    EXPECT_EQ(report["provenance"]["command"].get<std::string>().find("--dram-trace"),
              std::string::npos);
    std::istringstream text(read_file(file));
    std::uint64_t writes = 0;
    std::uint64_t last_cycle = 0;
    for (std::string line; std::getline(text, line); ++lines[ramulator ? 1U : 0U]) {
      std::istringstream words(line);
      std::string address;
      std::string kind;
      if (ramulator) {
        words >> kind >> address;
        EXPECT_TRUE(kind == "LD" || kind == "ST") << line;
      } else {
        std::uint64_t cycle = 0;
        words >> address >> kind >> cycle;
        EXPECT_TRUE(kind == "READ" || kind == "WRITE") << line;
        EXPECT_GE(cycle, last_cycle);
        last_cycle = cycle;
      }
      if (kind == "ST" || kind == "WRITE") ++writes;
      EXPECT_EQ(address.rfind("0x", 0), 0U) << line;
      EXPECT_EQ(std::stoull(address, nullptr, 16) % 64, 0U) << line;
      EXPECT_TRUE(words && words.peek() == std::char_traits<char>::eof()) << line;
      addresses[ramulator ? 1U : 0U] += address + "\n";
    }
    EXPECT_GT(writes, 0U);
    EXPECT_EQ(lines[ramulator ? 1U : 0U], report["memory"]["bursts"]);
  }
  EXPECT_EQ(addresses[0], addresses[1]);
}

TEST(Dram, BadInputIsRefused) {
  const auto refused = [](const std::vector<std::string>& more,
                          const std::vector<std::string>& parts) {
    expect_refused(run_program(dram_run(more)), parts);
  };
  refused({"--set", "dram.trc_cycles=73"},
          {"--set: dram.trc_cycles: got 73; allowed: at least tras_cycles + trp_cycles, which is "
           "74"});
  refused({"--set", "dram.address_map=row:16 bank:2 column:5 group:2"},
          {"--set: dram.address_map: got 5 bits of column", "7 bits, which cover all 128"});
  refused({"--set", "dram.address_map=rank:1"}, {"--set: dram.address_map: got \"rank:1\""});
  refused({"--set", "memory.timing=ddr4-3201"}, {"memory.timing", "\"ddr4-3201\"", "ddr4-3200"});
  refused({"--set", "dram.tfaw=3"}, {"--set: dram.tfaw: unknown key"});
  refused({"--set", "memory.channel_gb_per_s=20"}, {"memory.channel_gb_per_s: got 20", "25.6"});
  expect_refused(run_program({"run", "--synthetic", "gaussian", "--config", "tiny-test",
                              "--head-dimension", "64", "--context", "4096", "--set",
                              "memory.model=dram", "--set", "dram.rows_per_bank=2", "--set",
                              "dram.address_map=row:1 bank:2 column:5 group:2 column:2"}),
                 {"memory.channels: the request needs", "at most 524288"});
  refused({"--dram-trace", ""}, {"--dram-trace: got \"\"", "a file"});
  refused({"--dram-trace", "-"}, {"--dram-trace: got \"-\"", "a file"});
  refused({"--dram-trace", "/dev/full"}, {"--dram-trace", "/dev/full"});
  refused({"--dram-trace", "x", "--dram-trace-format", "dramsim2"},
          {"--dram-trace-format: got \"dramsim2\"", "dramsim3, ramulator2"});
  refused({"--dram-trace-format", "dramsim3"}, {"--dram-trace-format", "with --dram-trace"});
  refused({"--dram-trace", "same.json", "--json", "same.json"}, {"--dram-trace", "--json"});
  expect_refused(run_program(small_run({"--dram-trace", "x"})),
                 {"--dram-trace: has no effect with memory.model bandwidth", "memory.model=dram"});
  expect_refused(run_program(small_run({"--set", "dram.tfaw_cycles=40"})),
                 {"--set: dram.tfaw_cycles", "memory.model dram"});
  expect_refused(run_program({"cosim", "--set", "memory.model=dram"}),
                 {"memory.model: got dram", "bandwidth"});
}

// A file of one's own: its contradictions are named with file and line.
TEST(Dram, AFileOfOnesOwnIsNamedInRefusals) {
  const TemporaryFolder folder;
  std::string text = read_file(SANTA_SOURCE_DIR "/configs/dram/ddr4-3200.yaml");
  const std::string file = folder / "mine.yaml";
  write_file(file, text);
  expect_success(run_program(dram_run({"--set", "memory.timing=" + file})));
  const std::size_t place = text.find("trc_cycles: 74");
  ASSERT_NE(place, std::string::npos);
  write_file(file, text.replace(place, 14, "trc_cycles: 70"));
  expect_refused(run_program(dram_run({"--set", "memory.timing=" + file})),
                 {"mine.yaml:", "trc_cycles: got 70", "which is 74"});
  write_file(file, "name: mine\n");
  expect_refused(run_program(dram_run({"--set", "memory.timing=" + file})),
                 {"mine.yaml", "source: missing"});
}

}  // namespace
}  // namespace santa::test
