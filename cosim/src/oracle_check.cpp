#include "santa/cosim/oracle_check.hpp"

#include <algorithm>

#include "oracle/exact_sampler.hpp"

namespace santa::cosim {
namespace {

using oracle::Integer;
using oracle::Rational;

constexpr int kOutputOne = 256;  // 8 fraction bits

oracle::Head exact_head(const ObservedHead& head) {
  const std::int64_t largest = *std::max_element(head.exponents.begin(), head.exponents.end());
  std::vector<oracle::Tile> tiles;
  for (std::size_t t = 0; t < head.weights.size(); ++t) {
    // 2^8 times a sum below 2^26 over 2^64 is below 1: any larger distance means the same, that the
    // tile owns no point, and would only make the rationals long.
    const std::int64_t distance = std::min<std::int64_t>(largest - head.exponents[t], 64);
    tiles.push_back({head.weights[t], static_cast<unsigned>(distance)});
  }
  return oracle::Head(std::move(tiles));
}

// How many of the thresholds j Z + U, j = 0..S-1, an interval of the axis holds.
Integer thresholds_in(const oracle::Interval& interval, const Integer& mass,
                      const Integer& offset) {
  const auto below = [&](const Integer& point) {  // j with j Z + U < point
    if (point <= offset) return Integer(0);
    return oracle::ceil_of(Rational(Integer(point - offset), mass));
  };
  return below(interval.beyond()) - below(interval.first());
}

Integer nearest_even(const Rational& value) {
  const Integer low = oracle::floor_of(value);
  const Rational rest = value - Rational(low);
  const bool up = rest > Rational(1, 2) || (rest == Rational(1, 2) && low % 2 != 0);
  return up ? Integer(low + 1) : low;
}

}  // namespace

std::optional<OracleFinding> check_counts(const ObservedHead& head, unsigned samples_log2,
                                          std::uint64_t& checked) {
  const oracle::Head exact = exact_head(head);
  const Integer mass = exact.mass();
  const std::uint64_t samples = std::uint64_t{1} << samples_log2;
  if (mass != head.mass) {
    return OracleFinding{"mass Z", std::to_string(head.mass), mass.str()};
  }
  if (head.offset >= head.mass) {
    return OracleFinding{"offset U", std::to_string(head.offset), "below Z = " + mass.str()};
  }
  const std::vector<oracle::Interval> intervals = exact.intervals(samples);
  for (std::size_t key = 0; key < intervals.size(); ++key) {
    const Integer count = thresholds_in(intervals[key], mass, Integer(head.offset));
    ++checked;
    if (count != head.counts[key]) {
      return OracleFinding{"count of key " + std::to_string(key), std::to_string(head.counts[key]),
                           count.str()};
    }
  }
  return std::nullopt;
}

std::optional<OracleFinding> check_outputs(const std::vector<std::uint64_t>& counts,
                                           unsigned samples_log2, const std::int8_t* values,
                                           std::uint32_t stride,
                                           const std::vector<std::int16_t>& outputs,
                                           std::uint64_t& checked) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Integer sum = 0;
    for (std::size_t key = 0; key < counts.size(); ++key) {
      if (counts[key] == 0) continue;
      sum += Integer(counts[key]) * int{values[key * stride + i]};
    }
    const Integer samples = Integer(1) << samples_log2;
    const Integer exact = nearest_even(Rational(Integer(sum * kOutputOne), samples));
    ++checked;
    if (exact != int{outputs[i]}) {
      return OracleFinding{"output of feature " + std::to_string(i), std::to_string(outputs[i]),
                           exact.str()};
    }
  }
  return std::nullopt;
}

}  // namespace santa::cosim
