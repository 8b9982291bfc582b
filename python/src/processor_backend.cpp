#include <utility>

#include "backend.hpp"

namespace santa::python {

std::vector<Answer> answer_on_processor(const std::vector<Work>& work) {
  std::vector<Answer> answers;
  answers.reserve(work.size());
  attention::DecodeWorkspace workspace;
  for (const Work& one : work) {
    attention::DecodeResult result =
        attention::decode(*one.cache, one.cache->context, one.request, one.options, workspace);
    answers.push_back({std::move(result.output), std::move(result.log_sum_exp),
                       std::move(result.rows), std::move(result.query.needed_features),
                       result.operations});
  }
  return answers;
}

}  // namespace santa::python
