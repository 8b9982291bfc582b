// Sweeps whose points are decode steps of whole models.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <sstream>

#include "sweep_support.hpp"
#include "trace_file.hpp"

namespace santa::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kModel =
    "name: small\nsource: a test\nlicence: none\nlayers: 6\nquery_heads: 4\nkv_heads: 2\n"
    "head_dimension: 16\nmax_context: 1000\nsoftmax_scale: inverse_sqrt_head_dimension\n";

class ModelSweep : public testing::Test {
 protected:
  ModelSweep() {
    write_file(model_, kModel);
    write_file(trace_, small_trace({0, 1}).bytes());
  }
  // A sweep of the small model on the small trace; `more` of the fixed keys, and the grid.
  void write_spec(const std::string& grid, const std::string& more = "sample-layers: 3") const {
    write_file(spec_, fmt::format("name: steps\ncommand: model\n"
                                  "fixed: {{model: {}, config: tiny-test, trace: {}, {}}}\n"
                                  "grid: {{{}}}\n",
                                  model_, trace_, more, grid));
  }
  Outcome sweep(const std::vector<std::string>& more = {}) const {
    return run_program(sweep_words(spec_, out_, more));
  }
  std::vector<json> lines() const {
    std::istringstream text(read_file(out_ + "/results.jsonl"));
    std::vector<json> all;
    for (std::string line; std::getline(text, line);) all.push_back(json::parse(line));
    return all;
  }

  TemporaryFolder folder_;
  std::string model_ = folder_ / "small.yaml";
  std::string trace_ = folder_ / "trace.safetensors";
  std::string spec_ = folder_ / "spec.yaml";
  std::string out_ = folder_ / "out";
};

TEST_F(ModelSweep, ResultsAreThoseOfTheCommandWithTheColumnsOfAModel) {
  write_spec("batch: [1, 2], memory: {latency_ns: [50, 200]}", "context: 120, sample-layers: 3");
  const Outcome outcome = sweep();
  expect_success(outcome);
  EXPECT_THAT(outcome.out, HasSubstr("4 points, 4 different: 0 found, 4 simulated, 0 failed"));
  const auto points = lines();
  ASSERT_EQ(points.size(), 4U);
  for (const json& line : points) {
    auto point = read_json(out_ + "/points/" + line["key"].get<std::string>() + ".json");
    EXPECT_EQ(point["sweep"]["key"], line["key"]);
    point.erase("sweep");
    EXPECT_EQ(line["result"], point);
    EXPECT_EQ(line["settings"]["batch"], std::to_string(point["requests"]["batch"].get<int>()));
    const std::string command = point["provenance"]["command"];
    // With as many processes as there are cores.
    const Outcome run = run_command(
        {"sh", "-c", SANTASIM_PROGRAM + command.substr(command.find(' ')) + " --json -"});
    expect_success(run);
    EXPECT_EQ(json::parse(run.out), point);
  }
  const std::string csv = read_file(out_ + "/results.csv");
  const std::string header = csv.substr(0, csv.find("\r\n")) + ",";
  EXPECT_EQ(header.rfind("index,key,status,reason,model,config,trace,context,sample-layers,batch,"
                         "memory.latency_ns,provenance.program,",
                         0),
            0U)
      << header;
  for (const char* method : {"dense", "dense_fp16", "topk", "sampled", "bernoulli"}) {
    for (const char* column :
         {"tokens_per_s", "energy_pj_per_token", "traffic_bytes_per_token", "limit",
          "busiest.busy_fraction", "relative_to_dense.energy", "step.latency_ns.value",
          "step.latency_ns.ci95", "step.energy_pj.parts.dram_read.value",
          "step.energy_pj.total.mid.ci95", "step.traffic_bytes.key.value",
          "step.memory.busy_ns.value"}) {
      EXPECT_THAT(header, HasSubstr(fmt::format(",methods.{}.{},", method, column)));
    }
  }
  EXPECT_THAT(header, HasSubstr(",methods.sampled.step.blocks.value_gather.busy_cycles.value,"));
}

