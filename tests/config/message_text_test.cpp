// Escaping and spelling suggestions.
#include "santa/config/message_text.hpp"

#include <gtest/gtest.h>

namespace santa::config {
namespace {

TEST(MessageText, EscapesWhatIsNotPrintable) {
  EXPECT_EQ(escaped("a\tb\r\n\x1b\x7f\\"), "a\\tb\\r\\n\\x1b\\x7f\\\\");
  EXPECT_EQ(escaped("\u00e9\u20ac\U0001F600"), "\u00e9\u20ac\U0001F600");
  // Truncated, overlong, surrogate, beyond Unicode, stray continuation, C1 control, line separator.
  EXPECT_EQ(escaped("\xe2\x82"), "\\xe2\\x82");
  EXPECT_EQ(escaped("\xc0\xaf"), "\\xc0\\xaf");
  EXPECT_EQ(escaped("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");
  EXPECT_EQ(escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(escaped("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(escaped("\x80"), "\\x80");
  EXPECT_EQ(escaped("\xc2\x85"), "\\xc2\\x85");
  EXPECT_EQ(escaped("\xe2\x80\xa8"), "\\xe2\\x80\\xa8");
}

TEST(MessageText, QuotesAndCutsByCharacters) {
  EXPECT_EQ(in_quotes(""), "\"\"");
  EXPECT_EQ(in_quotes(std::string(60, 'x')), '"' + std::string(60, 'x') + '"');
  std::string accents;
  for (int i = 0; i < 60; ++i) accents += "\u00e9";
  EXPECT_EQ(in_quotes(accents + "x"), '"' + accents + "...\"");
}

TEST(MessageText, PlainText) {
  EXPECT_TRUE(is_plain_text("caf\u00e9 \\ \""));
  EXPECT_FALSE(is_plain_text("a\n"));
  EXPECT_FALSE(is_plain_text("\xff"));
}

TEST(MessageText, NearestName) {
  EXPECT_EQ(nearest_name("tile_key", {"key_lanes", "tile_keys"}), "tile_keys");
  EXPECT_EQ(nearest_name("tiel_keys", {"key_lanes", "tile_keys"}), "tile_keys");
  EXPECT_EQ(nearest_name("completely", {"key_lanes", "tile_keys"}), "");
  EXPECT_EQ(nearest_name("ab", {"xy"}), "");
  EXPECT_EQ(nearest_name("a", {}), "");
  EXPECT_EQ(nearest_name(std::string(101, 'a'), {std::string(101, 'a')}), "");
}

}  // namespace
}  // namespace santa::config
