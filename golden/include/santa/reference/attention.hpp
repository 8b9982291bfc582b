// Float64 references. They share no code with the integer model and are what it is judged by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace santa::reference {

// Softmax attention of one query over one KV head in double precision (paper, equation 1).
//   query  [head_dimension]
//   keys, values  [context][head_dimension]
struct Attention {
  std::vector<double> probabilities;  // [context]
  std::vector<double> output;         // [head_dimension]; 0 without keys
  double log_sum_exp = 0.0;           // natural log; -infinity without keys
};
Attention attend(const float* query, const float* keys, const float* values, std::size_t context,
                 std::size_t head_dimension, double softmax_scale);

// Expected squared error of the sampled estimators around the exact output (paper, appendix M):
// closed forms for i.i.d. and for stratified draws.
//   probabilities  [context], sum 1
double variance_iid(const std::vector<double>& probabilities, const float* values,
                    std::size_t head_dimension, std::uint64_t samples);
double variance_stratified(const std::vector<double>& probabilities, const float* values,
                           std::size_t head_dimension, std::uint64_t samples);

// Relative L2 error of `approximation` against `exact`, both of any equal length:
// sqrt(sum (a - e)^2 / sum e^2). 0 when both are 0 everywhere.
class RelativeError {
 public:
  void add(double exact, double approximation);
  double value() const;

 private:
  double error_ = 0.0;
  double norm_ = 0.0;
};

}  // namespace santa::reference
