// Inputs that have broken other designs, and the ends of every range.
#include <algorithm>
#include <limits>
#include <set>

#include "santa/cosim/generator.hpp"
#include "santa/cosim/integer_data.hpp"

namespace santa::cosim {
namespace {

using attention::ScoreScheme;

constexpr std::uint64_t kAllOnes = std::numeric_limits<std::uint64_t>::max();

class Directed {
 public:
  Directed(const UnitParameters& unit, std::uint32_t most_context)
      : unit_(unit), most_context_(most_context), random_(0x5A17A) {}

  std::vector<CosimRequest> take() { return std::move(requests_); }
  void equal_scores();
  void extreme_scores();
  void empty_tiles();
  void tile_distances();
  void streams();
  void budgets();
  void offsets();
  void borders();
  void many_samples();
  void shapes();
  void normaliser();
  void scales();
  void spills();
  void queries();
  void random_lanes();
  void largest_thresholds();

 private:
  Recipe recipe(const std::string& workload, std::uint32_t context) const {
    Recipe result;
    result.workload = workload;
    result.context = context;
    result.group = unit_.group_heads;
    result.head_dimension = std::min(unit_.max_head_dimension, 8U);
    return result;
  }
  CosimRequest& add(const Recipe& recipe) {
    requests_.push_back(make_request(recipe, unit_.tile_keys, random_));
    return requests_.back();
  }

  // A level of scores for each tile, in octaves; of a request with one feature and exact scores.
  void set_levels(CosimRequest& request, const std::vector<int>& levels) const;

