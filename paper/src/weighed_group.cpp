#include "santa/paper/weighed_group.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "santa/arithmetic/sampler.hpp"

namespace santa::paper {

using namespace attention;

WeighedGroup::WeighedGroup(const Head& head, const DecodeOptions& options, std::uint64_t seed)
    : head_(head), counts_(head.cache.tile_keys) {
  result_ =
      decode(head.cache, head.cache.context, head.request(options, seed), options, workspace_);
}

std::size_t WeighedGroup::head_features(std::uint32_t g) const {
  const std::uint32_t d = head_.cache.head_dimension;
  const auto first = result_.query.coefficients.begin() + static_cast<std::ptrdiff_t>(g * d);
  return d - static_cast<std::size_t>(std::count(first, first + static_cast<std::ptrdiff_t>(d), 0));
}

std::vector<double> WeighedGroup::probabilities(std::uint32_t g) const {
  const std::uint32_t tile_keys = head_.cache.tile_keys;
  const std::size_t padded = static_cast<std::size_t>(head_.cache.tiles()) * tile_keys;
  std::vector<double> p;
  for (std::size_t n = 0; n < head_.cache.context; ++n) {
    const int exponent = result_.tiles[n / tile_keys * group() + g].exponent;
    p.push_back(std::ldexp(static_cast<double>(workspace_.weights[g * padded + n]),
                           exponent - result_.heads[g].exponent));
  }
  const double total = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& x : p) x /= total;
  return p;
}

const std::vector<DrawnKey>& WeighedGroup::draw(std::uint32_t g, ValueScheme scheme,
                                                unsigned samples_log2, std::uint64_t stream) {
  const std::uint32_t tile_keys = head_.cache.tile_keys;
  const std::uint16_t* weights =
      workspace_.weights.data() + static_cast<std::size_t>(g) * head_.cache.tiles() * tile_keys;
  std::uint64_t words = 0;
  const auto thresholds = make_thresholds(scheme, result_.heads[g], samples_log2, stream, &words);
  drawn_.clear();
  std::uint32_t cursor = 0;
  for (std::uint32_t t = 0; cursor < thresholds.size(); ++t) {
    const std::uint32_t taken = sample_tile(
        result_.heads[g], t, weights + static_cast<std::size_t>(t) * tile_keys,
        head_.cache.tile_valid_keys(t), thresholds, cursor, samples_log2, counts_.data());
    cursor += taken;
    for (std::uint32_t k = 0; taken > 0 && k < tile_keys; ++k) {
      if (counts_[k] == 0) continue;
      drawn_.push_back({t * tile_keys + k, counts_[k]});
      counts_[k] = 0;
    }
  }
  return drawn_;
}

void WeighedGroup::aggregate(const std::vector<DrawnKey>& drawn, unsigned samples_log2,
                             std::vector<double>& output) const {
  const std::uint32_t d = head_.cache.head_dimension;
  std::vector<std::int32_t> sums(d, 0);
  for (const DrawnKey& row : drawn) {
    const std::int8_t* value = head_.cache.value_row(row.key);
    const auto count = static_cast<std::int32_t>(row.count);
    for (std::uint32_t i = 0; i < d; ++i) sums[i] += count * value[i];
  }
  output.resize(d);
  for (std::uint32_t i = 0; i < d; ++i) {
    output[i] = std::ldexp(
        static_cast<double>(arithmetic::normalize(sums[i], samples_log2)),
        head_.cache.value_exponent[i] - static_cast<int>(arithmetic::kOutputFractionBits));
  }
}

}  // namespace santa::paper
