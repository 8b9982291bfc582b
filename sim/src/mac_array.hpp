// Energy and cycles of multiply-accumulate arithmetic, shared by the dense and the top-k unit.
#pragma once

#include "unit_context.hpp"

namespace santa::sim {

enum class MacFormat { kInt8, kFp16 };

inline std::uint64_t element_bytes(MacFormat format) {
  return format == MacFormat::kInt8 ? 1 : 2;
}

class MacArray {
 public:
  MacArray(const UnitContext& context, MacFormat format);

  std::uint64_t cycles(std::uint64_t multiplies) const {
    return divide_up(multiplies,
                     context_.config_u64(context_.hardware.baselines.dense_multipliers));
  }
  // q.k: int8 x int8 into int32, or fp16 x fp16 into fp32.
  void count_scores(std::uint64_t multiplies);
  // Weight times value: 16-bit weight x int8 into 48 bits, or fp16 x fp16 into fp32.
  void count_values(std::uint64_t multiplies);
  // Scaling, maximum, exponential and sum of `scores` scores; the int8 unit does it as the sampled
  // unit's weight_unit does.
  void count_softmax(std::uint64_t scores);
  // The final division of `outputs` outputs.
  void count_divides(std::uint64_t outputs);

 private:
  UnitContext context_;
  MacFormat format_;
  energy::Handle score_multiply_;
  energy::Handle score_add_;
  energy::Handle score_write_;
  energy::Handle value_multiply_;
  energy::Handle value_add_;
  energy::Handle value_write_;
  energy::Handle softmax_scale_;
  energy::Handle softmax_compare_;
  energy::Handle softmax_subtract_;
  energy::Handle softmax_exponential_;
  energy::Handle softmax_shift_;
  energy::Handle softmax_sum_;
  energy::Handle softmax_write_;
  energy::Handle divide_;
};

}  // namespace santa::sim
