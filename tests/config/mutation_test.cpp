// Seeded damage to valid files: each result is refused or valid, and nothing else.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "../fuzz/config_check.hpp"
#include "santa/config/hardware.hpp"
#include "santa/config/model_shape.hpp"

namespace santa::config {
namespace {

using Generator = std::mt19937_64;

std::size_t below(Generator& generator, std::size_t limit) {
  return static_cast<std::size_t>(generator() % limit);
}

// One edit: byte changed, inserted or removed; a line doubled or removed; a snippet inserted; a
// tail cut off.
void mutate(std::string& text, Generator& generator) {
  static const std::vector<std::string> snippets = {": ",
                                                    "\n",
                                                    "  ",
                                                    "- ",
                                                    "[",
                                                    "]",
                                                    "{",
                                                    "}",
                                                    "&a ",
                                                    "*a",
                                                    "!!int ",
                                                    "<<: ",
                                                    "? ",
                                                    "---\n",
                                                    "#",
                                                    "'",
                                                    "\"",
                                                    "|\n",
                                                    "nan",
                                                    "-1",
                                                    "1e9",
                                                    "0.5",
                                                    "99999999999999999999",
                                                    "\t",
                                                    "~",
                                                    "group"};
  if (text.empty()) text = "a: 1\n";
  const std::size_t at = below(generator, text.size());
  const std::size_t line_end = std::min(text.find('\n', at), text.size() - 1) + 1;
  const std::size_t line_begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  switch (below(generator, 7)) {
    case 0:
      text[at] = static_cast<char>(generator());
      break;
    case 1:
      text.insert(at, 1, static_cast<char>(below(generator, 128)));
      break;
    case 2:
      text.erase(at, 1 + below(generator, 4));
      break;
    case 3:
      text.insert(line_end, text.substr(line_begin, line_end - line_begin));
      break;
    case 4:
      text.erase(line_begin, line_end - line_begin);
      break;
    case 5:
      text.insert(at, snippets[below(generator, snippets.size())]);
      break;
    default:
      if (below(generator, 8) == 0) text.resize(at);
      break;
  }
}

TEST(Mutation, DamagedFilesAreRefusedOrValid) {
  const std::vector<std::string> originals = {load_hardware("tiny-test").canonical_text(),
                                              load_model_shape("llama-3.1-8b").canonical_text(),
                                              "unit.tile_keys=64\nmemory.kind=hbm3\n"};
  std::size_t accepted = 0;
  constexpr unsigned kSeeds = 3000;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    Generator generator(seed);
    std::string text = originals[seed % originals.size()];
    const std::size_t edits = 1 + below(generator, 3);
    for (std::size_t i = 0; i < edits; ++i) mutate(text, generator);
    const CheckResult result = check_config_input(text);
    ASSERT_EQ(result.violation, "") << "seed " << seed << ", input:\n" << text;
    accepted += result.accepted;
  }
  // Both outcomes must really occur, or the mutations test nothing.
  EXPECT_GT(accepted, kSeeds / 100);
  EXPECT_LT(accepted, kSeeds * 3);
}

}  // namespace
}  // namespace santa::config
