#include "santa/cosim/integer_data.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace santa::cosim {
namespace {

using arithmetic::GroupRatio;
using arithmetic::kRatioZeroExponent;
using arithmetic::ScaleFactor;
using attention::KvHead;
using attention::QueryOperands;
using attention::ScoreScheme;

constexpr std::uint32_t kOne = 1U << 16;

std::uint32_t make_magnitude(QueryProfile profile, std::uint32_t largest, bool hot,
                             Random& random) {
  switch (profile) {
    case QueryProfile::kUniform:
      return random.below(largest + 1);
    case QueryProfile::kSparse:
      return random.chance(0.8) ? 0 : random.below(largest + 1);
    case QueryProfile::kTiny:
      return random.below(kOne);
    case QueryProfile::kLargest:
    case QueryProfile::kLowest:
      return largest;
    case QueryProfile::kTies:
      return std::min(
          largest, random.below(largest / kOne + 1) * kOne + kOne / 2 - random.pick({0U, 0U, 1U}));
    case QueryProfile::kNearTies: {
      const std::uint32_t half = random.below(largest / kOne) * kOne + kOne / 2;
      const std::uint32_t off = 1U << random.below(15);
      return random.pick({half, half, half - 1, half + off});
    }
    case QueryProfile::kOneHot:
      return hot ? random.pick({kOne, largest, kOne / 2}) : 0;
    case QueryProfile::kZero:
      return 0;
  }
  return 0;
}

// A ratio cannot exceed the group: the host's is a share of the mean.
int largest_ratio_exponent(std::uint32_t group) {
  int largest = 0;  // power of two from the group on
  while ((1U << largest) < group) ++largest;
  return largest;
}

GroupRatio make_ratio(std::uint32_t group, Random& random) {
  const int largest = largest_ratio_exponent(group);
  GroupRatio ratio;
  ratio.exponent = static_cast<std::int8_t>(random.between(kRatioZeroExponent, largest));
  if (ratio.exponent < largest) {
    ratio.upper_probability =
        static_cast<std::uint16_t>(random.pick({0U, 1U, 0xFFFFU, random.below(kOne)}));
  }
  return ratio;
}

QueryOperands make_operands(const Recipe& recipe, Random& random) {
  QueryOperands query;
  query.group = recipe.group;
  query.head_dimension = recipe.head_dimension;
  query.scheme = recipe.scores;
  const bool exact = recipe.scores == ScoreScheme::kExact;
  const bool shared = recipe.scores == ScoreScheme::kBernoulliGroup;
  if (!exact) query.draws_log2 = recipe.draws_log2;
  const std::uint32_t largest = exact ? 127 * kOne : kOne << recipe.draws_log2;
  const std::size_t rows = shared ? 1 : recipe.group;
  const std::uint32_t hot = random.below(recipe.head_dimension);
  const unsigned coarse = recipe.scores == ScoreScheme::kBernoulliIid ? recipe.draws_log2 : 0;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::uint32_t i = 0; i < recipe.head_dimension; ++i) {
      const std::uint32_t magnitude = make_magnitude(recipe.query, largest, i == hot, random);
      query.magnitude.push_back(magnitude >> coarse << coarse);
    }
  }
  for (std::uint32_t n = 0; n < recipe.group * recipe.head_dimension; ++n) {
    const bool fixed =
        recipe.query == QueryProfile::kLargest || recipe.query == QueryProfile::kLowest;
    const bool negative = fixed ? recipe.query == QueryProfile::kLowest : random.chance(0.5);
    query.negative.push_back(negative ? 1 : 0);
    if (shared) query.ratio.push_back(make_ratio(recipe.group, random));
  }
  return query;
}

// Largest accumulator of one head that any keys could give.
double largest_accumulator(const QueryOperands& query, std::uint32_t head) {
  const bool shared = query.scheme == ScoreScheme::kBernoulliGroup;
  double sum = 0.0;
  for (std::uint32_t i = 0; i < query.head_dimension; ++i) {
    const std::size_t index = static_cast<std::size_t>(head) * query.head_dimension + i;
    const std::uint32_t magnitude = query.magnitude[shared ? i : index];
    double count = std::ceil(magnitude / double{kOne});
    // Independent draws may all succeed.
    if (query.scheme == ScoreScheme::kBernoulliIid && magnitude > 0) count = 1U << query.draws_log2;
    const double ratio =
        shared ? std::ldexp(8.0, query.ratio[index].exponent +
                                     (query.ratio[index].upper_probability != 0 ? 1 : 0))
               : 1.0;
    sum += count * ratio * 128.0;
  }
  return sum;
}

double mantissa_of(const ScaleFactor& scale) {
  return 1.0 + std::ldexp(scale.sign_a, -scale.shift_a) + std::ldexp(scale.sign_b, -scale.shift_b);
}

