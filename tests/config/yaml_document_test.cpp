// What the reader refuses before any key is asked for: files and YAML beyond the plain part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "expect_refused.hpp"
#include "santa/config/yaml_reader.hpp"

namespace santa::config {
namespace {

std::string refused(const std::string& text) {
  return refusal_of([&] { load_yaml_text(text, "f.yaml"); });
}

std::string repeated(const std::string& text, std::size_t bytes) {
  std::string result;
  while (result.size() + text.size() <= bytes) result += text;
  return result;
}

// A file or folder of its own that goes away with the test.
class YamlFile : public testing::Test {
 protected:
  YamlFile()
      : path_(testing::TempDir() + "santa_yaml_" +
              testing::UnitTest::GetInstance()->current_test_info()->name() + ".yaml") {}
  ~YamlFile() override { std::filesystem::remove_all(path_); }

  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
  std::string refused_file() const {
    return refusal_of([&] { load_yaml_file(path_); });
  }

  std::string path_;
};

TEST(YamlDocument, RefusesDuplicateKeys) {
  EXPECT_EQ(refused("unit:\n  a: 1\n  b: 2\n  a: 3\n"),
            "f.yaml:4: unit.a: given twice, first on line 2; allowed: once");
}

TEST(YamlDocument, RefusesAnchorsAliasesTagsAndMergeKeys) {
  EXPECT_EQ(refused("a: &x 1\n"),
            "f.yaml:1: a: found an anchor ('&'); allowed: values written out");
  EXPECT_EQ(refused("a: 1\nb: &x {c: 1}\n"),
            "f.yaml:2: b: found an anchor ('&'); allowed: values written out");
  EXPECT_EQ(refused("a: &x\nb: *x\n"),
            "f.yaml:1: a: found an anchor ('&'); allowed: values written out");
  EXPECT_EQ(refused("a: *x\n"), "f.yaml:1: not valid YAML: the referenced anchor is not defined");
  EXPECT_EQ(refused("a: !!int 3\n"),
            "f.yaml:1: a: found the tag \"tag:yaml.org,2002:int\"; allowed: values without tags");
  EXPECT_EQ(refused("a: !mine [3]\n"),
            "f.yaml:1: a: found the tag \"!mine\"; allowed: values without tags");
  EXPECT_EQ(refused("<<: {a: 1}\n"),
            "f.yaml:1: found a merge key ('<<'); allowed: values written out");
}

TEST(YamlDocument, RefusesOtherKeysThanNames) {
  const std::string end = "; allowed: keys of 1 to 64 letters, digits, '_' and '-'";
  EXPECT_EQ(refused("a:\n  ? [1]\n  : 2\n"),
            "f.yaml:2: a: found a key that is a map or a list" + end);
  EXPECT_EQ(refused("~: 2\n"), "f.yaml:1: found an empty key" + end);
  EXPECT_EQ(refused("'': 2\n"), "f.yaml:1: found the key \"\"" + end);
  EXPECT_EQ(refused("a.b: 2\n"), "f.yaml:1: found the key \"a.b\"" + end);
  EXPECT_EQ(refused("\"a\\nb\": 2\n"), "f.yaml:1: found the key \"a\\nb\"" + end);
  EXPECT_EQ(refused(std::string(65, 'k') + ": 2\n"),
            "f.yaml:1: found the key \"" + std::string(60, 'k') + "...\"" + end);
}

TEST(YamlDocument, RefusesSeveralDocumentsAndNone) {
  const std::string several = "found a second document; allowed: one document a file";
  EXPECT_EQ(refused("a: 1\n---\nb: 2\n"), "f.yaml:2: " + several);
  EXPECT_EQ(refused("a: 1\n...\nb: 2\n"), "f.yaml:3: " + several);
  EXPECT_EQ(refused("{a: 1} b\n"), "f.yaml:1: " + several);
  for (const char* text : {"", " \n", "# only a comment\n", "---\n", "---\n...\n", "~\n"}) {
    EXPECT_EQ(refused(text), "f.yaml: empty file; allowed: a map of keys and values");
  }
  for (const char* text : {"- 1\n", "words\n", "7\n", "[]\n"}) {
    EXPECT_EQ(refused(text),
              "f.yaml: got a list or a single value; allowed: a map of keys and values");
  }
}

TEST(YamlDocument, RefusesInvalidYamlWithTheLine) {
  EXPECT_EQ(refused("a: 1\nb: [1,\n"), "f.yaml:3: not valid YAML: end of sequence flow not found");
  for (const char* text :
       {"a: 'x", "a: 'x\n", "a: \"x\n", "a: 'x\n \n\t\n", "a: 'x\n  ", "a: \"x\\\n", "a: 'x\r"}) {
    EXPECT_THAT(refused(text), testing::EndsWith("not valid YAML: illegal EOF in scalar")) << text;
  }
  EXPECT_EQ(refused("a: 1\nb: @x\n"), "f.yaml:2: not valid YAML: unknown token");
  EXPECT_EQ(refused("a: \"\\U00110000\"\n"), "f.yaml:1: not valid YAML: invalid unicode: 1114112");
}

TEST(YamlDocument, RefusesBinary) {
  const std::string end = "; allowed: UTF-8 text";
  EXPECT_EQ(refused(std::string("a: 1\nb\0: 2", 10)), "f.yaml:2: got the byte \"\\x00\"" + end);
  EXPECT_EQ(refused("\xff\xfe"
                    "a"),
            "f.yaml:1: got the byte \"\\xff\"" + end);
  EXPECT_EQ(refused("a: \x1b[31m"), "f.yaml:1: got the byte \"\\x1b\"" + end);
}

TEST(YamlDocument, BoundsSizeAndDepth) {
  EXPECT_EQ(refused(std::string(kMaxYamlBytes + 1, '#')),
            "f.yaml: larger than 1000000 bytes; allowed: at most 1000000 bytes");
  EXPECT_NO_THROW(load_yaml_text("a: 1\n#" + std::string(kMaxYamlBytes - 6, '#'), "f.yaml"));
  const std::string deep = "maps and lists nested too deep; allowed: 32 levels or fewer";
  EXPECT_NO_THROW(load_yaml_text("a: " + std::string(31, '[') + std::string(31, ']'), "f.yaml"));
  EXPECT_EQ(refused("a: " + std::string(32, '[') + std::string(32, ']')), "f.yaml:1: " + deep);
  EXPECT_EQ(refused(repeated("- ", 10000)), "f.yaml:1: " + deep);
}

// Inputs of the largest size that make a careless parser slow or its stack overflow. The limit is
// generous, for sanitizers and busy machines: they take less than a second.
TEST(YamlDocument, LargeHostileInputsEndSoon) {
  std::string many_keys;
  for (int i = 0; many_keys.size() < kMaxYamlBytes - 20; ++i) {
    many_keys += "k" + std::to_string(i) + ":\n";
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_NO_THROW(load_yaml_text(many_keys, "f.yaml"));
  for (const char* text :
       {"[", "{", "? ", "- ", "a: ", "[a,", "{a: ", "---\n", "\"", "'", ":", "!a ", "&a ", "{}"}) {
    EXPECT_FALSE(refused(repeated(text, kMaxYamlBytes)).empty()) << text;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(100));
}

TEST_F(YamlFile, ReadsAFile) {
  write("a: 1\n");
  EXPECT_EQ(load_yaml_file(path_).integer("a", 1, 1), 1);
}

TEST_F(YamlFile, NamesTheFileAndEscapesItsName) {
  path_ += "\n.yaml";
  write("a: b\n");
  EXPECT_EQ(
      refusal_of([&] { load_yaml_file(path_).integer("a", 1, 2); }),
      path_.substr(0, path_.size() - 6) + "\\n.yaml:1: a: got b; allowed: an integer from 1 to 2");
}

TEST_F(YamlFile, RefusesAbsentAndEmptyFiles) {
  EXPECT_EQ(refused_file(), path_ + ": cannot be found; allowed: a YAML file");
  write("");
  EXPECT_EQ(refused_file(), path_ + ": empty file; allowed: a map of keys and values");
}

TEST_F(YamlFile, RefusesLargeFilesWithoutReadingThemWhole) {
  write("a: 1\n");
  std::filesystem::resize_file(path_, std::uintmax_t{1} << 32);  // sparse
  EXPECT_EQ(refused_file(), path_ + ": larger than 1000000 bytes; allowed: at most 1000000 bytes");
}

TEST_F(YamlFile, RefusesFolders) {
  std::filesystem::create_directory(path_);
  EXPECT_EQ(refused_file(), path_ + ": is a folder, a pipe or a device; allowed: a YAML file");
}

TEST_F(YamlFile, RefusesPipesWithoutWaiting) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(refused_file(), path_ + ": is a folder, a pipe or a device; allowed: a YAML file");
}

TEST_F(YamlFile, RefusesDevices) {
  std::filesystem::create_symlink("/dev/zero", path_);
  EXPECT_EQ(refused_file(), path_ + ": is a folder, a pipe or a device; allowed: a YAML file");
}

}  // namespace
}  // namespace santa::config
