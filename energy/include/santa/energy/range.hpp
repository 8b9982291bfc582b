// A value with its uncertainty, carried through every sum.
#pragma once

namespace santa::energy {

// Low, mid and high of one quantity in one unit. The low of a sum is the sum of the lows: the terms
// are taken as fully correlated, which bounds the total and is wider than independent errors.
struct Range {
  double low = 0.0;
  double mid = 0.0;
  double high = 0.0;

  constexpr Range& operator+=(const Range& other) {
    low += other.low;
    mid += other.mid;
    high += other.high;
    return *this;
  }
  friend constexpr Range operator+(Range a, const Range& b) { return a += b; }
  friend constexpr Range operator*(const Range& a, double factor) {
    return {a.low * factor, a.mid * factor, a.high * factor};
  }
  // Member by member, for factors that have a range of their own.
  friend constexpr Range operator*(const Range& a, const Range& b) {
    return {a.low * b.low, a.mid * b.mid, a.high * b.high};
  }
};

}  // namespace santa::energy
