// Parts as data: verdicts, and parts that take no time.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include "santa/error.hpp"
#include "santa/paper/part.hpp"

namespace santa::paper {
namespace {

Row row(double ours, double half, double paper, double paper_half, bool same = true) {
  Row result;
  result.ours = {ours, half};
  result.paper = PaperValue{paper, paper_half, same};
  return result;
}

TEST(Verdicts, FollowTheIntervalOfTheDifference) {
  EXPECT_EQ(verdict(row(1.0, 0.3, 1.5, 0.4)), Verdict::kAgrees);  // hypot is 0.5
  EXPECT_EQ(verdict(row(1.0, 0.3, 1.51, 0.4)), Verdict::kDiffers);
  EXPECT_EQ(verdict(row(7.0, 0.0, 7.0, 0.0)), Verdict::kAgrees);
  EXPECT_EQ(verdict(row(7.0, 0.0, 8.0, 0.0)), Verdict::kDiffers);
  EXPECT_EQ(verdict(row(7.0, 0.0, 8.0, 0.0, false)), Verdict::kNone);
  EXPECT_EQ(verdict(Row{}), Verdict::kNone);
}

TEST(Parts, HaveDifferentNames) {
  std::set<std::string> names;
  for (const PartMaker& maker : part_makers()) names.insert(maker.name);
  EXPECT_EQ(names.size(), part_makers().size());
}

// Tables 8 and 10: exact but for what the unit does in another way on purpose.
TEST(Parts, CountsDifferFromThePapersFormulasByDesignAlone) {
  std::vector<std::string> different;
  for (const Part& part : {make_table8({}, {}), make_table10({}, {})}) {
    EXPECT_GE(part.rows.size(), 9U);
    for (const Row& r : part.rows) {
      EXPECT_EQ(r.ours.half, 0.0);
      if (verdict(r) != Verdict::kAgrees) different.push_back(r.labels[0] + ": " + r.labels[1]);
    }
  }
  EXPECT_EQ(different, (std::vector<std::string>{"SANTA: multiplications, divisions",
                                                 "scores, adder-only unit: additions",
                                                 "scores, adder-only unit: multiplications",
                                                 "values, SANTA: multiplications, divisions"}));
}

class RecordedTimes : public testing::Test {
 protected:
  RecordedTimes() { std::filesystem::create_directory(folder_); }
  ~RecordedTimes() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& text) const {
    std::ofstream(folder_ / "card.tsv")
        << "# device\tTest card\n"
           "what\trequests\tlength\tsamples\tmedian_us\tp5_us\tp95_us\n"
        << text;
  }
  Part make() const {
    Settings settings;
    settings.gpu_results = folder_.string();
    return make_figure4(settings, {});
  }
  std::string refusal() const {
    try {
      make();
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                  testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(RecordedTimes, RatioIsThatOfTheFastestDenseKernel) {
  write(
      "SDPA cuDNN\t1\t32768\t0\t60\t59\t61\n"
      "SDPA flash\t1\t32768\t0\t45\t44\t46\n"
      "SDPA flash\t1\t8192\t0\t10\t9\t11\n"
      "plain read of keys\t1\t32768\t0\t20\t20\t20\n"
      "systematic\t1\t32768\t256\t30\t29\t31\n");
  const Part part = make();
  ASSERT_EQ(part.rows.size(), 1U);
  EXPECT_EQ(part.rows[0].labels, (std::vector<std::string>{"Test card", "systematic, S = 256", "1",
                                                           "32768", "30.0", "SDPA flash: 45.0"}));
  EXPECT_DOUBLE_EQ(part.rows[0].ours.value, 1.5);
  EXPECT_GT(part.rows[0].ours.half, 0.0);
  EXPECT_EQ(part.rows[0].paper->value, 1.50);
}

// The same measurements as JSON give the same rows.
TEST_F(RecordedTimes, JsonSaysTheSame) {
  write(
      "SDPA cuDNN\t1\t32768\t0\t60\t59\t61\n"
      "systematic, peaked\t1\t32768\t256\t30\t29\t31\n");
  const Part expected = make();
  std::filesystem::remove(folder_ / "card.tsv");
  const std::string common = R"("type": "bf16", "requests": 1, "length": 32768, )";
  std::ofstream(folder_ / "card.json")
      << R"({"device": {"name": "Test card"}, "protocol": {"runs": 40}, "rows": [)"
      << R"({"kernel": "SDPA cuDNN", "spread": 1, "samples": 0, )" << common
      << R"("median_us": 60, "p5_us": 59, "p95_us": 61},)"
      << R"({"kernel": "other", "spread": 1, "samples": 0, )" << common << R"("not_run": "why"},)"
      << R"({"kernel": "SDPA fp8", "spread": 1, "samples": 0, "type": "fp8", "requests": 1,)"
      << R"( "length": 32768, "median_us": 5, "p5_us": 5, "p95_us": 5},)"
      << R"({"kernel": "decode", "scheme": "systematic", "scores": "exact", "spread": 8, )"
      << common << R"("samples": 256, "median_us": 30, "p5_us": 29, "p95_us": 31}]})";
  const Part part = make();
  ASSERT_EQ(part.rows.size(), 1U);
  EXPECT_EQ(part.rows[0].labels, expected.rows[0].labels);
  EXPECT_EQ(part.rows[0].ours.value, expected.rows[0].ours.value);
  EXPECT_EQ(part.rows[0].ours.half, expected.rows[0].ours.half);
  const std::string device = R"({"device": {"name": "x"}, )";
  const std::pair<std::string, std::string> broken[] = {
      {R"({"device": 5})", "card.json: device: is no object"},
      {R"({"kernels": []})", "card.json: device: is missing; allowed: a file that gpu/bench wrote"},
      {"[1]", "card.json: is no object"},
      {"{", "card.json: is no JSON"},
      {device + R"("rows": 5})", "card.json: rows: got 5; allowed: a list"},
      {device + R"("rows": [5]})", "card.json: rows[0]: is no object"},
      {device + R"("rows": [{"median_us": 1, "kernel": 2}]})",
       "card.json: rows[0].kernel: got 2; allowed: a text"},
      {device + R"("rows": [{"median_us": 1, "kernel": "x", "requests": -1}]})",
       "card.json: rows[0].requests: got -1; allowed: an integer from 0"}};
  for (const auto& [text, message] : broken) {
    std::ofstream(folder_ / "card.json") << text;
    EXPECT_NE(refusal().find(message), std::string::npos) << refusal();
    EXPECT_EQ(refusal().find("exception"), std::string::npos) << refusal();
  }
}

TEST_F(RecordedTimes, BrokenFilesAreNamedWithTheLine) {
  write("systematic\t1\t32768\t256\tfast\t29\t31\n");
  EXPECT_NE(refusal().find("card.tsv:3: median_us: got \"fast\"; allowed: a number"),
            std::string::npos)
      << refusal();
  write("systematic\t1\t32768\n");
  EXPECT_NE(refusal().find("card.tsv:3: samples: is missing"), std::string::npos) << refusal();
  write("systematic\t1\t32768\t256\t30\t31\t32\n");
  EXPECT_NE(refusal().find("is not between p5_us and p95_us"), std::string::npos) << refusal();
  write("");
  EXPECT_NE(refusal().find("--gpu-results: got"), std::string::npos) << refusal();
}

}  // namespace
}  // namespace santa::paper
