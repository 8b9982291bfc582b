// What computes the decode steps of the module: this processor, or the golden kernels on a GPU.
#pragma once

#include <string>
#include <vector>

#include "santa/attention/decode.hpp"

namespace santa::python {

// One group of query heads over one KV head; the cache outlives the call.
struct Work {
  const attention::KvHead* cache = nullptr;
  attention::DecodeRequest request;
  attention::DecodeOptions options;
};

// What a step answers, the same whatever computed it.
struct Answer {
  std::vector<std::int16_t> output;            // [group][head_dimension], 8.8
  std::vector<double> log_sum_exp;             // [group]
  std::vector<attention::SampledRow> rows;     // ascending by key
  std::vector<std::uint32_t> needed_features;  // ascending
  attention::OperationCounts operations;
};

std::vector<Answer> answer_on_processor(const std::vector<Work>& work);

// Why answer_on_cuda() cannot work here, or nothing.
std::string cuda_obstacle();
// All in one launch. Throws std::runtime_error if the device fails.
std::vector<Answer> answer_on_cuda(const std::vector<Work>& work);

}  // namespace santa::python
