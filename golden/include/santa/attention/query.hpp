// The query side: operands that the host prepares, coefficients that the query encoder makes.
#pragma once

#include <cstdint>
#include <vector>

#include "santa/arithmetic/coefficient.hpp"
#include "santa/arithmetic/lfsr.hpp"
#include "santa/arithmetic/weight.hpp"
#include "santa/attention/scheme.hpp"

namespace santa::attention {

// What the request descriptor carries for one group of query heads: fixed-point magnitudes and
// signs, no coefficient yet. Index [head][feature] is head * head_dimension + feature.
struct QueryOperands {
  std::uint32_t group = 0;
  std::uint32_t head_dimension = 0;
  ScoreScheme scheme = ScoreScheme::kExact;
  unsigned draws_log2 = 0;                     // B = 2^draws_log2, Bernoulli schemes only
  std::vector<std::uint32_t> magnitude;        // [head][feature] Q8.16; group scheme: [feature]
  std::vector<std::uint8_t> negative;          // [head][feature] sign of the query
  std::vector<arithmetic::GroupRatio> ratio;   // [head][feature], group scheme only
  std::vector<arithmetic::ScaleFactor> scale;  // [head]; one shared entry in the group scheme
};

// Coefficients as the gather consumes them.
struct EncodedQuery {
  std::uint32_t group = 0;
  std::uint32_t head_dimension = 0;
  std::vector<std::int16_t> coefficients;      // [head][feature]
  std::vector<std::uint32_t> needed_features;  // ascending; a feature that is 0 for all is absent
  std::vector<arithmetic::ScaleFactor> scale;  // [head]
  std::uint64_t lfsr_words = 0;                // random words the encoder drew
};

// Host part of section 2 of docs/numerics.md: folds the key scales and the softmax scale into the
// query and picks, per head, the finest unit whose scale factor kappa is a shift and two additions.
//   queries        [group][head_dimension], finite
//   key_scale      [head_dimension]
//   softmax_scale  factor of q.k before the softmax, > 0
//   draws          B, a power of two 1..64; ignored for exact scores
// Throws InputError when B is not allowed or a score could exceed the unit's +-2^22 (log2 domain).
QueryOperands prepare_query(const float* queries, std::uint32_t group, std::uint32_t head_dimension,
                            const double* key_scale, double softmax_scale, ScoreScheme scheme,
                            std::uint32_t draws);

// Hardware part: turns operands into coefficients. `stream` is the state of the request's score
// stream (not used for exact scores). Draw order: feature by feature; in each the shared draw of
// the group scheme first, then head by head.
EncodedQuery encode_query(const QueryOperands& operands, std::uint64_t stream);

// Smallest factor of the form 2^-e (1 +- 2^-a +- 2^-b) that is at least `kappa` and at least
// 2^-kMaxScaleExponent, the finest unit there is. Neighbouring factors lie within 4.8 %.
// Throws InputError when kappa is above the largest one.
arithmetic::ScaleFactor choose_scale(double kappa);

// Real value of a scale factor.
double scale_value(arithmetic::ScaleFactor scale);

}  // namespace santa::attention