TEST_F(ModelSweep, JobsDoNotChangeTheBytes) {
  write_spec("context: [60, 100], seed: [1, 2, 3]");
  expect_success(run_program(sweep_words(spec_, folder_ / "1", {"--jobs", "1"})));
  expect_success(run_program(sweep_words(spec_, folder_ / "5", {"--jobs", "5"})));
  EXPECT_EQ(folder_contents(folder_ / "1"), folder_contents(folder_ / "5"));
}

// Ended while points are simulated, by a kill that nobody can catch.
class KilledModelSweep : public ModelSweep {
 protected:
  void SetUp() override {
    write_spec("context: [60, 100, 140, 180], seed: [1, 2, 3, 4, 5, 6]");
    expect_success(run_program(sweep_words(spec_, whole_)));
    ASSERT_EQ(point_identities(whole_).size(), 24U);
  }
  void expect_same_after_kill_of(const std::vector<std::string>& command) {
    fs::create_directory(out_);
    const pid_t process = start_command(command, folder_ / "log", folder_ / "err");
    ASSERT_TRUE(wait_for_points(out_, 6, process)) << read_file(folder_ / "err");
    ::kill(process, SIGKILL);
    EXPECT_EQ(end_of(process), -SIGKILL);
    const auto before = point_identities(out_);
    EXPECT_LT(before.size(), 24U);
    const Outcome outcome = run_command(command);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto after = point_identities(out_);
    for (const auto& [name, identity] : before) EXPECT_EQ(after.at(name), identity) << name;
    EXPECT_TRUE(folder_contents(whole_) == folder_contents(out_));
  }
  std::string whole_ = folder_ / "whole";
};

TEST_F(KilledModelSweep, ResumesToTheSameBytes) {
  std::vector<std::string> command = {SANTASIM_PROGRAM};
  for (const std::string& word : sweep_words(spec_, out_, {"--resume", "--jobs", "2"})) {
    command.push_back(word);
  }
  expect_same_after_kill_of(command);
}

#ifdef SANTA_MPIRUN
TEST_F(KilledModelSweep, RanksGiveTheSameBytes) {
  std::vector<std::string> command = {SANTA_MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n",
                                      "3",          SANTASIM_PROGRAM};
  for (const std::string& word : sweep_words(spec_, out_)) command.push_back(word);
#ifdef __SANITIZE_ADDRESS__
  ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);  // what the MPI library keeps is not ours
#endif
  const Outcome outcome = run_command(command);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(folder_contents(whole_) == folder_contents(out_));
}
#endif

TEST_F(ModelSweep, BadPointsAreReportedAndTheOthersFinish) {
  // 65 requests are too many, and 7 layers more than there are, as the simulation finds out.
  write_spec("batch: [1, 65], sample-layers: [2, 7]", "context: 60, methods: \"dense,sampled\"");
  const Outcome outcome = sweep();
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.out, HasSubstr("4 points, 4 different: 0 found, 1 simulated, 3 failed"));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 3);
  EXPECT_THAT(outcome.err, HasSubstr("batch=65 sample-layers=2): --batch: got \"65\""));
  EXPECT_THAT(outcome.err, HasSubstr("--sample-layers: got 7; allowed: 1 to 6, the layers"));
  const auto before = folder_contents(out_);
  const Outcome again = sweep({"--resume"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.out, HasSubstr("1 found, 0 simulated, 3 failed"));
  EXPECT_EQ(folder_contents(out_), before);
}

TEST_F(ModelSweep, BadKeysAndCommandsAreNamed) {
  const auto refused = [&](const std::string& text, const std::vector<std::string>& parts) {
    write_file(spec_, "name: x\n" + text);
    expect_refused(sweep(), parts);
    EXPECT_FALSE(fs::exists(out_));
  };
  refused("command: bench\ngrid: {batch: [1]}\n",
          {"spec.yaml:2: command: got bench", "run, model"});
  refused("command: [model]\ngrid: {batch: [1]}\n", {"spec.yaml:2: command"});
  refused("command: model\ngrid: {sampels: [1]}\n",
          {"spec.yaml:3: grid.sampels: unknown key, did you mean samples?",
           "options of santasim model"});
  // Of the other command, of the command's own work, of where results go.
  for (const char* key : {"no-baselines", "jobs", "json", "set", "MODEL"}) {
    refused(fmt::format("command: model\ngrid: {{{}: [1]}}\n", key),
            {fmt::format("grid.{}: unknown key", key)});
  }
  refused("grid: {batch: [1]}\n", {"grid.batch: unknown key", "options of santasim run"});
}

