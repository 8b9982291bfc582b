#include "santa/reference/systematic.hpp"

#include <algorithm>
#include <cmath>

namespace santa::reference {
namespace {

// A threshold passes from key `key` to the next when the offset, in strata, reaches `offset`.
struct Passage {
  double offset;
  std::size_t key;
};

}  // namespace

double variance_systematic(const std::vector<double>& probabilities, const float* values,
                           std::size_t head_dimension, std::uint64_t samples) {
  const double strata = static_cast<double>(samples);
  const std::size_t keys = probabilities.size();
  if (keys == 0) return 0.0;
  // Rows as float64, the mean, and the estimate for an offset of 0.
  const auto row = [&](std::size_t n) { return values + n * head_dimension; };
  std::vector<double> distance(head_dimension, 0.0);  // estimate less mean
  std::vector<Passage> passages;
  double cumulative = 0.0;      // in strata
  std::uint64_t threshold = 0;  // the next one, at offset 0
  for (std::size_t n = 0; n < keys; ++n) {
    cumulative += probabilities[n] * strata;
    std::uint64_t drawn = 0;
    const bool last = n + 1 == keys;
    while (threshold < samples && (last || static_cast<double>(threshold) < cumulative)) {
      ++drawn;
      ++threshold;
    }
    for (std::size_t i = 0; i < head_dimension; ++i) {
      distance[i] +=
          (static_cast<double>(drawn) / strata - probabilities[n]) * static_cast<double>(row(n)[i]);
    }
    // At a whole number the passage is at offset 0, and drawn above.
    const double offset = cumulative - std::floor(cumulative);
    if (!last && cumulative < strata && offset > 0.0) passages.push_back({offset, n});
  }
  std::stable_sort(passages.begin(), passages.end(),
                   [](const Passage& a, const Passage& b) { return a.offset < b.offset; });
  const auto squared = [&] {
    double sum = 0.0;
    for (const double x : distance) sum += x * x;
    return sum;
  };
  double variance = 0.0;
  double offset = 0.0;
  for (const Passage& passage : passages) {
    variance += (passage.offset - offset) * squared();
    offset = passage.offset;
    const float* from = row(passage.key);
    const float* to = row(passage.key + 1);
    for (std::size_t i = 0; i < head_dimension; ++i) {
      distance[i] += (static_cast<double>(to[i]) - static_cast<double>(from[i])) / strata;
    }
  }
  return variance + (1.0 - offset) * squared();
}

std::vector<double> drawn_iid(const std::vector<double>& probabilities, std::uint64_t samples) {
  std::vector<double> drawn;
  for (const double p : probabilities) {
    drawn.push_back(-std::expm1(static_cast<double>(samples) * std::log1p(-std::min(p, 1.0))));
  }
  return drawn;
}

std::vector<double> drawn_stratified(const std::vector<double>& probabilities,
                                     std::uint64_t samples) {
  const double strata = static_cast<double>(samples);
  std::vector<double> drawn;
  double begin = 0.0;  // of the key on the axis, in strata
  for (const double p : probabilities) {
    const double end = begin + p * strata;
    double missed = 1.0;
    for (double stratum = std::floor(begin); stratum < end; stratum += 1.0) {
      missed *= 1.0 - std::min(1.0, std::min(end, stratum + 1.0) - std::max(begin, stratum));
    }
    drawn.push_back(1.0 - missed);
    begin = end;
  }
  return drawn;
}

std::vector<double> drawn_systematic(const std::vector<double>& probabilities,
                                     std::uint64_t samples) {
  std::vector<double> drawn;
  for (const double p : probabilities) {
    drawn.push_back(std::min(1.0, p * static_cast<double>(samples)));
  }
  return drawn;
}

}  // namespace santa::reference
