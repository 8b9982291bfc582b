#include <fmt/format.h>

#include <algorithm>

#include "santa/cosim/generator.hpp"
#include "santa/cosim/integer_data.hpp"
#include "santa/cosim/vector_request.hpp"

namespace santa::cosim {
namespace {

using attention::ScoreScheme;
using attention::ValueScheme;

constexpr std::uint64_t kValueSchemes = attention::kValueSchemeNames.size();
constexpr std::uint64_t kPairs = attention::kScoreSchemeNames.size() * kValueSchemes;
constexpr ScoreScheme kUnitScores[] = {ScoreScheme::kExact, ScoreScheme::kBernoulli,
                                       ScoreScheme::kBernoulliGroup};

// Turns of lengths without a common divisor: every pair of choices comes up.
constexpr std::uint32_t kNarrowDimensions[] = {64, 16, 33, 48, 1, 63, 32, 17, 40, 24, 15};
constexpr std::uint32_t kWideDimensions[] = {256, 128, 64, 192, 33, 8, 255, 17, 1, 129, 96};
constexpr unsigned kSamplesLog2[] = {0, 6, 12, 3, 8, 1, 10, 5, 2, 7, 4, 11, 9};
constexpr double kOctaves[] = {8.0, 0.01, 60.0, 16.0, 200.0, 1.0, 30.0, 5000.0, 4.0};
constexpr std::uint64_t kRealTurn = 5;
constexpr std::uint64_t kLongTurn = 9;

template <typename T, std::size_t kCount>
T turn(const T (&choices)[kCount], std::uint64_t number) {
  return choices[number % kCount];
}

// Context times head dimension, and context times heads, at most.
struct Effort {
  std::uint32_t elements = 0;
  std::uint32_t scores = 0;
};
constexpr Effort kShort = {3072, 768};
constexpr Effort kLong = {12288, 3000};

std::uint32_t diverse_context(const UnitParameters& unit, std::uint32_t most, Random& random) {
  const std::uint32_t tile = unit.tile_keys;
  const std::uint32_t n =
      random.pick({0U, 1U, 2U, 3U, tile - 1, tile, tile + 1, 2 * tile + 1, 3 * tile - 1,
                   random.below(most + 1), random.below(most + 1), most - 1, most, most});
  return std::min(n, most);
}

Recipe diverse_recipe(const UnitParameters& unit, std::uint64_t number, Random& random) {
  const bool wide = unit.max_head_dimension > 64;
  const bool every_pair = number <= kPairs;
  const bool long_one = number % kLongTurn == 0;
  const Effort effort = long_one ? kLong : kShort;
  Recipe recipe;
  recipe.scores = every_pair ? static_cast<ScoreScheme>((number - 1) / kValueSchemes)
                             : turn(kUnitScores, number);
  recipe.values = every_pair ? static_cast<ValueScheme>((number - 1) % kValueSchemes)
                             : ValueScheme::kSystematic;
  recipe.group = 1 + static_cast<std::uint32_t>((number * 3) % unit.group_heads);
  recipe.head_dimension =
      std::min(wide ? turn(kWideDimensions, number) : turn(kNarrowDimensions, number),
               unit.max_head_dimension);
  const std::uint32_t most =
      std::min(effort.elements / recipe.head_dimension, effort.scores / recipe.group);
  recipe.context = long_one ? most : diverse_context(unit, most, random);
  recipe.draws_log2 = random.below(7);
  recipe.samples_log2 = turn(kSamplesLog2, number);
  recipe.keys = static_cast<KeyProfile>(random.below(10));
  recipe.query = static_cast<QueryProfile>(random.below(8));
  recipe.octaves = turn(kOctaves, number);
  return recipe;
}

CosimRequest integer_request(const Recipe& recipe, const UnitParameters& unit, Random& random) {
  CosimRequest request = make_request(recipe, unit.tile_keys, random);
  const bool systematic = recipe.values == ValueScheme::kSystematic && recipe.context > 0;
  for (std::uint32_t g = 0; g < recipe.group && systematic; ++g) {
    if (!random.chance(0.15)) continue;
    steer_offset(request, g,
                 random.pick({OffsetCorner::kFirst, OffsetCorner::kLast, OffsetCorner::kRejected}));
  }
  // Any k will do for top-k.
  if (recipe.values == ValueScheme::kTopK && random.chance(0.5)) {
    request.options.samples = 1 + random.below(request.options.samples);
  }
  return request;
}

}  // namespace

CosimRequest diverse_request(const UnitParameters& unit, std::uint64_t number) {
  // Units of other shapes draw other numbers.
  Random random(~number ^ (std::uint64_t{unit.group_heads} << 32) ^
                (std::uint64_t{unit.tile_keys} << 48));
  const Recipe recipe = diverse_recipe(unit, number, random);
  const bool real = number % kRealTurn == 3 && recipe.context > 0;
  CosimRequest request;
  if (real) {
    attention::DecodeOptions options;
    options.scores = recipe.scores;
    options.values = recipe.values;
    options.bernoulli_draws = 1U << recipe.draws_log2;
    options.samples = 1U << recipe.samples_log2;
    request = gaussian_request({recipe.context, recipe.head_dimension, recipe.group}, options,
                               unit.tile_keys, number);
  } else {
    request = integer_request(recipe, unit, random);
  }
  request.workload =
      fmt::format("{}, {} scores, {} values", real ? "gaussian" : "integers",
                  attention::to_string(recipe.scores), attention::to_string(recipe.values));
  return request;
}

}  // namespace santa::cosim
