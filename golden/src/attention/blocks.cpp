#include "santa/attention/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "santa/arithmetic/lfsr.hpp"
#include "santa/arithmetic/sampler.hpp"
#include "santa/arithmetic/weight.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace santa::attention {
namespace {

#if defined(__x86_64__)
// Scores of 16 keys for `kHeads` heads. Two features a step: their key bytes interleave, so that
// one vpmaddwd multiplies and adds both. Exact: |c| <= 2^13, |k| <= 2^7.
template <std::size_t kHeads>
__attribute__((target("avx2"))) void score_16_keys(const EncodedQuery& query, std::uint32_t first,
                                                   const std::int8_t* keys, std::uint32_t tile_keys,
                                                   std::int32_t* scores) {
  __m256i low[kHeads];
  __m256i high[kHeads];
  for (std::size_t g = 0; g < kHeads; ++g) low[g] = high[g] = _mm256_setzero_si256();
  const std::size_t count = query.needed_features.size();
  const std::int16_t* coefficients =
      query.coefficients.data() + static_cast<std::size_t>(first) * query.head_dimension;
  const auto load = [&](std::size_t f) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(
        keys + static_cast<std::size_t>(query.needed_features[f]) * tile_keys));
  };
  for (std::size_t f = 0; f < count; f += 2) {
    const bool pair = f + 1 < count;
    const __m128i row_a = load(f);
    const __m128i row_b = pair ? load(f + 1) : _mm_setzero_si128();
    const __m256i keys_low = _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(row_a, row_b));
    const __m256i keys_high = _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(row_a, row_b));
    const std::uint32_t feature_a = query.needed_features[f];
    const std::uint32_t feature_b = pair ? query.needed_features[f + 1] : feature_a;
    for (std::size_t g = 0; g < kHeads; ++g) {
      const std::int16_t* row = coefficients + g * query.head_dimension;
      const std::uint32_t packed =
          static_cast<std::uint16_t>(row[feature_a]) |
          (static_cast<std::uint32_t>(static_cast<std::uint16_t>(row[feature_b])) << 16);
      const __m256i both = _mm256_set1_epi32(static_cast<std::int32_t>(packed));
      low[g] = _mm256_add_epi32(low[g], _mm256_madd_epi16(keys_low, both));
      high[g] = _mm256_add_epi32(high[g], _mm256_madd_epi16(keys_high, both));
    }
  }
  for (std::size_t g = 0; g < kHeads; ++g) {
    std::int32_t* out = scores + static_cast<std::size_t>(g) * tile_keys;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), low[g]);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 8), high[g]);
  }
}

__attribute__((target("avx2"))) void score_tile_avx2(const EncodedQuery& query,
                                                     const std::int8_t* keys,
                                                     std::uint32_t tile_keys,
                                                     std::int32_t* scores) {
  std::uint32_t head = 0;
  while (head < query.group) {
    const std::uint32_t left = query.group - head;
    const std::uint32_t heads = left >= 4 ? 4 : left;
    std::int32_t* out = scores + static_cast<std::size_t>(head) * tile_keys;
    for (std::uint32_t k = 0; k < tile_keys; k += 16) {
      switch (heads) {
        case 4:
          score_16_keys<4>(query, head, keys + k, tile_keys, out + k);
          break;
        case 3:
          score_16_keys<3>(query, head, keys + k, tile_keys, out + k);
          break;
        case 2:
          score_16_keys<2>(query, head, keys + k, tile_keys, out + k);
          break;
        default:
          score_16_keys<1>(query, head, keys + k, tile_keys, out + k);
          break;
      }
    }
    head += heads;
  }
}
#endif

}  // namespace

void score_tile_portable(const EncodedQuery& query, const std::int8_t* keys,
                         std::uint32_t tile_keys, std::int32_t* scores) {
  std::fill(scores, scores + static_cast<std::size_t>(query.group) * tile_keys, 0);
  for (const std::uint32_t feature : query.needed_features) {
    const std::int8_t* row = keys + static_cast<std::size_t>(feature) * tile_keys;
    for (std::uint32_t g = 0; g < query.group; ++g) {
      const std::int32_t c =
          query.coefficients[static_cast<std::size_t>(g) * query.head_dimension + feature];
      if (c == 0) continue;
      std::int32_t* out = scores + static_cast<std::size_t>(g) * tile_keys;
      for (std::uint32_t k = 0; k < tile_keys; ++k) out[k] += c * row[k];
    }
  }
}

void score_tile(const EncodedQuery& query, const std::int8_t* keys, std::uint32_t tile_keys,
                std::int32_t* scores) {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx2) {
    score_tile_avx2(query, keys, tile_keys, scores);
    return;
  }
#endif
  score_tile_portable(query, keys, tile_keys, scores);
}

TileStatistics weigh_tile(std::int32_t* scores, std::uint32_t valid_keys, std::uint32_t tile_keys,
                          arithmetic::ScaleFactor scale, std::uint16_t* weights) {
  std::int32_t largest = std::numeric_limits<std::int32_t>::min();
  for (std::uint32_t k = 0; k < valid_keys; ++k) {
    scores[k] = static_cast<std::int32_t>(arithmetic::scale_score(scores[k], scale));
    largest = std::max(largest, scores[k]);
  }
  TileStatistics statistics;
  statistics.exponent = arithmetic::tile_exponent(largest);
  for (std::uint32_t k = 0; k < valid_keys; ++k) {
    weights[k] = arithmetic::weight(scores[k], statistics.exponent);
    statistics.sum += weights[k];
  }
  std::fill(weights + valid_keys, weights + tile_keys, std::uint16_t{0});
  return statistics;
}