// Any of the grid's mantissas, with the exponent that takes the largest accumulator nearest to the
// octaves wanted; below 2^22 octaves, as the host sees to.
ScaleFactor make_scale(const Recipe& recipe, double accumulator, Random& random) {
  if (recipe.zero_scale) return {0, -1, 1, -1, 1};  // 1 - 1/2 - 1/2
  constexpr double kScoreLimit = 4194304.0;
  ScaleFactor scale;
  do {
    scale.sign_a = static_cast<std::int8_t>(random.between(-1, 1));
    scale.sign_b = static_cast<std::int8_t>(random.between(-1, 1));
    scale.shift_a = static_cast<std::uint8_t>(random.between(1, 6));
    scale.shift_b = static_cast<std::uint8_t>(random.between(1, 6));
  } while (mantissa_of(scale) == 0.0);
  const double unit = std::max(accumulator, 1.0) * mantissa_of(scale);
  const double exact = std::log2(unit / recipe.octaves);
  int exponent = static_cast<int>(std::lround(std::clamp(exact, -8.0, 30.0)));
  while (unit * std::ldexp(1.0, -exponent) >= kScoreLimit) ++exponent;
  scale.exponent = static_cast<std::int8_t>(exponent);
  return scale;
}

std::int8_t clamp_key(int value) {
  return static_cast<std::int8_t>(std::clamp(value, -128, 127));
}

// Level of a key among those profiles whose scores follow a course, -120..120.
int key_level(const Recipe& recipe, std::uint32_t tile_keys, std::uint32_t key,
              const std::vector<int>& tile_levels) {
  const int course = static_cast<int>(240.0 * (key + 1) / recipe.context) - 120;
  switch (recipe.keys) {
    case KeyProfile::kApart:
      return tile_levels[key / tile_keys];
    case KeyProfile::kRising:
      return course;
    case KeyProfile::kFalling:
      return -course;
    default:
      return key / tile_keys == (recipe.context - 1) / tile_keys ? 120 : -120;
  }
}

int make_key(const Recipe& recipe, int constant, int level, Random& random) {
  switch (recipe.keys) {
    case KeyProfile::kUniform:
      return random.between(-128, 127);
    case KeyProfile::kNarrow:
      return random.between(-3, 3);
    case KeyProfile::kExtreme:
      return random.pick({-128, -127, 127});
    case KeyProfile::kLowest:
      return -128;
    case KeyProfile::kConstant:
      return constant;
    case KeyProfile::kSparse:
      return random.chance(0.9) ? 0 : random.between(-128, 127);
    default:
      return level + random.between(-2, 2);
  }
}

KvHead make_cache(const Recipe& recipe, const QueryOperands& query, std::uint32_t tile_keys,
                  Random& random) {
  const std::uint32_t d = recipe.head_dimension;
  KvHead cache;
  cache.context = recipe.context;
  cache.head_dimension = d;
  cache.tile_keys = tile_keys;
  cache.key_scale.assign(d, 1.0);
  cache.value_exponent.assign(d, 0);
  cache.keys.assign(static_cast<std::size_t>(cache.tiles()) * d * tile_keys, 0);
  std::vector<int> tile_levels(cache.tiles());
  for (int& level : tile_levels) level = random.between(-120, 120);
  std::vector<int> constant(d);
  for (int& key : constant) key = random.between(-128, 127);
  const int value_kind = random.between(0, 4);
  for (std::uint32_t n = 0; n < recipe.context; ++n) {
    const int level = key_level(recipe, tile_keys, n, tile_levels);
    for (std::uint32_t i = 0; i < d; ++i) {
      // Levels follow the signs of the first head, so that its scores follow the levels.
      const int signed_level = query.negative[i] != 0 ? -level : level;
      const std::size_t at = (static_cast<std::size_t>(n / tile_keys) * d + i) * tile_keys;
      cache.keys[at + n % tile_keys] =
          clamp_key(make_key(recipe, constant[i], signed_level, random));
      const int value = random.between(-128, 127);
      const int extreme = random.pick({-128, 127});
      cache.values.push_back(clamp_key(value_kind == 0 ? -128 : value_kind == 1 ? extreme : value));
    }
  }
  return cache;
}

std::uint64_t make_stream(Random& random) {
  const std::uint64_t state = random.pick(
      {random.next(), random.next(), std::uint64_t{1}, std::numeric_limits<std::uint64_t>::max()});
  return state == 0 ? 1 : state;
}

}  // namespace

