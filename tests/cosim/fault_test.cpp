// The whole program with a unit that is wrong in one bit: a co-simulation that cannot fail shows
// nothing. This program has built_models() of its own, so that the unit is the faulty one.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "faulty_unit.hpp"
#include "program.hpp"

// SystemC's library calls it from a main() of its own, which is not used.
extern "C" int sc_main(int /*argc*/, char** /*argv*/) {
  return 0;
}

namespace santa::cosim {

BuiltModel built_Vunit_tiny_test();

namespace {

Fault fault_in_use;

}  // namespace

const std::vector<BuiltModel>& built_models() {
  static const std::vector<BuiltModel> models = [] {
    BuiltModel model = built_Vunit_tiny_test();
    const auto make = model.make;
    model.make = [make](const ModelOptions& options) {
      return std::make_unique<FaultyUnit>(make(options), fault_in_use);
    };
    return std::vector<BuiltModel>{model};
  }();
  return models;
}

namespace {

namespace fs = std::filesystem;

struct Case {
  std::string name;
  Fault fault;
  std::vector<std::string> sentence;  // parts of it
};

void PrintTo(const Case& each, std::ostream* out) {
  *out << each.name;
}

Fault in_monitors(void (*spoil)(Monitors&)) {
  return {nullptr, nullptr, spoil};
}
Fault in_outputs(void (*spoil)(UnitOutputs&)) {
  return {nullptr, spoil, nullptr};
}
Fault in_inputs(void (*spoil)(UnitInputs&)) {
  return {spoil, nullptr, nullptr};
}

constexpr std::uint8_t kValueId = 2;

// Each lies all the time: what a channel carries stays as it is until it is taken.
std::vector<Case> cases() {
  return {
      {"Coefficient",
       in_monitors([](Monitors& m) { m.coefficient.front() ^= 1; }),
       {"query_encoder: request 0 (equal scores): ", "RTL ", "golden model "}},
      {"Score",
       in_monitors([](Monitors& m) { m.score.front() ^= 1; }),
       {"ternary_gather: request 0", "golden model "}},
      {"Weight",
       in_monitors([](Monitors& m) { m.weight.front() ^= 1; }),
       {"weight_unit: request 0", "golden model "}},
      {"TileSum",
       in_monitors([](Monitors& m) { m.tile_sum.front() ^= 1U; }),
       {"weight_unit: request 0", "tile 0", "golden model "}},
      {"Offset",
       in_monitors([](Monitors& m) { m.draw_offset ^= 1U; }),
       {"systematic_sampler: request 0", "golden model "}},
      {"Count",
       in_monitors([](Monitors& m) { m.row_counts.front() ^= 1; }),
       {"systematic_sampler: request 0", "golden model "}},
      {"LostRows",
       in_monitors([](Monitors& m) { m.row_valid = false; }),
       {"systematic_sampler: request 0"}},
      {"Value",
       in_monitors([](Monitors& m) { m.value.front() ^= 1; }),
       {"value_gather: request 0", "golden model "}},
      {"Output",
       in_monitors([](Monitors& m) { m.output.front() ^= 1; }),
       {"normalizer: request 0", "golden model "}},
      {"ReadData",
       in_inputs([](UnitInputs& in) {
         if (in.axi.rid == kValueId) in.axi.rdata[0] ^= 1;
       }),
       {"value_gather: request 0", "golden model "}},
      {"ReadAddress",
       in_outputs([](UnitOutputs& out) { out.axi.ar.address ^= 1ULL << 40; }),
       {"read of "}},
      {"WriteData",
       in_outputs([](UnitOutputs& out) { out.axi.wdata[0] ^= 1; }),
       {"normalizer: request 0", "output in memory of head 0, feature 0"}},
      {"LastWord",
       in_outputs([](UnitOutputs& out) { out.axi.wlast = false; }),
       {"WLAST is low on word 1"}},
      {"Register",
       in_outputs([](UnitOutputs& out) { out.lite.rdata ^= 1U; }),
       {"control_registers: "}},
      {"NoInterrupt",
       in_outputs([](UnitOutputs& out) { out.irq = false; }),
       {"control_registers: the interrupt while enabled"}},
      {"InterruptStops",
       Fault{nullptr,
             [cycle = 0](UnitOutputs& out) mutable {
               constexpr int kRegistersChecked = 2000;
               if (++cycle > kRegistersChecked) out.irq = false;
             },
             nullptr},
       {"nothing has happened since cycle "}},
  };
}

class ProgramTest : public testing::Test {
 protected:
  ProgramTest() : before_(fs::current_path()), folder_(make_folder()) { fs::current_path(folder_); }
  ~ProgramTest() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
    fault_in_use = Fault{};
  }
  static fs::path make_folder() {
    std::string name = (fs::temp_directory_path() / "santasim-fault-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    return name;
  }

  // Exit code; what the program says goes to `out` and `err`.
  int run(const std::vector<const char*>& arguments) {
    std::vector<const char*> words = {"santasim", "cosim"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = cli::run_program(static_cast<int>(words.size()), words.data());
    out = testing::internal::GetCapturedStdout();
    err = testing::internal::GetCapturedStderr();
    return code;
  }

  std::string out;
  std::string err;

 private:
  fs::path before_;
  fs::path folder_;
};

class FaultTest : public ProgramTest, public testing::WithParamInterface<Case> {};

TEST_P(FaultTest, IsFoundNamedAndRecorded) {
  fault_in_use = GetParam().fault;
  EXPECT_EQ(run({"--seed", "0", "--waves", "on-failure", "--json", "report.json"}), 1);
  EXPECT_EQ(err.rfind("santasim: ", 0), 0U) << err;
  EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
  for (const std::string& part : GetParam().sentence) {
    EXPECT_NE(err.find(part), std::string::npos) << "'" << part << "' is not in: " << err;
  }
  EXPECT_NE(err.find("of tiny-test, seed 0; repeat with: santasim cosim --config tiny-test "
                     "--seed 0\n"),
            std::string::npos)
      << err;
  EXPECT_NE(out.find("a difference was found"), std::string::npos) << out;
  EXPECT_GT(fs::file_size("cosim-tiny-test-seed-0.fst"), 1000U);
  std::ifstream file("report.json");
  std::ostringstream report;
  report << file.rdbuf();
  EXPECT_NE(report.str().find("\"failed_seed\": \"0\""), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Cosim, FaultTest, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

// What is in the files is what the unit is compared with.
TEST_F(ProgramTest, ReplayFindsTheFaultAndNamesTheFile) {
  const std::vector<const char*> record = {"santasim", "vectors", "record", "recorded"};
  testing::internal::CaptureStdout();
  ASSERT_EQ(cli::run_program(static_cast<int>(record.size()), record.data()), 0);
  testing::internal::GetCapturedStdout();
  EXPECT_EQ(run({"--vectors", "recorded"}), 0) << err;
  EXPECT_NE(out.find("vectors replayed       24 of 28"), std::string::npos) << out;
  fault_in_use = in_monitors([](Monitors& m) { m.output.front() ^= 1; });
  EXPECT_EQ(run({"--vectors", "recorded"}), 1);
  for (const char* part : {"normalizer: request ", "(tiny-test-0", ".safetensors, ", "RTL ",
                           "recorded vector ", "--config tiny-test --vectors recorded\n"}) {
    EXPECT_NE(err.find(part), std::string::npos) << "'" << part << "' is not in: " << err;
  }
}

// A name that cannot be given to the waveforms is no success, of a difference neither.
TEST_F(ProgramTest, WavesThatCannotBeWrittenAreAnError) {
  fs::create_directory("cosim-tiny-test-seed-0.fst");
  for (const char* when : {"always", "on-failure"}) {
    fault_in_use = in_monitors([](Monitors& m) { m.output.front() ^= 1; });
    EXPECT_EQ(run({"--seed", "0", "--waves", when}), 2) << when;
    EXPECT_NE(err.find("--waves: \"cosim-tiny-test-seed-0.fst\": cannot write: Is a directory"),
              std::string::npos)
        << err;
    EXPECT_EQ(std::distance(fs::directory_iterator("."), fs::directory_iterator()), 1);
  }
}

// The wrapper itself changes nothing.
TEST_F(ProgramTest, AgreesAndLeavesNoWaves) {
  EXPECT_EQ(run({"--seed", "0", "--waves", "on-failure"}), 0) << err;
  EXPECT_NE(out.find("no difference"), std::string::npos);
  EXPECT_TRUE(fs::is_empty("."));
}

}  // namespace
}  // namespace santa::cosim
