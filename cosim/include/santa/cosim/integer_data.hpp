// Requests made of integers directly, so that every corner of the unit's ranges is within reach.
#pragma once

#include <cstdint>
#include <string>

#include "santa/attention/scheme.hpp"
#include "santa/cosim/random.hpp"
#include "santa/cosim/request.hpp"

namespace santa::cosim {

enum class KeyProfile : std::uint8_t {
  kUniform,   // all int8
  kNarrow,    // -3..3
  kExtreme,   // -128, -127 or 127
  kLowest,    // -128
  kConstant,  // one row again and again: equal scores
  kSparse,    // mostly 0
  kApart,     // each tile on a level of its own: far apart exponents
  kRising,    // the last key has the largest score
  kFalling,   // the first key has the largest score
  kLastTile,  // every tile but the last far below
};

enum class QueryProfile : std::uint8_t {
  kUniform,
  kSparse,   // mostly 0: features are skipped
  kTiny,     // below 1
  kLargest,  // the largest operand, positive
  kLowest,   // the largest operand, negative
  kTies,     // halves
  kOneHot,   // one feature
  kZero,
  kNearTies,  // halves, the next below, and any power of two above
};

struct Recipe {
  std::string workload;
  std::uint32_t context = 0;
  std::uint32_t head_dimension = 1;
  std::uint32_t group = 1;
  attention::ScoreScheme scores = attention::ScoreScheme::kExact;
  attention::ValueScheme values = attention::ValueScheme::kSystematic;
  unsigned draws_log2 = 3;  // B, Bernoulli schemes
  unsigned samples_log2 = 6;
  KeyProfile keys = KeyProfile::kUniform;
  QueryProfile query = QueryProfile::kUniform;
  double octaves = 8.0;  // largest score that the operands and any key could reach
  bool zero_scale = false;
};

CosimRequest make_request(const Recipe& recipe, std::uint32_t tile_keys, Random& random);

// Puts each operand whose draw is random next to the border of its lane: the largest fraction, or
// ratio's probability, that the lane does not round up, or the next. Each bit of both decides then.
void steer_operands(CosimRequest& request, Random& random);

// Where a head's offset U falls.
enum class OffsetCorner : std::uint8_t { kFirst, kLast, kRejected };
// Sets the head's stream so that U is 0 or Z - 1, or so that its first word is rejected where Z is
// no power of two. Needs keys.
void steer_offset(CosimRequest& request, std::uint32_t head, OffsetCorner corner);
// Sets the head's stream so that one of its thresholds is the first that falls on `key`, or, with
// `below`, the last that falls before it: one step of 1 / S of the mass's unit apart. On a key that
// nothing can draw, or the first that something can, it falls elsewhere.
void steer_to_border(CosimRequest& request, std::uint32_t head, std::uint32_t key, bool below);

}  // namespace santa::cosim
