// `santasim compare`: two results side by side.
#pragma once

#include <string>
#include <vector>

#include "options.hpp"
#include "statistics.hpp"

namespace santa::cli {

struct ComparedNumber {
  std::string key;
  std::string unit;  // empty where there is none
  double a = 0.0;
  double b = 0.0;
};

struct ComparedChoice {
  std::string key;
  Json a;  // null where that result has no such key
  Json b;
};

struct Comparison {
  std::vector<ComparedChoice> choices;  // of provenance, input, options and configuration
  std::vector<ComparedNumber> numbers;  // that both have, in the order of the first
  std::vector<std::string> only_a;      // numbers that the other does not have
  std::vector<std::string> only_b;
};

// Throws InputError, naming the first key that differs, for results of different inputs unless
// `other_input`; `names` are those of the files.
Comparison compare_results(const Json& a, const Json& b, bool other_input,
                           const std::pair<std::string, std::string>& names);

// The command.
void compare(const CompareOptions& options);

}  // namespace santa::cli
