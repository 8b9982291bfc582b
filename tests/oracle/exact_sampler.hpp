// Oracle of the value sampler in exact rationals, derived from the definition and from nothing
// else: it includes no code of the unit, divides freely and walks one threshold at a time.
//
// Definition. A head's keys lie in tiles. Tile t has the integer weights u_0, u_1, ... of its keys
// and a distance d_t >= 0: the true weight of key k is u_k * 2^-d_t. The tile's mass is
//
//   W_t = floor(2^8 * sum(u) / 2^d_t)          Z = sum of W_t over all tiles
//
// (8 guard bits). The axis has S * Z integer points 0..S*Z-1; tile t owns the W_t * S points after
// those of the tiles before it. Inside a tile, key k owns the real interval
//
//   [2^8 * S * (u_0 + ... + u_(k-1)) / 2^d_t,  2^8 * S * (u_0 + ... + u_k) / 2^d_t)
//
// measured from the tile's first point, cut off at the tile's last point. A sample is drawn by the
// key whose interval holds its threshold, an integer point of the axis.
//
// Use: Head head(tiles); head.key_of(threshold, S) is the key of one threshold, head.counts() those
// of many, head.points() how many points of the axis a key owns, so that points / S is the key's
// effective weight. Keys are numbered tile after tile, with as many keys as each tile has weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "oracle/exact_number.hpp"

namespace santa::oracle {

inline constexpr int kSamplerGuardBits = 8;

struct Tile {
  std::vector<std::uint32_t> weights;  // of the valid keys
  unsigned distance = 0;               // largest exponent minus this tile's exponent
};

// An interval [begin, end) of a rational axis. An integer lies in it just when it is at least
// ceil(begin) and below ceil(end).
struct Interval {
  Rational begin;
  Rational end;
  Integer first() const { return ceil_of(begin); }
  Integer beyond() const { return ceil_of(end); }
  // Integers in the interval.
  Integer points() const { return beyond() - first(); }
};

class Head {
 public:
  explicit Head(std::vector<Tile> tiles) : tiles_(std::move(tiles)) {
    for (const Tile& tile : tiles_) keys_ += tile.weights.size();
  }

  std::size_t keys() const { return keys_; }

  // W_t.
  static Integer tile_mass(const Tile& tile) {
    Rational sum = 0;
    for (const std::uint32_t weight : tile.weights) sum += weight;
    return floor_of(sum * unit(tile));
  }

  // Z.
  Integer mass() const {
    Integer total = 0;
    for (const Tile& tile : tiles_) total += tile_mass(tile);
    return total;
  }

  // Each key's interval on the axis of S * Z points; empty for a key that is never drawn.
  std::vector<Interval> intervals(std::uint64_t samples) const {
    std::vector<Interval> all;
    Integer before = 0;
    for (const Tile& tile : tiles_) {
      const Rational start = Rational(Integer(before * samples));
      before += tile_mass(tile);
      const Rational stop = Rational(Integer(before * samples));
      Rational begin = start;
      for (const std::uint32_t weight : tile.weights) {
        const Rational end = begin + weight * samples * unit(tile);
        all.push_back({least(begin, stop), least(end, stop)});
        begin = end;
      }
    }
    return all;
  }

  // Points of the axis that each key owns; they add up to S * Z.
  std::vector<Integer> points(std::uint64_t samples) const {
    std::vector<Integer> all;
    for (const Interval& interval : intervals(samples)) all.push_back(interval.points());
    return all;
  }

  // Key of one threshold, below S * Z.
  std::size_t key_of(const Integer& threshold, std::uint64_t samples) const {
    const std::vector<std::uint64_t> drawn = counts({threshold}, samples);
    std::size_t key = 0;
    while (drawn[key] == 0) ++key;
    return key;
  }

  // How often each key is drawn by thresholds in any order, all below S * Z.
  std::vector<std::uint64_t> counts(const std::vector<Integer>& thresholds,
                                    std::uint64_t samples) const {
    std::vector<std::uint64_t> drawn;
    std::size_t placed = 0;
    for (const Interval& interval : intervals(samples)) {
      const Integer first = interval.first();
      const Integer beyond = interval.beyond();
      drawn.push_back(0);
      for (const Integer& threshold : thresholds) {
        if (first <= threshold && threshold < beyond) ++drawn.back();
      }
      placed += drawn.back();
    }
    if (placed != thresholds.size()) throw std::out_of_range("threshold outside the axis");
    return drawn;
  }

 private:
  // Value of one unit of weight on the axis of masses.
  static Rational unit(const Tile& tile) {
    return power_of_two(kSamplerGuardBits - static_cast<int>(tile.distance));
  }
  static Rational least(const Rational& a, const Rational& b) { return b < a ? b : a; }

  std::vector<Tile> tiles_;
  std::size_t keys_ = 0;
};

// Thresholds of systematic sampling: S of them, Z apart, from offset U in 0..Z-1.
inline std::vector<Integer> systematic_thresholds(const Integer& mass, const Integer& offset,
                                                  std::uint64_t samples) {
  std::vector<Integer> all;
  for (std::uint64_t j = 0; j < samples; ++j) all.push_back(j * mass + offset);
  return all;
}

}  // namespace santa::oracle
