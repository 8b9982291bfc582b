#include "mac_array.hpp"

namespace santa::sim {
namespace {

constexpr unsigned kKeyBits = 8;
constexpr unsigned kWeightWidth = 16;
constexpr unsigned kScoreAccumulatorBits = 32;
constexpr unsigned kValueAccumulatorBits = 48;
constexpr unsigned kScoreBits = 32;
constexpr unsigned kDividendBits = 48;

}  // namespace

MacArray::MacArray(const UnitContext& context, MacFormat format)
    : context_(context), format_(format) {
  using energy::Block;
  using energy::Operation;
  energy::EnergyMeter& meter = context_.meter;
  if (format == MacFormat::kInt8) {
    score_multiply_ = meter.operation(Block::mac_array, Operation::multiply_int, kKeyBits);
    score_add_ = meter.operation(Block::mac_array, Operation::add_int, kScoreAccumulatorBits);
    score_write_ =
        meter.operation(Block::mac_array, Operation::register_write, kScoreAccumulatorBits);
    value_multiply_ =
        meter.operation(Block::mac_array, Operation::multiply_int, kWeightWidth, kKeyBits);
    value_add_ = meter.operation(Block::mac_array, Operation::add_int, kValueAccumulatorBits);
    value_write_ =
        meter.operation(Block::mac_array, Operation::register_write, kValueAccumulatorBits);
    softmax_scale_ = meter.operation(Block::softmax_unit, Operation::multiply_int, kScoreBits, 16);
    softmax_compare_ = meter.operation(Block::softmax_unit, Operation::compare, kScoreBits);
    softmax_subtract_ = meter.operation(Block::softmax_unit, Operation::add_int, kScoreBits);
    softmax_exponential_ =
        meter.operation(Block::softmax_unit, Operation::table_read, kWeightWidth);
    softmax_shift_ = meter.operation(Block::softmax_unit, Operation::shift, kWeightWidth + 1);
    softmax_sum_ = meter.operation(Block::softmax_unit, Operation::add_int, kScoreBits);
    softmax_write_ = meter.operation(Block::softmax_unit, Operation::register_write, kScoreBits);
    divide_ = meter.operation(Block::divider, Operation::divide_int, kDividendBits);
    return;
  }
  score_multiply_ = meter.operation(Block::mac_array, Operation::multiply_fp16, 16);
  score_add_ = meter.operation(Block::mac_array, Operation::add_fp32, 32);
  score_write_ = meter.operation(Block::mac_array, Operation::register_write, 32);
  value_multiply_ = score_multiply_;
  value_add_ = score_add_;
  value_write_ = score_write_;
  softmax_scale_ = meter.operation(Block::softmax_unit, Operation::multiply_fp32, 32);
  softmax_compare_ = meter.operation(Block::softmax_unit, Operation::compare, 32);
  softmax_subtract_ = meter.operation(Block::softmax_unit, Operation::add_fp32, 32);
  softmax_exponential_ = meter.operation(Block::softmax_unit, Operation::exp_fp32, 32);
  softmax_sum_ = softmax_subtract_;
  softmax_write_ = meter.operation(Block::softmax_unit, Operation::register_write, 32);
  divide_ = meter.operation(Block::divider, Operation::divide_fp32, 32);
}

void MacArray::count_scores(std::uint64_t multiplies) {
  context_.count(score_multiply_, multiplies);
  context_.count(score_add_, multiplies);
  context_.count(score_write_, multiplies);
  OperationTotals& operations = context_.report.operations;
  operations.multiplies += multiplies;
  operations.algorithm.score_multiplies += multiplies;
  operations.algorithm.score_adds += multiplies;
}

void MacArray::count_values(std::uint64_t multiplies) {
  context_.count(value_multiply_, multiplies);
  context_.count(value_add_, multiplies);
  context_.count(value_write_, multiplies);
  OperationTotals& operations = context_.report.operations;
  operations.multiplies += multiplies;
  operations.algorithm.value_multiplies += multiplies;
  operations.algorithm.value_adds += multiplies;
  operations.value_adds_executed += multiplies;
  operations.algorithm.value_elements_read += multiplies;
}

void MacArray::count_softmax(std::uint64_t scores) {
  context_.count(softmax_scale_, scores);
  context_.count(softmax_compare_, scores);
  context_.count(softmax_subtract_, scores);
  context_.count(softmax_exponential_, scores);
  if (format_ == MacFormat::kInt8) context_.count(softmax_shift_, scores);
  context_.count(softmax_sum_, scores);
  context_.count(softmax_write_, scores);
  OperationTotals& operations = context_.report.operations;
  operations.multiplies += scores;  // the scaling
  operations.exponentials += scores;
}

void MacArray::count_divides(std::uint64_t outputs) {
  context_.count(divide_, outputs);
  context_.report.operations.divides += outputs;
  context_.report.operations.algorithm.outputs_written += outputs;
}

}  // namespace santa::sim
