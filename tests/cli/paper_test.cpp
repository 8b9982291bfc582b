// `santasim paper` as a user runs it: parts by name, its files, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "program.hpp"

namespace santa::test {
namespace {

using testing::HasSubstr;

// The parts that take no time.
std::vector<std::string> quick(const std::vector<std::string>& more) {
  std::vector<std::string> words = {"paper",   "--only", "table8", "--only",
                                    "table10", "--only", "figure4"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Paper, WritesDocumentAndNumbers) {
  const TemporaryFolder folder;
  const std::string place = folder / "new/folder";
  const Outcome outcome = run_program(quick({"--out", place}));
  expect_success(outcome);
  EXPECT_THAT(outcome.out, HasSubstr("Table 8: value stage of one query\n"));
  EXPECT_THAT(outcome.out, HasSubstr(place + "/paper.md\n"));
  const auto json = read_json(place + "/paper.json");
  ASSERT_EQ(json["parts"].size(), 3U);
  EXPECT_EQ(json["parts"][0]["name"], "figure4");  // in the order of all parts
  EXPECT_EQ(json["parts"][1]["name"], "table8");
  const auto& row = json["parts"][1]["rows"][0];
  EXPECT_EQ(row["labels"], (std::vector<std::string>{"dense", "additions"}));
  EXPECT_EQ(row["ours"]["value"], 8192 * 128);
  EXPECT_EQ(row["paper"]["value"], 8192 * 128);
  EXPECT_EQ(row["difference"]["value"], 0);
  EXPECT_EQ(row["agrees"], true);
  for (const auto& part : json["parts"]) {
    for (const auto& one : part["rows"]) {
      EXPECT_EQ(one["labels"].size(), part["label_columns"].size());
      EXPECT_EQ(one["checks"].size(), part["check_columns"].size());
    }
  }
}

// The page in the repository is what the program writes, as far as that takes no time.
TEST(Paper, DocumentInTheRepositoryIsCurrent) {
  const TemporaryFolder folder;
  expect_success(run_program(quick({"--out", folder / "."})));
  const std::string fresh = read_file(folder / "paper.md");
  const std::string kept = read_file(SANTA_SOURCE_DIR "/docs/paper.md");
  std::size_t sections = 0;
  for (std::size_t begin = fresh.find("\n## "); begin != std::string::npos; ++sections) {
    const std::size_t end = fresh.find("\n## ", begin + 1);
    EXPECT_THAT(kept, HasSubstr(fresh.substr(begin, end - begin)));
    begin = end;
  }
  EXPECT_EQ(sections, 3U);
}

TEST(Paper, ThreadsChangeNothingAndSeedsDo) {
  const auto numbers = [](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"paper", "--only", "table5", "--json", "-"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_program(words);
    expect_success(outcome);
    return nlohmann::json::parse(outcome.out)["parts"];
  };
  const auto one = numbers({"--jobs", "1"});
  EXPECT_EQ(one, numbers({"--jobs", "3"}));
  EXPECT_NE(one, numbers({"--seed", "2"}));
}

TEST(Paper, RefusesWhatItDoesNotKnow) {
  expect_refused(run_program({"paper", "--only", "table1"}),
                 {"--only: got \"table1\"; allowed: figure4, table5, table7, figure6, figure7, "
                  "table8, table9, table10, table17"});
  expect_refused(run_program(quick({"--only", "table8"})), {"--only", "\"table8\" is named twice"});
  expect_refused(run_program(quick({"--out", ""})), {"--out: got \"\"; allowed: a folder"});
  expect_refused(run_program(quick({"--seed", "0"})), {"--seed: got \"0\""});
  expect_refused(run_program(quick({"--jobs", "many"})), {"--jobs: got \"many\""});
  expect_refused(run_program(quick({"--json", ""})), {"--json: got \"\""});
}

TEST(Paper, RefusesPlacesBeforeTheWork) {
  const TemporaryFolder folder;
  write_file(folder / "file", "");
  expect_refused(run_program({"paper", "--out", folder / "file"}), {"--out", "file"});
  expect_refused(run_program({"paper", "--out", folder / "file/below"}), {"--out", "file/below"});
  expect_refused(run_program({"paper", "--json", folder / "no/such/folder.json"}), {"--json"});
  expect_refused(run_program({"paper", "--out", folder / ".", "--json", folder / "paper.json"}),
                 {"--json"});
  expect_refused(run_program({"paper", "--only", "table8", "--gpu-results", folder / "nothing"}),
                 {"--gpu-results: has no effect in this run", "--only figure4"});
  expect_refused(run_program(quick({"--gpu-results", folder / "nothing"})),
                 {"--gpu-results: got", "nothing", "a folder with results of gpu/bench"});
  EXPECT_EQ(folder.files(), std::vector<std::string>{"file"});
}

}  // namespace
}  // namespace santa::test
