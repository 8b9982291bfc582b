#include "santa/vectors/request.hpp"

#include <algorithm>
#include <cmath>

#include "santa/attention/blocks.hpp"

namespace santa::vectors {

unsigned Request::samples_log2() const {
  return static_cast<unsigned>(std::ilogb(options.samples));
}

Expectation expect(const Request& request) {
  const attention::KvHead& cache = *request.cache;
  const std::uint32_t group = request.group();
  Expectation expected;
  attention::DecodeWorkspace workspace;
  expected.result =
      attention::decode(cache, request.context, request.request, request.options, workspace);
  const std::size_t tile_scores = static_cast<std::size_t>(group) * cache.tile_keys;
  expected.accumulators.resize(request.tiles() * tile_scores);
  expected.weights.resize(expected.accumulators.size());
  const std::size_t padded = static_cast<std::size_t>(request.tiles()) * cache.tile_keys;
  for (std::uint32_t t = 0; t < request.tiles(); ++t) {
    attention::score_tile_portable(expected.result.query, cache.tile(t), cache.tile_keys,
                                   expected.accumulators.data() + t * tile_scores);
    for (std::uint32_t g = 0; g < group; ++g) {
      const std::uint16_t* weights =
          workspace.weights.data() + g * padded + static_cast<std::size_t>(t) * cache.tile_keys;
      std::copy(weights, weights + cache.tile_keys,
                expected.weights.data() + expected.index(request, t, g));
    }
  }
  const bool one_offset = request.options.values == attention::ValueScheme::kSystematic;
  for (std::uint32_t g = 0; g < group && one_offset && request.context > 0; ++g) {
    expected.offsets.push_back(attention::make_thresholds(attention::ValueScheme::kSystematic,
                                                          expected.result.heads[g],
                                                          request.samples_log2(),
                                                          request.request.value_streams[g], nullptr)
                                   .front());
  }
  return expected;
}

}  // namespace santa::vectors
