// Changes from the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect_refused.hpp"
#include "santa/config/yaml_reader.hpp"

namespace santa::config {
namespace {

Node document() {
  return load_yaml_text("name: x\nunit:\n  lanes: 3\nlist: [1]\n", "f.yaml");
}

TEST(YamlOverride, ReplacesAndAdds) {
  Node root = document();
  root.set_overrides({{"unit.lanes", "8"}, {"unit.depth", "2"}, {"new.deep.key", "a=b c"}});
  EXPECT_EQ(root.child("unit").integer("lanes", 1, 9), 8);
  EXPECT_EQ(root.child("unit").integer("depth", 1, 9), 2);
  EXPECT_EQ(root.child("new").child("deep").text("key"), "a=b c");
}

TEST(YamlOverride, ReplacesAnEmptyOrQuotedValue) {
  Node root = load_yaml_text("a:\nb: '3'\n", "f.yaml");
  root.set_overrides({{"a", "1"}, {"b", "2"}});
  EXPECT_EQ(root.integer("a", 1, 1), 1);
  EXPECT_EQ(root.integer("b", 2, 2), 2);
}

TEST(YamlOverride, TheLastOneWins) {
  Node root = document();
  root.set_overrides({{"name", "y"}, {"name", "z"}});
  EXPECT_EQ(root.text("name"), "z");
}

TEST(YamlOverride, ErrorsNameTheOption) {
  Node root = document();
  root.set_overrides({{"unit.lanes", "three"}, {"unit.lane", "2"}, {"name", "bad\n\xff"}});
  EXPECT_EQ(refusal_of([&] { root.child("unit").integer("lanes", 1, 9); }),
            "--set: unit.lanes: got three; allowed: an integer from 1 to 9");
  EXPECT_EQ(refusal_of([&] { root.text("name"); }),
            "--set: name: got \"bad\\n\\xff\"; allowed: text of one line");
  EXPECT_EQ(refusal_of([&] { root.child("unit").finish(); }),
            "--set: unit.lane: unknown key, did you mean \"lanes\"?; allowed: lanes");
}

TEST(YamlOverride, RefusesSectionsListsAndMalformedKeys) {
  Node root = document();
  const auto refused = [&](const std::string& key) {
    return refusal_of([&] { root.set_override(key, "1"); });
  };
  const std::string single = "; allowed: the name of a single value";
  EXPECT_EQ(refused("unit"), "--set: unit: names a section or a list" + single);
  EXPECT_EQ(refused("list"), "--set: list: names a section or a list" + single);
  EXPECT_EQ(refused("list.x"), "--set: list.x: \"list\" is not a section" + single);
  EXPECT_EQ(refused("name.x"), "--set: name.x: \"name\" is not a section" + single);
  const std::string keys =
      "; allowed: keys of 1 to 64 letters, digits, '_' and '-', with '.' between section and key";
  for (const std::string key : {"", ".", "unit.", ".unit", "unit..lanes", "a b"}) {
    EXPECT_EQ(refused(key), "--set: found the key \"" + key + "\"" + keys);
  }
  EXPECT_EQ(refused("list[0]"), "--set: found the key \"list[0]\"" + keys);
}

TEST(YamlOverride, ParsesAssignments) {
  const Override change = parse_override("unit.lanes=a=b");
  EXPECT_EQ(change.key, "unit.lanes");
  EXPECT_EQ(change.value, "a=b");
  EXPECT_EQ(parse_override("a=").value, "");
  EXPECT_EQ(refusal_of([] { parse_override("unit.lanes"); }),
            "--set: got \"unit.lanes\"; allowed: key=value, as unit.tile_keys=64");
  EXPECT_EQ(refusal_of([] { parse_override("=3", "--change"); }),
            "--change: got \"=3\"; allowed: key=value, as unit.tile_keys=64");
}

}  // namespace
}  // namespace santa::config
