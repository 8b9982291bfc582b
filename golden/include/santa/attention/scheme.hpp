// Names of the score and value schemes, as the command line and the traces spell them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "santa/arithmetic/host_device.hpp"

namespace santa::attention {

// How scores are computed (paper section 5 and appendix C).
enum class ScoreScheme : std::uint8_t {
  kExact,           // 8-bit coefficients, no randomness
  kBernoulli,       // B stratified Bernoulli draws a feature
  kBernoulliIid,    // B independent Bernoulli draws a feature
  kBernoulliGroup,  // one stratified mean query for the whole group (equation 6)
};

// How values are aggregated (paper section 2 and appendix A).
enum class ValueScheme : std::uint8_t {
  kSanta,       // S independent draws
  kStratified,  // one draw in each of S strata, independent offsets
  kSystematic,  // one draw in each of S strata, one offset
  kTopK,        // the k largest scores, renormalised
  kDense,       // every row
};

struct SchemeName {
  std::string_view name;
  std::uint8_t value;
};
inline constexpr std::array<SchemeName, 4> kScoreSchemeNames = {{
    {"exact", static_cast<std::uint8_t>(ScoreScheme::kExact)},
    {"bernoulli", static_cast<std::uint8_t>(ScoreScheme::kBernoulli)},
    {"bernoulli-iid", static_cast<std::uint8_t>(ScoreScheme::kBernoulliIid)},
    {"bernoulli-group", static_cast<std::uint8_t>(ScoreScheme::kBernoulliGroup)},
}};
inline constexpr std::array<SchemeName, 5> kValueSchemeNames = {{
    {"santa", static_cast<std::uint8_t>(ValueScheme::kSanta)},
    {"strat", static_cast<std::uint8_t>(ValueScheme::kStratified)},
    {"sys", static_cast<std::uint8_t>(ValueScheme::kSystematic)},
    {"topk", static_cast<std::uint8_t>(ValueScheme::kTopK)},
    {"dense", static_cast<std::uint8_t>(ValueScheme::kDense)},
}};

constexpr std::string_view to_string(ScoreScheme scheme) {
  return kScoreSchemeNames[static_cast<std::size_t>(scheme)].name;
}
constexpr std::string_view to_string(ValueScheme scheme) {
  return kValueSchemeNames[static_cast<std::size_t>(scheme)].name;
}
SANTA_HD constexpr bool is_sampled(ValueScheme scheme) {
  return scheme == ValueScheme::kSanta || scheme == ValueScheme::kStratified ||
         scheme == ValueScheme::kSystematic;
}
SANTA_HD constexpr bool is_bernoulli(ScoreScheme scheme) {
  return scheme != ScoreScheme::kExact;
}

}  // namespace santa::attention