CosimRequest make_request(const Recipe& recipe, std::uint32_t tile_keys, Random& random) {
  CosimRequest request;
  request.workload = recipe.workload;
  request.context = recipe.context;
  request.options.scores = recipe.scores;
  request.options.values = recipe.values;
  request.options.bernoulli_draws = 1U << recipe.draws_log2;
  request.options.samples = 1U << recipe.samples_log2;
  QueryOperands& query = request.request.query;
  query = make_operands(recipe, random);
  double largest = 0.0;
  for (std::uint32_t g = 0; g < recipe.group; ++g) {
    const double own = largest_accumulator(query, g);
    largest = std::max(largest, own);
    if (recipe.scores != ScoreScheme::kBernoulliGroup) {
      query.scale.push_back(make_scale(recipe, own, random));
    }
  }
  if (query.scale.empty()) query.scale.push_back(make_scale(recipe, largest, random));
  request.cache = std::make_shared<KvHead>(make_cache(recipe, query, tile_keys, random));
  request.request.score_stream = make_stream(random);
  for (std::uint32_t g = 0; g < recipe.group; ++g) {
    request.request.value_streams.push_back(make_stream(random));
  }
  return request;
}

namespace {

// The low 16 bits of an operand, which its lane is compared with.
void set_fraction(QueryOperands& query, std::size_t index, std::uint32_t fraction) {
  if (query.scheme == ScoreScheme::kBernoulliGroup) {
    if (query.ratio[index].exponent == largest_ratio_exponent(query.group)) return;
    query.ratio[index].upper_probability = static_cast<std::uint16_t>(fraction);
  } else {
    query.magnitude[index] = query.magnitude[index] / kOne * kOne + fraction;
  }
}

// A stream's first word is its state, which is not 0; a bounded draw takes its low bits.
std::uint64_t stream_of_offset(std::uint64_t offset) {
  return offset > 0 ? offset : std::uint64_t{1} << 63;
}

}  // namespace

void steer_operands(CosimRequest& request, Random& random) {
  QueryOperands& query = request.request.query;
  const std::uint32_t largest = kOne << query.draws_log2;
  for (std::uint32_t& magnitude : query.magnitude) magnitude = std::min(magnitude, largest - kOne);
  const std::size_t count = query.negative.size();
  const auto coefficients = [&] {
    return attention::encode_query(query, request.request.score_stream).coefficients;
  };
  for (std::size_t i = 0; i < count; ++i) set_fraction(query, i, 0);
  const std::vector<std::int16_t> below = coefficients();
  std::vector<std::uint32_t> fraction(count, 0);
  for (std::uint32_t step = kOne / 2; step > 0; step /= 2) {
    for (std::size_t i = 0; i < count; ++i) set_fraction(query, i, fraction[i] + step);
    const std::vector<std::int16_t> found = coefficients();
    for (std::size_t i = 0; i < count; ++i) {
      if (found[i] == below[i]) fraction[i] += step;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const bool up = fraction[i] + 1 < kOne && random.chance(0.5);
    set_fraction(query, i, fraction[i] + (up ? 1 : 0));
  }
}

void steer_offset(CosimRequest& request, std::uint32_t head, OffsetCorner corner) {
  attention::DecodeWorkspace workspace;
  const std::uint64_t mass = attention::decode(*request.cache, request.context, request.request,
                                               request.options, workspace)
                                 .heads[head]
                                 .mass;
  std::uint64_t& state = request.request.value_streams[head];
  switch (corner) {
    case OffsetCorner::kFirst:
      state = stream_of_offset(0);
      break;
    case OffsetCorner::kLast:
      state = stream_of_offset(mass - 1);
      break;
    case OffsetCorner::kRejected:
      state = std::numeric_limits<std::uint64_t>::max();
      break;
  }
}

void steer_to_border(CosimRequest& request, std::uint32_t head, std::uint32_t key, bool below) {
  const Expectation expected = vectors::expect(request);
  const attention::HeadStatistics& found = expected.result.heads[head];
  const unsigned samples_log2 = request.samples_log2();
  const std::uint32_t tile = key / request.cache->tile_keys;
  const std::size_t first = expected.index(request, tile, head);
  std::uint64_t before = 0;
  for (std::uint32_t i = 0; i < key % request.cache->tile_keys; ++i) {
    before += expected.weights[first + i];
  }
  // Of the threshold in steps of 1 / S: (threshold - prefix S) 2^distance >= before 2^guard S.
  const unsigned distance = found.distance[tile];
  const std::uint64_t needed = before << (arithmetic::kMassGuardBits + samples_log2);
  const std::uint64_t step = std::uint64_t{1} << distance;
  const std::uint64_t threshold =
      (found.prefix_mass[tile] << samples_log2) + (needed + step - 1) / step;
  const std::uint64_t all = found.mass << samples_log2;
  const std::uint64_t offset = (below ? threshold + all - 1 : threshold) % all % found.mass;
  request.request.value_streams[head] = stream_of_offset(offset);
}

}  // namespace santa::cosim