  UnitParameters unit_;
  std::uint32_t most_context_;
  Random random_;
  std::vector<CosimRequest> requests_;
};

void Directed::set_levels(CosimRequest& request, const std::vector<int>& levels) const {
  auto cache = std::make_shared<attention::KvHead>(*request.cache);
  for (std::size_t i = 0; i < cache->keys.size(); ++i) {
    cache->keys[i] = static_cast<std::int8_t>(levels[i / unit_.tile_keys]);
  }
  request.cache = cache;
  attention::QueryOperands& query = request.request.query;
  query.magnitude.assign(request.group(), 1U << arithmetic::kOperandFractionBits);
  query.negative.assign(request.group(), 0);
  query.scale.assign(request.group(), {0, 0, 1, 0, 1});
}

void Directed::equal_scores() {
  for (const std::uint32_t n : {1U, 2U, 255U, 256U, 257U, 2047U, 2048U, 32768U}) {
    if (n > most_context_) continue;
    Recipe r = recipe("equal scores", n);
    r.keys = KeyProfile::kConstant;
    r.head_dimension = 2;
    r.samples_log2 = n == 257 ? 12 : 8;
    add(r);
  }
}

void Directed::extreme_scores() {
  for (const QueryProfile query : {QueryProfile::kLargest, QueryProfile::kLowest}) {
    for (const double octaves : {10.0, 4000000.0}) {
      Recipe r = recipe(
          query == QueryProfile::kLargest ? "all scores most negative" : "all scores most positive",
          unit_.tile_keys + 3);
      r.keys = KeyProfile::kLowest;
      r.query = query;
      r.octaves = octaves;
      r.head_dimension = unit_.max_head_dimension;
      add(r);
    }
    for (const ScoreScheme scheme : {ScoreScheme::kBernoulli, ScoreScheme::kBernoulliGroup}) {
      Recipe r = recipe("keys all -128, Bernoulli", unit_.tile_keys - 1);
      r.keys = KeyProfile::kLowest;
      r.query = query;
      r.scores = scheme;
      r.draws_log2 = 6;
      add(r);
    }
  }
  Recipe r = recipe("no feature needed", 2 * unit_.tile_keys + 1);
  r.query = QueryProfile::kZero;
  add(r);
}

void Directed::empty_tiles() {
  Recipe r = recipe("tiles below the last", 3 * unit_.tile_keys - 2);
  r.keys = KeyProfile::kLastTile;
  r.group = 1;
  for (const double octaves : {24.0, 72.0, 100.0, 140.0, 3000.0}) {
    r.octaves = octaves;
    add(r);
  }
  r = recipe("last tiles empty of mass", 3 * unit_.tile_keys - 2);
  r.keys = KeyProfile::kFalling;
  r.octaves = 3000.0;
  add(r);
  r.workload = "tiles far apart";
  r.keys = KeyProfile::kApart;
  r.context = 6 * unit_.tile_keys;
  r.samples_log2 = 12;
  for (const double octaves : {8.0, 20.0, 40.0}) {
    r.octaves = octaves;
    add(r);
  }
}

// Tiles at exact distances, on both sides of every step of the hardware: nothing is lost up to 8,
// no mass is left from 34 on, and 63 is the largest distance that is told from others.
void Directed::tile_distances() {
  constexpr int kTop = 100;  // key of the last tile; one octave a step
  const std::vector<int> distances = {200, 128, 127, 64, 63, 62, 34, 33, 17, 9, 8, 7, 1, 0};
  Recipe r = recipe("exact tile distances",
                    static_cast<std::uint32_t>(distances.size()) * unit_.tile_keys);
  r.group = 1;
  r.head_dimension = 1;
  r.samples_log2 = 12;
  std::vector<int> levels;
  for (const int distance : distances) levels.push_back(kTop - distance);
  set_levels(add(r), levels);
}

void Directed::streams() {
  for (const std::uint64_t state : {std::uint64_t{1}, kAllOnes}) {
    for (const ScoreScheme scheme : {ScoreScheme::kBernoulli, ScoreScheme::kBernoulliGroup}) {
      Recipe r = recipe(state == 1 ? "stream state 1" : "stream state all ones", 40);
      r.scores = scheme;
      r.head_dimension = unit_.max_head_dimension;
      CosimRequest& request = add(r);
      request.request.score_stream = state;
      std::fill(request.request.value_streams.begin(), request.request.value_streams.end(), state);
    }
  }
}

void Directed::budgets() {
  const std::uint32_t tile = unit_.tile_keys;
  for (const std::uint32_t samples : {1U, tile / 2, tile, 2 * tile, 4096U}) {
    for (const std::uint32_t n : {1U, std::max(unit_.scan_lanes, 2U) - 1, tile + 1}) {
      Recipe r = recipe("sample budgets", n);
      r.samples_log2 = 0;
      while ((1U << r.samples_log2) < std::min(samples, 4096U)) ++r.samples_log2;
      r.octaves = 4.0;
      add(r);
    }
  }
}

void Directed::offsets() {
  for (const OffsetCorner corner :
       {OffsetCorner::kFirst, OffsetCorner::kLast, OffsetCorner::kRejected}) {
    for (const std::uint32_t n : {1U, unit_.tile_keys, 2 * unit_.tile_keys + 5}) {
      Recipe r = recipe("offset U at its ends", n);
      r.octaves = 20.0;
      CosimRequest& request = add(r);
      for (std::uint32_t g = 0; g < request.group(); ++g) steer_offset(request, g, corner);
    }
  }
}

// Thresholds at the borders of keys, so that each of their bits decides.
void Directed::borders() {
  for (const unsigned samples_log2 : {0U, 1U, 2U, 5U, 8U, 12U}) {
    for (const std::uint32_t n : {2U, unit_.tile_keys + 3, 5 * unit_.tile_keys}) {
      for (const bool below : {false, true}) {
        Recipe r = recipe("offset U at the border of a key", n);
        r.head_dimension = 2;
        r.samples_log2 = samples_log2;
        r.octaves = n > unit_.tile_keys + 3 ? 30.0 : 4.0;
        CosimRequest& request = add(r);
        for (std::uint32_t g = 0; g < request.group(); ++g) {
          steer_to_border(request, g, 1 + random_.below(n - 1), below);
        }
      }
    }
  }
}

// So many samples of so few keys that small errors of a weight move some.
void Directed::many_samples() {
  const std::uint32_t heads = unit_.group_heads;
  for (const std::uint32_t group : std::set<std::uint32_t>{1, (heads + 1) / 2, heads - 1, heads}) {
    for (std::uint32_t i = 0; group > 0 && i < 4; ++i) {
      Recipe r = recipe("many samples of few keys", (1 + i / 2) * unit_.tile_keys + i);
      r.group = group;
      r.head_dimension = 2;
      r.samples_log2 = 12;
      r.octaves = i % 2 == 0 ? 2.0 : 6.0;
      add(r);
    }
  }
}

void Directed::shapes() {
  const std::uint32_t most = unit_.max_head_dimension;
  for (std::uint32_t g = 1; g <= unit_.group_heads; ++g) {
    Recipe r = recipe("shapes", unit_.tile_keys + g);
    r.group = g;
    r.head_dimension = std::min(most, unit_.port_bytes + g - 1);
    r.scores = g % 2 == 0 ? ScoreScheme::kBernoulliGroup : ScoreScheme::kExact;
    add(r);
  }
  for (const std::uint32_t d : {1U, unit_.port_bytes - 1, unit_.port_bytes, most - 1, most}) {
    Recipe r = recipe("shapes", unit_.tile_keys + unit_.tile_keys / 2);
    r.head_dimension = std::min(d, most);
    add(r);
  }
  Recipe r = recipe("no keys", 0);
  add(r);
  r.scores = ScoreScheme::kBernoulliGroup;
  add(r);
  r = recipe("smallest request", 1);
  r.group = 1;
  r.head_dimension = 1;
  r.samples_log2 = 0;
  add(r);
}

// Sums of 4096 lowest values, and halves that round to even.
void Directed::normaliser() {
  for (const unsigned samples_log2 : {8U, 9U, 12U}) {
    Recipe r = recipe("rounding of outputs", 1);
    r.samples_log2 = samples_log2;
    CosimRequest& one = add(r);
    auto cache = std::make_shared<attention::KvHead>(*one.cache);
    std::fill(cache->values.begin(), cache->values.end(), std::int8_t{-128});
    one.cache = cache;
    r.context = 2;
    r.octaves = 0.01;
    r.keys = KeyProfile::kNarrow;
    add(r);
    r.context = 200;
    add(r);
  }
}

void Directed::scales() {
  Recipe r = recipe("scale of zero", unit_.tile_keys + 1);
  r.zero_scale = true;
  add(r);
  r = recipe("finest and coarsest scale", 50);
  r.query = QueryProfile::kOneHot;
  r.octaves = 1e9;  // exponent -8, as far as the range of scores allows
  add(r);
  r.octaves = 1e-9;  // exponent 30
  add(r);
}

void Directed::spills() {
  for (const std::uint32_t group : {1U, unit_.group_heads}) {
    const auto fitting = static_cast<std::uint32_t>(stash_tiles(unit_, group)) * unit_.tile_keys;
    for (const std::uint32_t n : {fitting, fitting + 1, fitting + 2 * unit_.tile_keys}) {
      if (n > most_context_) continue;
      Recipe r = recipe(n == fitting ? "stash just full" : "weights spill", n);
      r.group = group;
      r.head_dimension = 1;
      r.samples_log2 = 8;
      r.octaves = 12.0;
      add(r);
    }
    // Nearly all mass and many samples in the tiles beyond, so that small errors of a weight show.
    for (std::uint32_t i = 0; i < 6; ++i) {
      Recipe r = recipe("many samples of spilled keys", fitting + 2 * unit_.tile_keys + i);
      if (r.context > most_context_) continue;
      r.group = group;
      r.head_dimension = 1;
      r.samples_log2 = 12;
      r.keys = KeyProfile::kRising;
      r.octaves = r.context / (i % 2 == 0 ? 8.0 : 16.0);
      add(r);
    }
  }
}

// Operands of every kind in every place of a bus word.
void Directed::queries() {
  for (const QueryProfile query :
       {QueryProfile::kNearTies, QueryProfile::kTies, QueryProfile::kTiny, QueryProfile::kLargest,
        QueryProfile::kSparse}) {
    for (const ScoreScheme scores :
         {ScoreScheme::kExact, ScoreScheme::kBernoulli, ScoreScheme::kBernoulliGroup}) {
      // The low bits of exact operands decide at ties alone.
      const bool ties = query == QueryProfile::kNearTies && scores == ScoreScheme::kExact;
      for (std::uint32_t i = 0; i < unit_.group_heads * (ties ? 4U : 1U); ++i) {
        Recipe r = recipe("operands", 3);
        r.query = query;
        r.scores = scores;
        r.group = 1 + i % unit_.group_heads;
        r.head_dimension = std::min(unit_.max_head_dimension, ties ? 64U : 24U);
        r.draws_log2 = 6;
        add(r);
      }
    }
  }
}

void Directed::random_lanes() {
  for (const ScoreScheme scores : {ScoreScheme::kBernoulli, ScoreScheme::kBernoulliGroup}) {
    for (std::uint32_t i = 0; i < 2 * unit_.group_heads; ++i) {
      Recipe r = recipe("operands at the borders of their random lanes", 3);
      r.scores = scores;
      r.group = 1 + i % unit_.group_heads;
      r.head_dimension = std::min(unit_.max_head_dimension, 64U);
      r.draws_log2 = 6;
      steer_operands(add(r), random_);
    }
  }
}

// Tiles with next to no mass among so many keys of equal scores that the prefix S passes 2^44: a
// threshold beyond such a tile, at the tile's own scale, no longer fits the sampler's registers.
void Directed::largest_thresholds() {
  constexpr int kTop = 120;  // one octave a step
  const std::uint32_t leading = std::max(1024 / unit_.tile_keys, 2U);
  std::vector<int> levels;
  for (std::uint32_t tile = 0; tile < leading; ++tile) {
    levels.push_back(kTop);
    if (2 * tile < leading) continue;
    for (int i = 0; i < 3; ++i) levels.push_back(kTop - random_.between(8, 40));
  }
  Recipe r =
      recipe("largest thresholds", static_cast<std::uint32_t>(levels.size()) * unit_.tile_keys);
  if (r.context > most_context_) return;
  r.head_dimension = 1;
  r.samples_log2 = 12;
  set_levels(add(r), levels);
}

}  // namespace

std::vector<CosimRequest> directed_requests(const UnitParameters& unit,
                                            std::uint32_t most_context) {
  Directed directed(unit, most_context);
  directed.equal_scores();
  directed.extreme_scores();
  directed.empty_tiles();
  directed.tile_distances();
  directed.streams();
  directed.budgets();
  directed.offsets();
  directed.borders();
  directed.many_samples();
  directed.shapes();
  directed.normaliser();
  directed.scales();
  directed.spills();
  directed.queries();
  directed.random_lanes();
  directed.largest_thresholds();
  return directed.take();
}

}  // namespace santa::cosim
