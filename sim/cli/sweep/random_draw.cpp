#include "sweep/random_draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace santa::cli {
namespace {

// Integers up to here are exact as float64.
constexpr std::int64_t kLargestInteger = std::int64_t{1} << 53U;
constexpr double kLargestNumber = 1e300;
constexpr double kSmallestLogNumber = 1e-300;

// Uniform in [0, 1). Not std::uniform_real_distribution: its values differ between libraries.
double uniform(std::mt19937_64& generator) {
  constexpr unsigned kUnusedBits = 11;
  constexpr double kStep = 0x1p-53;
  return static_cast<double>(generator() >> kUnusedBits) * kStep;
}

}  // namespace

RandomKey::RandomKey(const config::Node& map)
    : kind_(map.choice<Kind>("draw", {{"choice", Kind::kChoice},
                                      {"integer", Kind::kInteger},
                                      {"log-integer", Kind::kLogInteger},
                                      {"power-of-two", Kind::kPowerOfTwo},
                                      {"number", Kind::kNumber},
                                      {"log-number", Kind::kLogNumber}})) {
  switch (kind_) {
    case Kind::kChoice:
      for (const config::Node& value : map.list("values", 1)) values_.push_back(value.as_text());
      return;
    case Kind::kInteger:
    case Kind::kLogInteger: {
      const std::int64_t smallest = kind_ == Kind::kInteger ? 0 : 1;
      const std::int64_t from = map.integer("from", smallest, kLargestInteger);
      from_ = static_cast<double>(from);
      to_ = static_cast<double>(map.integer("to", from, kLargestInteger));
      return;
    }
    case Kind::kPowerOfTwo: {
      const std::int64_t from = map.power_of_two("from", 1, kLargestInteger);
      from_ = static_cast<double>(from);
      to_ = static_cast<double>(map.power_of_two("to", from, kLargestInteger));
      return;
    }
    case Kind::kNumber:
    case Kind::kLogNumber:
      from_ = map.number("from", kind_ == Kind::kNumber ? -kLargestNumber : kSmallestLogNumber,
                         kLargestNumber);
      to_ = map.number("to", from_, kLargestNumber);
      return;
  }
}

std::string RandomKey::draw(std::mt19937_64& generator) const {
  const double u = uniform(generator);
  const auto integer = [](double value) {
    return std::to_string(static_cast<std::int64_t>(value));
  };
  switch (kind_) {
    case Kind::kChoice:
      return values_[static_cast<std::size_t>(u * static_cast<double>(values_.size()))];
    case Kind::kInteger:
      return integer(std::min(to_, std::floor(from_ + u * (to_ - from_ + 1.0))));
    case Kind::kLogInteger:
      return integer(std::min(to_, std::floor(from_ * std::pow((to_ + 1.0) / from_, u))));
    case Kind::kPowerOfTwo: {
      const double octaves = std::log2(to_ / from_);
      return integer(from_ * std::exp2(std::floor(u * (octaves + 1.0))));
    }
    case Kind::kNumber:
      return fmt::format("{:.6g}", from_ + u * (to_ - from_));
    case Kind::kLogNumber:
      break;
  }
  return fmt::format("{:.6g}", from_ * std::pow(to_ / from_, u));
}

}  // namespace santa::cli
