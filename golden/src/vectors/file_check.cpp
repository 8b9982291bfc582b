#include "file_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "santa/arithmetic/coefficient.hpp"
#include "santa/arithmetic/weight.hpp"
#include "santa/config/message_text.hpp"
#include "santa/error.hpp"

namespace santa::vectors {
namespace {

using arithmetic::GroupRatio;
using arithmetic::kMaxScaleExponent;
using arithmetic::kMaxScaleShift;
using arithmetic::kMinScaleExponent;
using arithmetic::kOperandOne;
using arithmetic::kRatioZeroExponent;
using arithmetic::ScaleFactor;
using attention::QueryOperands;
using attention::ScoreScheme;

class Checker {
 public:
  Checker(const std::string& path, const Vector& vector)
      : path_(path), vector_(vector), query_(vector.request.request.query) {}

  void check() const {
    check_magnitudes();
    check_ratios();
    check_scales();
    check_score_range();
    check_streams();
    check_rows();
  }

 private:
  [[noreturn]] void refuse(const char* tensor, std::size_t element, std::int64_t found,
                           const std::string& allowed) const {
    throw input_error(config::escaped(path_), fmt::format("tensor \"{}\"", tensor),
                      fmt::format("got {} at element {}", found, element), allowed);
  }
  void range(const char* tensor, std::size_t element, std::int64_t found, std::int64_t low,
             std::int64_t high) const {
    if (found < low || found > high) {
      refuse(tensor, element, found, fmt::format("{} to {}", low, high));
    }
  }
  bool shared() const { return query_.scheme == ScoreScheme::kBernoulliGroup; }

  void check_magnitudes() const;
  void check_ratios() const;
  void check_scales() const;
  void check_score_range() const;
  void check_streams() const;
  void check_rows() const;
  double largest_coefficient(std::size_t head, std::size_t feature) const;

  const std::string& path_;
  const Vector& vector_;
  const QueryOperands& query_;
};

void Checker::check_magnitudes() const {
  const std::int64_t largest = query_.scheme == ScoreScheme::kExact
                                   ? std::int64_t{arithmetic::kMaxExactCoefficient} * kOperandOne
                                   : std::int64_t{kOperandOne} << query_.draws_log2;
  const bool coarse = query_.scheme == ScoreScheme::kBernoulliIid;
  for (std::size_t i = 0; i < query_.magnitude.size(); ++i) {
    range("query.magnitude", i, query_.magnitude[i], 0, largest);
    if (coarse && query_.magnitude[i] % (1U << query_.draws_log2) != 0) {
      refuse("query.magnitude", i, query_.magnitude[i],
             fmt::format("multiples of {}", 1U << query_.draws_log2));
    }
  }
  for (std::size_t i = 0; i < query_.negative.size(); ++i) {
    range("query.negative", i, static_cast<std::int8_t>(query_.negative[i]), 0, 1);
  }
}

// A head's share of the mean cannot exceed the group.
void Checker::check_ratios() const {
  std::int64_t largest = 0;
  while ((1U << largest) < query_.group) ++largest;
  for (std::size_t i = 0; i < query_.ratio.size(); ++i) {
    const GroupRatio& ratio = query_.ratio[i];
    range("query.ratio_exponent", i, ratio.exponent, kRatioZeroExponent, largest);
    if (ratio.exponent == largest) {
      range("query.ratio_probability", i, ratio.upper_probability, 0, 0);
    }
  }
}

void Checker::check_scales() const {
  constexpr std::size_t kFields = 5;
  for (std::size_t i = 0; i < query_.scale.size(); ++i) {
    const ScaleFactor& scale = query_.scale[i];
    const auto field = [&](std::size_t offset, int found, int low, int high) {
      range("query.scale", kFields * i + offset, found, low, high);
    };
    field(0, scale.exponent, kMinScaleExponent, kMaxScaleExponent);
    field(1, scale.sign_a, -1, 1);
    field(2, static_cast<std::int8_t>(scale.shift_a), 1, static_cast<int>(kMaxScaleShift));
    field(3, scale.sign_b, -1, 1);
    field(4, static_cast<std::int8_t>(scale.shift_b), 1, static_cast<int>(kMaxScaleShift));
  }
}

double Checker::largest_coefficient(std::size_t head, std::size_t feature) const {
  const std::size_t index = head * query_.head_dimension + feature;
  const std::uint32_t a = query_.magnitude[shared() ? feature : index];
  if (query_.scheme == ScoreScheme::kBernoulliIid) return a == 0 ? 0.0 : 1U << query_.draws_log2;
  const double count = std::ceil(static_cast<double>(a) / kOperandOne);
  if (!shared()) return count;
  const GroupRatio& ratio = query_.ratio[index];
  const int upper = ratio.upper_probability != 0 ? 1 : 0;
  return count *
         std::ldexp(1.0, ratio.exponent + upper + static_cast<int>(arithmetic::kRatioFractionBits));
}

// Scores keep their 8 fraction bits within int32.
void Checker::check_score_range() const {
  constexpr double kScoreLimit = 4194304.0;  // 2^22
  for (std::size_t g = 0; g < query_.group; ++g) {
    double largest = 0.0;
    for (std::size_t i = 0; i < query_.head_dimension; ++i) {
      largest += largest_coefficient(g, i) * arithmetic::kMaxKeyMagnitude;
    }
    largest *= attention::scale_value(query_.scale[shared() ? 0 : g]);
    if (largest >= kScoreLimit) {
      throw input_error(config::escaped(path_), "tensor \"query.scale\"",
                        fmt::format("scores of head {} could reach {:.0f}", g, largest),
                        "below 2^22 in the log2 domain");
    }
  }
}

// A shift register that holds 0 stays there.
void Checker::check_streams() const {
  const Request& r = vector_.request;
  if (attention::is_bernoulli(query_.scheme) && r.request.score_stream == 0) {
    refuse("score_stream", 0, 0, "any state but 0 for Bernoulli scores");
  }
  const std::vector<std::uint64_t>& streams = r.request.value_streams;
  const auto zero = std::find(streams.begin(), streams.end(), 0U);
  if (attention::is_sampled(r.options.values) && zero != streams.end()) {
    refuse("value_streams", static_cast<std::size_t>(zero - streams.begin()), 0,
           "any state but 0 for sampled values");
  }
}

void Checker::check_rows() const {
  const std::vector<attention::SampledRow>& rows = vector_.results.rows;
  std::int64_t least = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].key < least || rows[i].key >= vector_.request.context) {
      refuse("result.row_keys", i, rows[i].key,
             fmt::format("rising keys below {}", vector_.request.context));
    }
    least = std::int64_t{rows[i].key} + 1;
  }
}

}  // namespace

void check_values(const std::string& path, const Vector& vector) {
  Checker(path, vector).check();
}

}  // namespace santa::vectors
