// Values of a sweep's random keys. The same seed gives the same values on every machine.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "santa/config/yaml_reader.hpp"

namespace santa::cli {

// How the values of one key are drawn, as `random.keys` states it.
class RandomKey {
 public:
  // Reads {draw: choice, values: [...]} or {draw: KIND, from: A, to: B}. Throws InputError.
  explicit RandomKey(const config::Node& map);

  std::string draw(std::mt19937_64& generator) const;

 private:
  enum class Kind : std::uint8_t {
    kChoice,
    kInteger,
    kLogInteger,
    kPowerOfTwo,
    kNumber,
    kLogNumber
  };

  Kind kind_ = Kind::kChoice;
  std::vector<std::string> values_;
  double from_ = 0.0;
  double to_ = 0.0;
};

}  // namespace santa::cli
