// `santasim bench`: options, and what a machine without a device is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.hpp"

namespace santa::test {
namespace {

using testing::HasSubstr;

TEST(BenchTest, WrongOptionsAreNamed) {
  expect_refused(run_program({"bench", "--lengths", "8192,5x"}), {"--lengths", "5x"});
  expect_refused(run_program({"bench", "--lengths", "0"}), {"--lengths", "0", "1 to 4194304"});
  expect_refused(run_program({"bench", "--batches", "65536"}), {"--batches", "65536", "65535"});
  expect_refused(run_program({"bench", "--types", "bf17"}), {"--types", "bf17", "fp8"});
  expect_refused(run_program({"bench", "--schemes", "best"}), {"--schemes", "best", "stratified"});
  expect_refused(run_program({"bench", "--runs", "19"}), {"--runs", "19", "20"});
  expect_refused(run_program({"bench", "--lengths", "8192", "9000"}), {"9000"});
  expect_refused(run_program({"bench", "--steps", "8x32768,8*9"}), {"--steps", "8*9", "8x32768"});
  expect_refused(run_program({"bench", "--steps", "1x9", "--batches", "1"}),
                 {"--steps", "--batches"});
}

// The message says which of the two is missing.
TEST(BenchTest, WithoutADeviceNothingIsMeasured) {
  const TemporaryFolder folder;
  const Outcome outcome = run_program(
      {"bench", "--lengths", "8192", "--batches", "1", "--json", folder / "result.json"});
  if (outcome.exit_code == 0) {
    const auto result = read_json(folder / "result.json");
    ASSERT_FALSE(result["rows"].empty());
    for (const auto& row : result["rows"]) EXPECT_GT(row["median_us"], 0);
    EXPECT_THAT(outcome.out, HasSubstr("plain read of keys"));
    return;
  }
  expect_refused(outcome, {"CUDA", "allowed: a "});
  EXPECT_TRUE(folder.files().empty());
}

}  // namespace
}  // namespace santa::test