TEST_F(ModelSweep, ModelsThatAreNotThereAreBadPoints) {
  const auto failed = [&](const std::string& list, const std::vector<std::string>& parts) {
    write_file(spec_, "name: x\ncommand: model\nlist: [" + list + "]\n");
    fs::remove_all(out_);
    const Outcome outcome = sweep();
    EXPECT_EQ(outcome.exit_code, 2);
    for (const std::string& part : parts) EXPECT_THAT(outcome.err, HasSubstr(part));
  };
  failed("{batch: 1}", {"(batch=1): MODEL: "});
  failed("{model: none}", {"(model=none): ", "llama-3.1-8b"});
  failed("{model: --tsv}", {"(model=--tsv): ", "llama-3.1-8b"});
  failed("{model: --help}", {"(model=--help): ", "llama-3.1-8b"});
}

TEST_F(ModelSweep, UnreadableTraceIsNamedWithItsOption) {
  write_file(spec_, fmt::format("name: steps\ncommand: model\n"
                                "fixed: {{model: {}, config: tiny-test, context: 60}}\n"
                                "grid: {{trace: [{}, {}]}}\n",
                                model_, trace_, folder_ / "none"));
  const Outcome outcome = sweep();
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--trace: got \"" + (folder_ / "none") +
                                     "\", which cannot be read: No such file or directory; "
                                     "allowed: a file that can be read"));
  EXPECT_EQ(point_identities(out_).size(), 1U);
}

TEST_F(ModelSweep, FilesAreInTheKey) {
  write_spec("context: [60, 100]");
  expect_success(sweep());
  const auto whole = folder_contents(out_);
  const auto refused_with_another = [&](const std::string& what) {
    expect_refused(sweep({"--resume"}),
                   {"holds another sweep: \"steps\" with the same settings, but another " + what});
  };
  write_file(model_, std::string(kModel) + "# a comment\n");
  refused_with_another("model " + model_);
  write_file(model_, kModel);
  TraceParts other = small_trace({0, 1});
  other.metadata["text"] = "another";
  write_file(trace_, other.bytes());
  refused_with_another("trace " + trace_);
  write_file(trace_, small_trace({0, 1}).bytes());
  expect_success(sweep({"--resume"}));
  EXPECT_EQ(folder_contents(out_), whole);
}

// The second of three points takes long enough for the change, which the third then finds.
TEST_F(ModelSweep, ModelThatChangesMeanwhileIsNotFiledUnderTheOldKey) {
  write_spec("context: [16, 150000, 24]", "methods: \"dense,sampled\", sample-layers: 3");
  const std::string err = folder_ / "err";
  const pid_t process =
      start_program(sweep_words(spec_, out_, {"--jobs", "1"}), folder_ / "log", err);
  ASSERT_TRUE(wait_for_points(out_, 1, process)) << read_file(err);
  write_file(folder_ / "new", std::string(kModel) + "# another\n");
  fs::rename(folder_ / "new", model_);
  EXPECT_EQ(end_of(process), 2);
  for (const char* context : {"150000", "24"}) {
    EXPECT_THAT(read_file(err), HasSubstr(fmt::format("context={}): {}: is not what it was when",
                                                      context, model_)));
  }
  EXPECT_EQ(point_identities(out_).size(), 1U);
  write_file(model_, kModel);
  expect_success(sweep({"--resume"}));
  expect_success(run_program(sweep_words(spec_, folder_ / "other")));
  EXPECT_EQ(folder_contents(out_), folder_contents(folder_ / "other"));
}

}  // namespace
}  // namespace santa::test
