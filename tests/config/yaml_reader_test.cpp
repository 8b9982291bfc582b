// Values, keys and bookkeeping of the strict reader.
#include "santa/config/yaml_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "expect_refused.hpp"

namespace santa::config {
namespace {

using testing::ElementsAre;

Node parse(const std::string& text) {
  return load_yaml_text(text, "f.yaml");
}

std::string refused_number(const std::string& value) {
  return refusal_of([&] { parse("a: " + value).number("a", 0.5, 100); });
}

std::string refused_integer(const std::string& value) {
  return refusal_of([&] { parse("a: " + value).integer("a", -5, 100); });
}

TEST(YamlReader, ReadsEveryKind) {
  const Node root = parse(
      "text: some words\n"
      "number: -2.5e1\n"
      "integer: -7\n"
      "power: 64\n"
      "yes: true\n"
      "no: false\n"
      "colour: green\n"
      "section:\n"
      "  inner: 'quoted # text'\n"
      "numbers: [1, 2.5]\n"
      "maps:\n"
      "  - {x: 1}\n"
      "  - x: 2\n");
  EXPECT_EQ(root.text("text"), "some words");
  EXPECT_EQ(root.number("number", -100, 100), -25.0);
  EXPECT_EQ(root.integer("integer", -7, 0), -7);
  EXPECT_EQ(root.power_of_two("power", 64, 64), 64);
  EXPECT_TRUE(root.boolean("yes"));
  EXPECT_FALSE(root.boolean("no"));
  EXPECT_EQ(root.choice<char>("colour", {{"red", 'r'}, {"green", 'g'}}), 'g');
  EXPECT_EQ(root.child("section").text("inner"), "quoted # text");
  const std::vector<Node> numbers = root.list("numbers", 2);
  EXPECT_EQ(numbers[0].as_integer(0, 9), 1);
  EXPECT_EQ(numbers[1].as_number(0, 9), 2.5);
  std::int64_t sum = 0;
  for (const Node& map : root.list("maps")) sum += map.integer("x", 0, 9);
  EXPECT_EQ(sum, 3);
  EXPECT_NO_THROW(root.finish());
}

TEST(YamlReader, KeysKeepTheOrderOfTheFile) {
  EXPECT_THAT(parse("b: 1\na: 2\nc: 3\n").keys(), ElementsAre("b", "a", "c"));
}

TEST(YamlReader, ExtremeNumbersAreExact) {
  const Node root = parse(
      "low: -9223372036854775808\n"
      "high: 9223372036854775807\n"
      "power: 4611686018427387904\n"
      "real: 0.1\n"
      "zero: -0\n"
      "small: 5e-324\n");
  constexpr auto kLow = std::numeric_limits<std::int64_t>::min();
  constexpr auto kHigh = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(root.integer("low", kLow, kHigh), kLow);
  EXPECT_EQ(root.integer("high", kLow, kHigh), kHigh);
  EXPECT_EQ(root.power_of_two("power", 1, kHigh), std::int64_t{1} << 62);
  EXPECT_EQ(root.number("real", 0, 1), 0.1);
  EXPECT_FALSE(std::signbit(root.number("zero", 0, 1)));
  EXPECT_EQ(root.number("small", 0, 1), std::numeric_limits<double>::denorm_min());
}

TEST(YamlReader, RefusesNumbersThatAreNone) {
  const std::string end = "; allowed: a number from 0.5 to 100";
  for (const char* value : {"12abc", "1_000", "010", "0x10", ".5", "1.", "+1", "1e", "1e+", ".nan",
                            "nan", ".inf", "-.inf", "inf", "1e999", "1e-999", "--1", "1.5.2"}) {
    EXPECT_EQ(refused_number(value), std::string("f.yaml:1: a: got ") + value + end);
  }
  EXPECT_EQ(refused_number("1 2"), "f.yaml:1: a: got \"1 2\"" + end);
  EXPECT_EQ(refused_number("0.4999"), "f.yaml:1: a: got 0.4999" + end);
  EXPECT_EQ(refused_number("100.01"), "f.yaml:1: a: got 100.01" + end);
  EXPECT_EQ(refused_number("\"7\""), "f.yaml:1: a: got \"7\"" + end);
  EXPECT_EQ(refused_number("''"), "f.yaml:1: a: got \"\"" + end);
  EXPECT_EQ(refused_number(""), "f.yaml:1: a: got no value" + end);
  EXPECT_EQ(refused_number("~"), "f.yaml:1: a: got no value" + end);
  EXPECT_EQ(refused_number("{b: 1}"), "f.yaml:1: a: got a map" + end);
  EXPECT_EQ(refused_number("[1]"), "f.yaml:1: a: got a list" + end);
}

TEST(YamlReader, RefusesIntegersThatAreNone) {
  const std::string end = "; allowed: an integer from -5 to 100";
  for (const char* value : {"3.5", "3.0", "1e2", "007", "-x", "1,000", "9223372036854775808",
                            "99999999999999999999999999", "-6", "101", "true"}) {
    EXPECT_EQ(refused_integer(value), std::string("f.yaml:1: a: got ") + value + end);
  }
  EXPECT_EQ(refused_integer("\"7\""), "f.yaml:1: a: got \"7\"" + end);
}

TEST(YamlReader, RefusesOtherThanPowersOfTwo) {
  for (const char* value : {"48", "0", "-16", "8", "2048", "16.0"}) {
    EXPECT_EQ(
        refusal_of([&] {
          parse(std::string("u:\n  t: ") + value).child("u").power_of_two("t", 16, 1024);
        }),
        std::string("f.yaml:2: u.t: got ") + value + "; allowed: a power of two from 16 to 1024");
  }
}

TEST(YamlReader, RefusesOtherBooleansAndChoices) {
  for (const char* value : {"yes", "True", "1", "on"}) {
    EXPECT_EQ(refusal_of([&] { parse(std::string("a: ") + value).boolean("a"); }),
              std::string("f.yaml:1: a: got ") + value + "; allowed: true, false");
  }
  EXPECT_EQ(refusal_of([] {
              parse("a: blue").choice<int>("a", {{"red", 1}, {"green", 2}});
            }),
            "f.yaml:1: a: got blue; allowed: red, green");
}

TEST(YamlReader, NumberOrWord) {
  EXPECT_EQ(parse("a: auto").number_or_word("a", "auto", 0, 1), std::nullopt);
  EXPECT_EQ(parse("a: 0.5").number_or_word("a", "auto", 0, 1), 0.5);
  EXPECT_EQ(refusal_of([] { parse("a: 2").number_or_word("a", "auto", 0, 1); }),
            "f.yaml:1: a: got 2; allowed: auto, or a number from 0 to 1");
}

TEST(YamlReader, RefusesTextThatIsEmptyOrHasControlCharacters) {
  const std::string end = "; allowed: text of one line";
  EXPECT_EQ(refusal_of([] { parse("a: ''").text("a"); }), "f.yaml:1: a: got \"\"" + end);
  EXPECT_EQ(refusal_of([] { parse("a: |\n  x\n  y\n").text("a"); }),
            "f.yaml:1: a: got \"x\\ny\\n\"" + end);
  EXPECT_EQ(refusal_of([] { parse("a: \"\\e[31m\\0\"").text("a"); }),
            "f.yaml:1: a: got \"\\x1b[31m\\x00\"" + end);
  EXPECT_EQ(parse("a: \"\\u00e9 \u20ac\"").text("a"), "\u00e9 \u20ac");
}

TEST(YamlReader, CutsLongValues) {
  EXPECT_EQ(refused_integer(std::string(5000, 'x')), "f.yaml:1: a: got \"" + std::string(60, 'x') +
                                                         "...\"; allowed: an integer from -5 to "
                                                         "100");
}

// The escaped and cut text is as long as the text itself: the first 60 characters, then "...".
TEST(YamlReader, EscapesAndCutsWhateverTheLength) {
  const std::string sixty(60, 'x');
  EXPECT_EQ(refused_integer(sixty + "yyy"),
            "f.yaml:1: a: got \"" + sixty + "...\"; allowed: an integer from -5 to 100");
  Node root = parse("a: 1");
  root.set_override("a", "x\x10" + std::string(64, 'y'));
  EXPECT_EQ(refusal_of([&] { root.integer("a", -5, 100); }),
            "--set: a: got \"x\\x10" + std::string(58, 'y') +
                "...\"; allowed: an integer from -5 to 100");
}

TEST(YamlReader, RefusesMissingKeysWithWhatIsAllowed) {
  const Node root = parse("section:\n  tile_key: 64\nother: 1\n");
  EXPECT_EQ(refusal_of([&] { root.child("section").power_of_two("tile_keys", 16, 1024); }),
            "f.yaml:1: section.tile_keys: missing, but there is \"tile_key\" (f.yaml:2); allowed: "
            "a power of two from 16 to 1024");
  EXPECT_EQ(refusal_of([&] { root.text("name"); }),
            "f.yaml: name: missing; allowed: text of one line");
  EXPECT_EQ(refusal_of([&] { root.boolean("flag"); }),
            "f.yaml: flag: missing; allowed: true, false");
  EXPECT_EQ(refusal_of([&] {
              root.choice<int>("kind", {{"x", 1}});
            }),
            "f.yaml: kind: missing; allowed: x");
  EXPECT_EQ(refusal_of([&] { root.child("unit"); }),
            "f.yaml: unit: missing; allowed: a map of keys and values");
  EXPECT_EQ(refusal_of([&] { root.list("rows", 2); }),
            "f.yaml: rows: missing; allowed: a list of 2 or more entries");
}

TEST(YamlReader, RefusesTheWrongKindOfNode) {
  const Node root = parse("a: 1\nlist: [1, {b: 2}]\n");
  EXPECT_EQ(refusal_of([&] { root.child("a"); }),
            "f.yaml:1: a: got 1; allowed: a map of keys and values");
  EXPECT_EQ(refusal_of([&] { root.list("a"); }), "f.yaml:1: a: got 1; allowed: a list");
  EXPECT_EQ(refusal_of([&] { root.list("list", 3); }),
            "f.yaml:2: list: got 2 entries; allowed: a list of 3 or more entries");
  EXPECT_EQ(refusal_of([&] { root.list("list")[0].text("b"); }),
            "f.yaml:2: list[0]: got 1; allowed: a map of keys and values");
  EXPECT_EQ(refusal_of([&] { root.list("list")[1].as_integer(0, 1); }),
            "f.yaml:2: list[1]: got a map; allowed: an integer from 0 to 1");
  EXPECT_EQ(refusal_of([&] { root.list("list")[1].integer("b", 5, 9); }),
            "f.yaml:2: list[1].b: got 2; allowed: an integer from 5 to 9");
  EXPECT_EQ(refusal_of([&] { root.list("list")[0].keys(); }),
            "f.yaml:2: list[0]: got 1; allowed: a map of keys and values");
}

TEST(YamlReader, FinishRefusesUnknownKeys) {
  const Node root = parse("unit:\n  lanes: 1\n  colour: 2\nlist:\n  - {x: 1, y: 2}\n");
  root.child("unit").integer("lanes", 1, 2);
  root.child("unit").has("color");
  EXPECT_EQ(refusal_of([&] { root.finish(); }),
            "f.yaml:3: unit.colour: unknown key, did you mean \"color\"?; allowed: color, lanes");
  root.child("unit").integer("colour", 1, 2);
  EXPECT_EQ(refusal_of([&] { root.finish(); }), "f.yaml:4: list: unknown key; allowed: unit");
  const std::vector<Node> list = root.list("list");
  list[0].integer("x", 1, 2);
  EXPECT_EQ(refusal_of([&] { root.finish(); }),
            "f.yaml:5: list[0].y: unknown key, did you mean \"x\"?; allowed: x");
}

TEST(YamlReader, FinishRefusesSectionsThatWereOpenedButNotRead) {
  const Node root = parse("unit:\n  lanes: 1\n");
  root.child("unit");
  EXPECT_EQ(refusal_of([&] { root.finish(); }), "f.yaml:2: unit.lanes: unknown key; allowed: none");
}

TEST(YamlReader, ErrorsOfCallersNameThePlace) {
  const Node root = parse("a: 1\nunit:\n  lanes: 3\n");
  const Node unit = root.child("unit");
  EXPECT_STREQ(unit.error("lanes", "got 3", "even").what(),
               "f.yaml:3: unit.lanes: got 3; allowed: even");
  EXPECT_STREQ(unit.error("depth", "missing", "1").what(),
               "f.yaml:2: unit.depth: missing; allowed: 1");
  EXPECT_STREQ(root.error("depth", "missing", "1").what(), "f.yaml: depth: missing; allowed: 1");
  EXPECT_EQ(unit.place(), "f.yaml:2");
  EXPECT_EQ(unit.name(), "unit");
}

TEST(YamlReader, NodesOutliveTheDocument) {
  const Node unit = parse("unit: {lanes: 3}").child("unit");
  EXPECT_EQ(unit.integer("lanes", 1, 4), 3);
}

}  // namespace
}  // namespace santa::config
