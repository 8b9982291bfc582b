#include "santa/cosim/generator.hpp"

#include <algorithm>

#include "santa/attention/synthetic.hpp"
#include "santa/cosim/integer_data.hpp"

namespace santa::cosim {
namespace {

using attention::ScoreScheme;

std::uint32_t random_dimension(const UnitParameters& unit, Random& random) {
  const std::uint32_t port = unit.port_bytes;
  const std::uint32_t most = unit.max_head_dimension;
  const std::uint32_t d =
      random.pick({1U, 2U, 3U, port - 1, port, port + 1, 2 * port - 1, most / 2, most - 1, most,
                   1 + random.below(most), 1 + random.below(most)});
  return std::clamp(d, 1U, most);
}

std::uint32_t random_context(const UnitParameters& unit, std::uint32_t most, Random& random) {
  const std::uint32_t tile = unit.tile_keys;
  const std::uint32_t tiles = 1 + random.below(std::clamp(most / tile, 1U, 8U));
  const std::uint32_t n = random.pick({0U,
                                       1U,
                                       2U,
                                       3U,
                                       unit.weight_lanes - 1,
                                       unit.weight_lanes + 1,
                                       unit.scan_lanes - 1,
                                       unit.scan_lanes + 1,
                                       tile - 1,
                                       tile,
                                       tile + 1,
                                       tiles * tile - 1,
                                       tiles * tile,
                                       tiles * tile + 1,
                                       255U,
                                       256U,
                                       257U,
                                       random.below(tile),
                                       random.below(most + 1),
                                       random.below(most + 1)});
  return std::min(n, most);
}

// Past the stash, where that is within the effort.
std::uint32_t spilling_context(const UnitParameters& unit, std::uint32_t group, Random& random) {
  const auto fitting = static_cast<std::uint32_t>(stash_tiles(unit, group)) * unit.tile_keys;
  return fitting + random.below(3 * unit.tile_keys) + 1;
}

Recipe random_recipe(const UnitParameters& unit, std::uint32_t effort, Random& random) {
  Recipe recipe;
  recipe.scores =
      random.pick({ScoreScheme::kExact, ScoreScheme::kBernoulli, ScoreScheme::kBernoulliGroup});
  recipe.workload = "random, " + std::string(attention::to_string(recipe.scores));
  recipe.group = 1 + random.below(unit.group_heads);
  recipe.head_dimension = random_dimension(unit, random);
  recipe.context =
      random_context(unit, std::max(effort / recipe.head_dimension, unit.tile_keys), random);
  if (random.chance(0.15)) {
    const std::uint32_t context = spilling_context(unit, recipe.group, random);
    const std::uint32_t d = std::min(recipe.head_dimension, std::max(effort / context, 1U));
    if (std::uint64_t{context} * d <= effort) {
      recipe.context = context;
      recipe.head_dimension = d;
    }
  }
  recipe.draws_log2 = random.below(7);
  recipe.samples_log2 = random.chance(0.5) ? random.below(13) : random.below(9);
  recipe.keys = static_cast<KeyProfile>(random.below(10));
  recipe.query = static_cast<QueryProfile>(random.below(8));
  recipe.octaves = random.pick({0.01, 1.0, 4.0, 8.0, 16.0, 30.0, 60.0, 200.0, 5000.0, 4000000.0});
  recipe.zero_scale = random.chance(0.02);
  return recipe;
}

}  // namespace

CosimRequest random_request(const UnitParameters& unit, std::uint32_t effort, Random& random) {
  const Recipe recipe = random_recipe(unit, effort, random);
  CosimRequest request = make_request(recipe, unit.tile_keys, random);
  for (std::uint32_t g = 0; g < recipe.group && recipe.context > 0; ++g) {
    if (!random.chance(0.15)) continue;
    steer_offset(request, g,
                 random.pick({OffsetCorner::kFirst, OffsetCorner::kLast, OffsetCorner::kRejected}));
  }
  return request;
}

CosimRequest gaussian_request(const RealShape& shape, const attention::DecodeOptions& options,
                              std::uint32_t tile_keys, std::uint64_t seed) {
  using arithmetic::StreamPurpose;
  attention::LayerShape layer;
  layer.query_heads = shape.group;
  layer.kv_heads = 1;
  layer.head_dimension = shape.head_dimension;
  layer.context = shape.context;
  const attention::LayerTensors tensors = attention::make_gaussian(layer, seed, 0);
  CosimRequest request;
  request.workload = "gaussian, " + std::string(attention::to_string(options.scores));
  request.context = shape.context;
  request.options = options;
  request.cache = std::make_shared<attention::KvHead>(attention::quantize_kv_head(
      tensors.key.data(), tensors.value.data(), shape.context, shape.head_dimension, tile_keys));
  request.request.query = attention::prepare_query(
      tensors.query.data(), shape.group, shape.head_dimension, request.cache->key_scale.data(),
      tensors.softmax_scale, options.scores, options.bernoulli_draws);
  request.request.score_stream =
      arithmetic::derive_stream(seed, {0, 0, 0, 0, StreamPurpose::kScores});
  for (std::uint32_t g = 0; g < shape.group; ++g) {
    request.request.value_streams.push_back(
        arithmetic::derive_stream(seed, {0, 0, g, 0, StreamPurpose::kValues}));
  }
  return request;
}

}  // namespace santa::cosim
