// The golden model's scores and weights of one group, drawn from many times without scoring again.
#pragma once

#include <cstdint>
#include <vector>

#include "santa/attention/head.hpp"

namespace santa::paper {

struct DrawnKey {
  std::uint32_t key = 0;
  std::uint32_t count = 0;
};

class WeighedGroup {
 public:
  // Scores by `options.scores`, random ones from `seed`. `head` outlives the object.
  WeighedGroup(const attention::Head& head, const attention::DecodeOptions& options,
               std::uint64_t seed);

  std::uint32_t group() const { return static_cast<std::uint32_t>(result_.heads.size()); }
  // Features that some head of the group needs, and those that one head needs.
  std::size_t group_features() const { return result_.query.needed_features.size(); }
  std::size_t head_features(std::uint32_t g) const;

  // Probabilities that the integer weights of query head `g` state.
  std::vector<double> probabilities(std::uint32_t g) const;

  // Keys that head `g` draws, ascending, with counts that add up to 2^samples_log2. The same as
  // the golden decode draws for this stream. Valid until the next call.
  const std::vector<DrawnKey>& draw(std::uint32_t g, attention::ValueScheme scheme,
                                    unsigned samples_log2, std::uint64_t stream);

  // The golden output of what draw() returned, in real units, [head_dimension].
  void aggregate(const std::vector<DrawnKey>& drawn, unsigned samples_log2,
                 std::vector<double>& output) const;

 private:
  const attention::Head& head_;
  attention::DecodeWorkspace workspace_;
  attention::DecodeResult result_;
  std::vector<std::uint16_t> counts_;
  std::vector<DrawnKey> drawn_;
};

}  // namespace santa::paper
