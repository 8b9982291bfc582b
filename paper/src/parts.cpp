#include <cmath>

#include "santa/paper/part.hpp"

namespace santa::paper {

Estimate Row::difference() const {
  return {ours.value - paper->value, std::hypot(ours.half, paper->half)};
}

Verdict verdict(const Row& row) {
  if (!row.paper || !row.paper->same_experiment) return Verdict::kNone;
  const Estimate difference = row.difference();
  return std::abs(difference.value) <= difference.half ? Verdict::kAgrees : Verdict::kDiffers;
}

const std::vector<PartMaker>& part_makers() {
  static const std::vector<PartMaker> makers = {
      {"figure4", "time of a decode step on a GPU, from recorded results", make_figure4},
      {"table5", "key features read, BitNet and Llama (also table 6)", make_key_access},
      {"table7", "keys and values read with both samplers", make_value_access},
      {"figure6", "error of Bernoulli scores against B", make_figure6},
      {"figure7", "variance of the samplers against S", make_figure7},
      {"table8", "operations of the value stage, one query", make_table8},
      {"table9", "value rows that a causal prefill reads", make_table9},
      {"table10", "operations of a prefill", make_table10},
      {"table17", "distinct keys of S draws", make_table17},
  };
  return makers;
}

}  // namespace santa::paper
