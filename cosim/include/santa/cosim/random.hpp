// Random numbers of the harness: the same on every platform, and no code shared with the unit's
// generators.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace santa::cosim {

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) as a sequence.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  // 0..bound-1; the bias is below bound / 2^32.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }
  // Both ends included.
  std::int32_t between(std::int32_t low, std::int32_t high) {
    return low + static_cast<std::int32_t>(
                     below(static_cast<std::uint32_t>(std::int64_t{high} - low) + 1));
  }
  bool chance(double probability) {
    return static_cast<double>(next() >> 11) * 0x1p-53 < probability;
  }
  template <typename T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[below(static_cast<std::uint32_t>(choices.size()))];
  }
  // A generator of its own, so that one part of a test does not shift the numbers of another.
  Random fork() { return Random(next()); }

 private:
  std::uint64_t state_;
};

}  // namespace santa::cosim
