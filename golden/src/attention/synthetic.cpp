#include "santa/attention/synthetic.hpp"

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>

#include "santa/arithmetic/lfsr.hpp"

namespace santa::attention {
namespace {

std::uint64_t layer_seed(std::uint64_t seed, std::uint64_t layer) {
  return arithmetic::mix64(arithmetic::mix64(seed) + layer + 1);
}

}  // namespace

LayerTensors make_gaussian(const LayerShape& shape, std::uint64_t seed, std::uint64_t layer) {
  LayerTensors tensors;
  tensors.shape = shape;
  tensors.softmax_scale = 1.0 / std::sqrt(static_cast<double>(shape.head_dimension));
  // Boost's distribution is the same on every platform; the standard library's is not.
  boost::random::mt19937_64 engine(layer_seed(seed, layer));
  boost::random::normal_distribution<float> normal;
  const auto fill = [&](std::vector<float>& out, std::size_t count) {
    out.resize(count);
    for (float& x : out) x = normal(engine);
  };
  const std::size_t cache_elements =
      static_cast<std::size_t>(shape.kv_heads) * shape.context * shape.head_dimension;
  fill(tensors.query, static_cast<std::size_t>(shape.query_heads) * shape.head_dimension);
  fill(tensors.key, cache_elements);
  fill(tensors.value, cache_elements);
  return tensors;
}

LayerTensors make_needle(const LayerShape& shape, std::uint64_t seed, std::uint64_t layer) {
  LayerTensors tensors = make_gaussian(shape, seed, layer);
  if (shape.context == 0) return tensors;
  const std::uint32_t d = shape.head_dimension;
  const std::uint64_t place = arithmetic::mix64(layer_seed(seed, layer)) % shape.context;
  // Scores are about N(0, 1), so the others' exponentials sum to about n e^(1/2); a logit of
  // ln(n) + 1/2 + ln(19) leaves the needle 95 % of the mass.
  const double logit = std::log(static_cast<double>(shape.context)) + 0.5 + std::log(19.0);
  for (std::uint32_t kv = 0; kv < shape.kv_heads; ++kv) {
    // Along the sum of the group's normalised queries: nearly orthogonal, each sees the same logit.
    std::vector<double> direction(d, 0.0);
    for (std::uint32_t g = 0; g < shape.group(); ++g) {
      const float* q = tensors.query.data() + static_cast<std::size_t>(kv * shape.group() + g) * d;
      double norm = 0.0;
      for (std::uint32_t i = 0; i < d; ++i)
        norm += static_cast<double>(q[i]) * static_cast<double>(q[i]);
      for (std::uint32_t i = 0; i < d; ++i) direction[i] += static_cast<double>(q[i]) / norm;
    }
    float* key = tensors.key.data() + (static_cast<std::size_t>(kv) * shape.context + place) * d;
    for (std::uint32_t i = 0; i < d; ++i) {
      key[i] = static_cast<float>(direction[i] * logit / tensors.softmax_scale);
    }
  }
  return tensors;
}

}  // namespace santa::attention
