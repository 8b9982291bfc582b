#include <algorithm>

#include "santa/vectors/vector.hpp"

namespace santa::vectors {
namespace {

// Calls `visit(at, flat)` for each key of each head: its place in an array by tiles, and its place
// in one by heads.
template <typename Visit>
void for_each_key(const Request& request, const Expectation& expected, Visit visit) {
  const std::uint32_t tile_keys = request.cache->tile_keys;
  for (std::uint32_t g = 0; g < request.group(); ++g) {
    for (std::uint32_t n = 0; n < request.context; ++n) {
      visit(expected.index(request, n / tile_keys, g) + n % tile_keys,
            std::size_t{g} * request.context + n);
    }
  }
}

}  // namespace

Results results_of(const Request& request, const Expectation& expected) {
  const std::size_t keys = std::size_t{request.group()} * request.context;
  Results results;
  results.coefficients = expected.result.query.coefficients;
  results.scores.emplace(keys);
  results.weights.emplace(keys);
  for_each_key(request, expected, [&](std::size_t at, std::size_t flat) {
    (*results.scores)[flat] = expected.accumulators[at];
    (*results.weights)[flat] = expected.weights[at];
  });
  results.tiles = expected.result.tiles;
  for (std::size_t g = 0; g < request.group(); ++g) {
    const attention::HeadStatistics& head = expected.result.heads[g];
    results.heads.push_back(
        {head.exponent, head.mass, expected.offsets.empty() ? 0 : expected.offsets[g]});
  }
  results.rows = expected.result.rows;
  results.output = expected.result.output;
  return results;
}

Expectation with_results(const Request& request, Expectation golden, const Results& recorded) {
  if (recorded.coefficients) golden.result.query.coefficients = *recorded.coefficients;
  for_each_key(request, golden, [&](std::size_t at, std::size_t flat) {
    if (recorded.scores) golden.accumulators[at] = (*recorded.scores)[flat];
    if (recorded.weights) golden.weights[at] = (*recorded.weights)[flat];
  });
  golden.result.tiles = recorded.tiles;
  for (std::size_t g = 0; g < recorded.heads.size(); ++g) {
    golden.result.heads[g].exponent = recorded.heads[g].exponent;
    golden.result.heads[g].mass = recorded.heads[g].mass;
    if (!golden.offsets.empty()) golden.offsets[g] = recorded.heads[g].offset;
  }
  golden.result.rows = recorded.rows;
  golden.result.output = recorded.output;
  return golden;
}

}  // namespace santa::vectors
