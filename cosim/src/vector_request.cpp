#include "santa/cosim/vector_request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "santa/cosim/generator.hpp"
#include "santa/cosim/integer_data.hpp"

namespace santa::cosim {
namespace {

using attention::ScoreScheme;
using attention::ValueScheme;

// Context times head dimension, and context times heads, at most.
constexpr std::uint32_t kEffort = 768;
constexpr std::uint32_t kScores = 768;

// Turns of lengths without a common divisor: every pair of choices comes up.
constexpr ScoreScheme kSchemes[] = {ScoreScheme::kExact, ScoreScheme::kBernoulli,
                                    ScoreScheme::kBernoulliGroup};
constexpr std::uint32_t kDimensions[] = {16, 64, 24, 33, 48, 17, 1, 32, 15, 63, 40};
constexpr std::uint64_t kForeignTurn = 7;
constexpr std::uint64_t kForeignSchemes = 5;

template <typename T, std::size_t kCount>
T turn(const T (&choices)[kCount], std::uint64_t number) {
  return choices[number % kCount];
}

std::uint32_t vector_context(const UnitParameters& unit, std::uint32_t most, Random& random) {
  const std::uint32_t tile = unit.tile_keys;
  const std::uint32_t n =
      random.pick({0U, 1U, 2U, 3U, tile - 1, tile, tile + 1, 2 * tile, 2 * tile + 1, 3 * tile - 1,
                   random.below(most + 1), random.below(most + 1), most, most});
  return std::min(n, most);
}

// What only the models know.
void make_foreign(CosimRequest& request, std::uint64_t kind) {
  attention::QueryOperands& query = request.request.query;
  switch (kind % kForeignSchemes) {
    case 0:
      request.options.scores = ScoreScheme::kBernoulliIid;
      query.scheme = ScoreScheme::kBernoulliIid;
      for (std::uint32_t& magnitude : query.magnitude) {
        magnitude = magnitude >> query.draws_log2 << query.draws_log2;
      }
      break;
    case 1:
      request.options.values = ValueScheme::kStratified;
      break;
    case 2:
      request.options.values = ValueScheme::kSanta;
      break;
    case 3:
      request.options.values = ValueScheme::kTopK;
      break;
    default:
      request.options.values = ValueScheme::kDense;
      break;
  }
}

}  // namespace

CosimRequest vector_request(const UnitParameters& unit, std::uint64_t number) {
  // Units of other shapes draw other numbers and take turns from another start.
  Random random(number + (std::uint64_t{unit.group_heads} << 32) +
                (std::uint64_t{unit.tile_keys} << 48));
  const bool foreign = number % kForeignTurn == 0;
  const std::uint64_t kind = number / kForeignTurn + unit.group_heads / 8;
  Recipe recipe;
  recipe.scores = turn(kSchemes, number);
  // Independent draws are made of Bernoulli operands; top-k and dense units take exact ones.
  if (foreign) {
    recipe.scores = kind % kForeignSchemes == 0 ? ScoreScheme::kBernoulli : ScoreScheme::kExact;
  }
  recipe.group = 1 + static_cast<std::uint32_t>(number % unit.group_heads);
  recipe.head_dimension = std::min(turn(kDimensions, number), unit.max_head_dimension);
  recipe.context = vector_context(
      unit, std::min(kEffort / recipe.head_dimension, kScores / recipe.group), random);
  recipe.draws_log2 = random.below(7);
  recipe.samples_log2 = random.chance(0.2) ? random.below(13) : random.below(8);
  recipe.keys = static_cast<KeyProfile>(random.below(10));
  recipe.query = static_cast<QueryProfile>(random.below(8));
  recipe.octaves = random.pick({0.01, 1.0, 4.0, 8.0, 16.0, 30.0, 60.0, 200.0, 5000.0});
  recipe.workload = fmt::format("integers, {}", attention::to_string(recipe.scores));
  if (number % 4 == 3 && !foreign && recipe.context > 0) {
    attention::DecodeOptions options;
    options.scores = recipe.scores;
    options.bernoulli_draws = 1U << recipe.draws_log2;
    options.samples = 1U << recipe.samples_log2;
    return gaussian_request({recipe.context, recipe.head_dimension, recipe.group}, options,
                            unit.tile_keys, number);
  }
  CosimRequest request = make_request(recipe, unit.tile_keys, random);
  if (foreign) {
    make_foreign(request, kind);
    request.workload =
        fmt::format("integers, {} scores, {} values", attention::to_string(request.options.scores),
                    attention::to_string(request.options.values));
    return request;
  }
  for (std::uint32_t g = 0; g < recipe.group && recipe.context > 0; ++g) {
    if (!random.chance(0.15)) continue;
    steer_offset(request, g,
                 random.pick({OffsetCorner::kFirst, OffsetCorner::kLast, OffsetCorner::kRejected}));
  }
  return request;
}

}  // namespace santa::cosim