HeadStatistics combine_tiles(const TileStatistics* tiles, std::uint32_t count,
                             std::uint32_t stride) {
  HeadStatistics head;
  head.prefix_mass.assign(static_cast<std::size_t>(count) + 1, 0);
  head.distance.assign(count, 0);
  if (count == 0) return head;
  head.exponent = tiles[0].exponent;
  for (std::uint32_t t = 1; t < count; ++t) {
    head.exponent = std::max(head.exponent, tiles[static_cast<std::size_t>(t) * stride].exponent);
  }
  for (std::uint32_t t = 0; t < count; ++t) {
    const TileStatistics& tile = tiles[static_cast<std::size_t>(t) * stride];
    const unsigned distance = arithmetic::tile_distance(head.exponent, tile.exponent);
    head.distance[t] = static_cast<std::uint8_t>(distance);
    head.mass += arithmetic::tile_mass(tile.sum, distance);
    head.prefix_mass[t + 1] = head.mass;
  }
  return head;
}

double log_sum_exp(const HeadStatistics& head) {
  if (head.mass == 0) return -std::numeric_limits<double>::infinity();
  constexpr int kFractionBits =
      static_cast<int>(arithmetic::kWeightFractionBits + arithmetic::kMassGuardBits);
  constexpr double kLn2 = 0.693147180559945309417;
  return (std::log2(static_cast<double>(head.mass)) + head.exponent - kFractionBits) * kLn2;
}

std::vector<std::uint64_t> make_thresholds(ValueScheme scheme, const HeadStatistics& head,
                                           unsigned samples_log2, std::uint64_t stream,
                                           std::uint64_t* random_words) {
  if (head.mass == 0) return {};
  const std::uint64_t samples = std::uint64_t{1} << samples_log2;
  std::vector<std::uint64_t> thresholds(samples);
  arithmetic::Lfsr64 lfsr(stream);
  if (scheme == ValueScheme::kSanta) {
    const std::uint64_t axis = head.mass << samples_log2;
    for (auto& threshold : thresholds) {
      threshold = arithmetic::draw_below(lfsr, axis, random_words);
    }
    std::sort(thresholds.begin(), thresholds.end());
    return thresholds;
  }
  std::uint64_t offset = 0;
  for (std::uint64_t j = 0; j < samples; ++j) {
    if (j == 0 || scheme == ValueScheme::kStratified) {
      offset = arithmetic::draw_below(lfsr, head.mass, random_words);
    }
    thresholds[j] = arithmetic::stratum_threshold(j, head.mass, offset);
  }
  return thresholds;
}

std::uint32_t sample_tile(const HeadStatistics& head, std::uint32_t tile,
                          const std::uint16_t* weights, std::uint32_t valid_keys,
                          const std::vector<std::uint64_t>& thresholds, std::uint32_t cursor,
                          unsigned samples_log2, std::uint16_t* counts) {
  const std::uint32_t first = cursor;
  const std::uint32_t end = static_cast<std::uint32_t>(thresholds.size());
  const auto in_tile = [&](std::uint32_t j) {
    return j < end &&
           arithmetic::threshold_within(thresholds[j], head.prefix_mass[tile + 1], samples_log2);
  };
  if (!in_tile(cursor)) return 0;
  const auto residual = [&](std::uint32_t j) {
    return arithmetic::tile_residual(thresholds[j], head.prefix_mass[tile], samples_log2,
                                     head.distance[tile]);
  };
  std::uint64_t cumulative = 0;
  std::uint64_t next = residual(cursor);
  for (std::uint32_t k = 0; k < valid_keys; ++k) {
    cumulative += weights[k];
    while (arithmetic::residual_within(next, cumulative, samples_log2)) {
      ++counts[k];
      if (!in_tile(++cursor)) return cursor - first;
      next = residual(cursor);
    }
  }
  return cursor - first;
}

void append_rows(const std::uint16_t* counts, std::uint32_t group, std::uint32_t tile_keys,
                 std::uint32_t tile, std::vector<SampledRow>& rows) {
  constexpr std::uint32_t kAtOnce = sizeof(std::uint64_t) / sizeof(std::uint16_t);
  for (std::uint32_t k = 0; k < tile_keys; k += kAtOnce) {  // tiles hold a multiple of 16 keys
    std::uint64_t any = 0;
    for (std::uint32_t g = 0; g < group; ++g) {
      std::uint64_t four = 0;
      std::memcpy(&four, counts + static_cast<std::size_t>(g) * tile_keys + k, sizeof four);
      any |= four;
    }
    if (any == 0) continue;
    for (std::uint32_t key = k; key < k + kAtOnce; ++key) {
      SampledRow row;
      std::uint32_t drawn = 0;
      for (std::uint32_t g = 0; g < group; ++g) {
        row.counts[g] = counts[static_cast<std::size_t>(g) * tile_keys + key];
        drawn |= row.counts[g];
      }
      if (drawn == 0) continue;
      row.key = tile * tile_keys + key;
      rows.push_back(row);
    }
  }
}

std::vector<std::uint32_t> select_top_k(const std::int32_t* scores, std::uint32_t context,
                                        std::uint32_t k) {
  std::vector<std::uint32_t> keys(context);
  for (std::uint32_t n = 0; n < context; ++n) keys[n] = n;
  if (k < context) {
    const auto before = [scores](std::uint32_t a, std::uint32_t b) {
      return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
    };
    std::nth_element(keys.begin(), keys.begin() + k, keys.end(), before);
    keys.resize(k);
    std::sort(keys.begin(), keys.end());
  }
  return keys;
}

}  // namespace santa::attention
