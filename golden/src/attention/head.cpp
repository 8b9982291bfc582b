#include "santa/attention/head.hpp"

#include <cmath>
#include <utility>

#include "santa/arithmetic/lfsr.hpp"

namespace santa::attention {

void set_streams(DecodeRequest& request, const StreamPlace& place) {
  using arithmetic::derive_stream;
  using arithmetic::StreamPurpose;
  request.score_stream = derive_stream(
      place.seed, {place.request, place.layer, place.kv_head, place.step, StreamPurpose::kScores});
  request.value_streams.clear();
  for (std::uint64_t g = 0; g < request.query.group; ++g) {
    request.value_streams.push_back(derive_stream(
        place.seed, {place.request, place.layer, place.kv_head * request.query.group + g,
                     place.step, StreamPurpose::kValues}));
  }
}

Head::Head(LayerTensors layer, std::uint32_t tile_keys)
    : tensors(std::move(layer)),
      cache(quantize_kv_head(tensors.key.data(), tensors.value.data(), tensors.shape.context,
                             tensors.shape.head_dimension, tile_keys)) {}

QueryOperands Head::operands(ScoreScheme scheme, std::uint32_t draws) const {
  return prepare_query(tensors.query.data(), tensors.shape.query_heads,
                       tensors.shape.head_dimension, cache.key_scale.data(), tensors.softmax_scale,
                       scheme, draws);
}

DecodeRequest Head::request(const DecodeOptions& options, std::uint64_t seed) const {
  DecodeRequest result;
  result.query = operands(options.scores, options.bernoulli_draws);
  StreamPlace place;
  place.seed = seed;
  set_streams(result, place);
  return result;
}

std::vector<float> Head::dequantized_keys() const {
  const std::uint32_t d = cache.head_dimension;
  std::vector<float> keys(static_cast<std::size_t>(cache.context) * d);
  for (std::uint32_t n = 0; n < cache.context; ++n) {
    for (std::uint32_t i = 0; i < d; ++i) {
      const std::int8_t key = cache.tile(
          n / cache.tile_keys)[static_cast<std::size_t>(i) * cache.tile_keys + n % cache.tile_keys];
      keys[static_cast<std::size_t>(n) * d + i] = static_cast<float>(key * cache.key_scale[i]);
    }
  }
  return keys;
}

std::vector<float> Head::dequantized_values() const {
  const std::uint32_t d = cache.head_dimension;
  std::vector<float> values(cache.values.size());
  for (std::size_t e = 0; e < values.size(); ++e) {
    values[e] = std::ldexp(static_cast<float>(cache.values[e]), cache.value_exponent[e % d]);
  }
  return values;
}

}  // namespace santa::attention
