// Result files and standard output when things go wrong.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "program.hpp"

namespace santa::test {
namespace {

namespace fs = std::filesystem;

TEST(Output, FullDiskIsAnErrorOnEveryOutput) {
  expect_refused(run_program(small_run({"--json", "/dev/full"})), {"--json", "/dev/full", "space"});
  expect_refused(run_program(small_run({"--timeline", "/dev/full"})), {"--timeline", "/dev/full"});
  expect_refused(run_program(small_run(), {"/dev/full", false}), {"standard output", "space"});
  expect_refused(run_program({"describe", "stats"}, {"/dev/full", false}), {"standard output"});
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST(Output, ClosedStandardOutputIsAnErrorAndTakesNoResultFile) {
  const TemporaryFolder folder;
  const std::string file = folder / "result.json";
  expect_refused(run_program(small_run({"--json", file}), {"", true}), {"standard output"});
  EXPECT_EQ(read_json(file)["provenance"]["program"], "santasim");
}

TEST(Output, ReaderThatGoesAwayIsNoError) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  // A full pipe: the program's write waits, and fails when the only reader closes it.
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const int filler = ::open(pipe.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  const std::string page(4096, 'x');
  while (::write(filler, page.data(), page.size()) > 0) {
  }
  ::close(filler);
  const pid_t process = start_program({"describe", "stats"}, pipe, folder / "err");
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ::close(reader);
  int status = 0;
  ::waitpid(process, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(read_file(folder / "err"), "");
}

TEST(Output, UnwritablePathsAreFoundBeforeTheWork) {
  const TemporaryFolder folder;
  // A run that would take minutes.
  const std::vector<std::string> long_run = {"run",       "--synthetic", "gaussian",
                                             "--context", "1048576",     "--layers",
                                             "64",        "--kv-heads",  "32"};
  const auto refused = [&](const std::string& option, const std::string& path,
                           const std::string& reason) {
    std::vector<std::string> arguments = long_run;
    arguments.insert(arguments.end(), {option, path});
    const auto start = std::chrono::steady_clock::now();
    expect_refused(run_program(arguments), {option, path, reason});
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  };
  refused("--json", folder / "missing/x.json", "No such file");
  refused("--timeline", folder / "missing/x.json", "No such file");
  refused("--json", folder / "", "directory");
  EXPECT_TRUE(folder.files().empty());
}

TEST(Output, InputIsNeverOverwritten) {
  const TemporaryFolder folder;
  const std::string config = folder / "unit.yaml";
  write_file(config, read_file(SANTA_SOURCE_DIR "/configs/hardware/tiny-test.yaml"));
  const std::string before = read_file(config);
  const std::string link = folder / "link";
  fs::create_symlink(config, link);
  const std::vector<std::string> run = {"run", "--synthetic", "gaussian", "--config", config};
  for (const std::string& output :
       {config, link,
        folder / "../" + fs::path(config).parent_path().filename().string() + "/unit.yaml"}) {
    for (const char* option : {"--json", "--timeline"}) {
      std::vector<std::string> arguments = run;
      arguments.insert(arguments.end(), {option, output});
      expect_refused(run_program(arguments), {option, "is the input file of --config"});
    }
  }
  EXPECT_EQ(read_file(config), before);
}

// Everything that a run reads: the energy pack and a model's file, too.
TEST(Output, EnergyPackAndModelAreNotOverwritten) {
  const TemporaryFolder folder;
  const std::string pack = folder / "pack.yaml";
  const std::string model = folder / "model.yaml";
  write_file(pack, read_file(SANTA_SOURCE_DIR "/configs/energy/horowitz-45nm.yaml"));
  write_file(model, read_file(SANTA_SOURCE_DIR "/configs/models/bitnet-2b-4t.yaml"));
  const std::string pack_before = read_file(pack);
  const std::string model_before = read_file(model);
  expect_refused(run_program(small_run({"--set", "energy_pack=" + pack, "--json", pack})),
                 {"--json", "is the input file of energy_pack"});
  expect_refused(run_program({"run", "--model", model, "--context", "64", "--timeline", model}),
                 {"--timeline", "is the input file of --model"});
  EXPECT_EQ(read_file(pack), pack_before);
  EXPECT_EQ(read_file(model), model_before);
}

TEST(Output, TwoResultsInOneFileAreRefused) {
  const TemporaryFolder folder;
  const std::string file = folder / "both";
  const std::string dotted = folder / "./both";
  const std::string relative = fs::relative(file);
  for (const std::string& other : {file, dotted, relative}) {
    expect_refused(run_program(small_run({"--json", file, "--timeline", other})),
                   {"--timeline", "--json"});
  }
  EXPECT_TRUE(folder.files().empty());
}

TEST(Output, LinkIsFollowedAndPermissionsStay) {
  const TemporaryFolder folder;
  const std::string target = folder / "target.json";
  write_file(target, "old");
  fs::permissions(target, fs::perms(0640));
  fs::create_symlink("target.json", folder / "link.json");
  expect_success(run_program(small_run({"--json", folder / "link.json"})));
  EXPECT_TRUE(fs::is_symlink(folder / "link.json"));
  EXPECT_EQ(read_json(target)["unit"], "sampled");
  EXPECT_EQ(fs::status(target).permissions(), fs::perms(0640));
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"link.json", "target.json"}));
}

TEST(Output, FailedRunLeavesAnOlderResultAlone) {
  const TemporaryFolder folder;
  const std::string file = folder / "result.json";
  write_file(file, "old");
  expect_refused(run_program(small_run({"--json", file, "--head-dimension", "65"})), {});
  expect_refused(run_program({"run", "--synthetic", "gaussian", "--config", "tiny-test",
                              "--head-dimension", "65", "--json", file}),
                 {"max_head_dimension"});
  EXPECT_EQ(read_file(file), "old");
  EXPECT_EQ(folder.files(), std::vector<std::string>{"result.json"});
}

// Whenever the program is ended, there is a whole file or none, and nothing beside it.
TEST(Output, KilledRunLeavesNoPartialFile) {
  for (const int signal : {SIGTERM, SIGINT, SIGKILL}) {
    for (int attempt = 0; attempt < 6; ++attempt) {
      const TemporaryFolder logs;
      const TemporaryFolder folder;
      const std::string file = folder / "timeline.json";
      const pid_t process =
          start_program(small_run({"--timeline", file, "--json", folder / "report.json"}),
                        logs / "out", logs / "err");
      std::this_thread::sleep_for(std::chrono::milliseconds(20 * attempt));
      ::kill(process, signal);
      int status = 0;
      ::waitpid(process, &status, 0);
      for (const std::string& name : folder.files()) {
        ASSERT_TRUE(name == "timeline.json" || name == "report.json") << name;
        EXPECT_NO_THROW(read_json(folder / name)) << name;
      }
    }
  }
}

}  // namespace
}  // namespace santa::test
