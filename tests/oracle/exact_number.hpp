// Integers and rationals of any size for oracles. Include this instead of Boost's headers: g++ 12
// takes the inline storage of a small cpp_int for uninitialised once it is inlined.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <boost/multiprecision/cpp_int.hpp>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

namespace santa::oracle {

using Integer = boost::multiprecision::cpp_int;
using Rational = boost::multiprecision::cpp_rational;

// 2^exponent, exponent of either sign.
inline Rational power_of_two(int exponent) {
  const Integer power = Integer(1) << static_cast<unsigned>(exponent < 0 ? -exponent : exponent);
  return exponent < 0 ? Rational(Integer(1), power) : Rational(power);
}

// Largest integer that is not above `value`.
inline Integer floor_of(const Rational& value) {
  const Integer numerator = boost::multiprecision::numerator(value);
  const Integer denominator = boost::multiprecision::denominator(value);
  Integer quotient = numerator / denominator;  // towards zero
  if (numerator.sign() < 0 && quotient * denominator != numerator) quotient -= 1;
  return quotient;
}

// Smallest integer that is not below `value`.
inline Integer ceil_of(const Rational& value) {
  return -floor_of(-value);
}

}  // namespace santa::oracle
