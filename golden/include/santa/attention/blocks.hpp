// The unit's blocks as functions on one tile, fast on a host: what the golden decode and the
// SystemC model both call. Each equals the definition in santa/arithmetic bit for bit.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "santa/arithmetic/limits.hpp"
#include "santa/attention/kv_head.hpp"
#include "santa/attention/query.hpp"
#include "santa/attention/scheme.hpp"

namespace santa::attention {

// ternary_gather: accumulated scores of one tile.
//   keys         [head_dimension][tile_keys]
//   scores       [group][tile_keys], written
void score_tile(const EncodedQuery& query, const std::int8_t* keys, std::uint32_t tile_keys,
                std::int32_t* scores);

// The same without vector instructions, for machines that lack them and as a check.
void score_tile_portable(const EncodedQuery& query, const std::int8_t* keys,
                         std::uint32_t tile_keys, std::int32_t* scores);

// Statistics of one tile for one query head.
struct TileStatistics {
  std::int32_t exponent = 0;  // m, integer strictly above the largest score
  std::uint32_t sum = 0;      // l, exact sum of the weights
};

// weight_unit: scales scores in place to the log2 domain, finds the tile's exponent and writes the
// weights of `valid_keys` keys; keys beyond them get weight 0.
//   scores       [tile_keys], accumulators in, x out
//   weights      [tile_keys], written
TileStatistics weigh_tile(std::int32_t* scores, std::uint32_t valid_keys, std::uint32_t tile_keys,
                          arithmetic::ScaleFactor scale, std::uint16_t* weights);

// Global statistics of one query head over its tiles.
struct HeadStatistics {
  std::int32_t exponent = 0;               // M
  std::uint64_t mass = 0;                  // Z; 0 only when there are no keys
  std::vector<std::uint64_t> prefix_mass;  // [tiles + 1]
  std::vector<std::uint8_t> distance;      // [tiles], M - m saturated at 63
};
//   tiles        `count` entries, `stride` apart
HeadStatistics combine_tiles(const TileStatistics* tiles, std::uint32_t count,
                             std::uint32_t stride);

// Natural log of the sum of exponentials of the scores; -infinity without keys.
double log_sum_exp(const HeadStatistics& head);

// Thresholds of one query head, ascending, on the axis 0..S*Z-1; none when there are no keys.
//   scheme        a sampled one: kSanta, kStratified or kSystematic
//   random_words  LFSR words drawn are added to it
std::vector<std::uint64_t> make_thresholds(ValueScheme scheme, const HeadStatistics& head,
                                           unsigned samples_log2, std::uint64_t stream,
                                           std::uint64_t* random_words);

// systematic_sampler, one tile of one head: consumes the thresholds that fall into the tile and
// adds to `counts` how often each key is drawn. Returns the number consumed; 0 means that the
// tile's weights need not be read.
//   weights      [tile_keys]
//   counts       [tile_keys], added to
std::uint32_t sample_tile(const HeadStatistics& head, std::uint32_t tile,
                          const std::uint16_t* weights, std::uint32_t valid_keys,
                          const std::vector<std::uint64_t>& thresholds, std::uint32_t cursor,
                          unsigned samples_log2, std::uint16_t* counts);

// A value row that at least one query head of the group drew.
struct SampledRow {
  std::uint32_t key = 0;
  std::array<std::uint16_t, arithmetic::kMaxGroup> counts{};  // per query head
};

// Appends the rows of one tile that some head drew, ascending by key.
//   counts       [group][tile_keys], of tile `tile`
void append_rows(const std::uint16_t* counts, std::uint32_t group, std::uint32_t tile_keys,
                 std::uint32_t tile, std::vector<SampledRow>& rows);

// Keys of the k largest scores x, ties to the lower key, ascending by key.
//   scores       [context]
std::vector<std::uint32_t> select_top_k(const std::int32_t* scores, std::uint32_t context,
                                        std::uint32_t k);

}  // namespace santa::attention
