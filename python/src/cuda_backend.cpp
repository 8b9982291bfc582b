// Decode steps through the golden kernels (gpu/golden). What the kernels do not write follows from
// what they do.
#include <memory>

#include "backend.hpp"
#include "santa/arithmetic/coefficient.hpp"
#include "santa/gpu/golden_producer.hpp"

namespace santa::python {
namespace {

using attention::OperationCounts;

// Of a query head: keys that it drew, and how often in all.
struct Draws {
  std::uint64_t keys = 0;
  std::uint64_t total = 0;
};

std::vector<Draws> draws_of(const vectors::Results& results, std::uint32_t group) {
  std::vector<Draws> draws(group);
  for (const attention::SampledRow& row : results.rows) {
    for (std::uint32_t g = 0; g < group; ++g) {
      draws[g].keys += row.counts[g] > 0 ? 1 : 0;
      draws[g].total += row.counts[g];
    }
  }
  return draws;
}

OperationCounts operations_of(const vectors::Request& request, const vectors::Results& results,
                              std::size_t features) {
  const std::uint64_t context = request.context;
  const std::uint64_t d = request.head_dimension();
  const std::uint32_t group = request.group();
  OperationCounts counts;
  counts.scores_written = context * group;
  counts.outputs_written = results.output.size();
  if (attention::is_sampled(request.options.values)) {
    counts.key_elements_read = features * context;
    for (const std::int16_t coefficient : *results.coefficients) {
      counts.score_adds +=
          static_cast<std::uint64_t>(arithmetic::digit_count(coefficient)) * context;
    }
    for (const Draws& draws : draws_of(results, group)) counts.value_adds += draws.total * d;
  } else {
    counts.key_elements_read = context * d;
    counts.score_adds = counts.key_elements_read * group;
    counts.score_multiplies = counts.score_adds;
    if (request.options.values == attention::ValueScheme::kDense) {
      counts.value_adds = context * d * group;
    } else {
      for (const Draws& draws : draws_of(results, group)) counts.value_adds += draws.keys * d;
    }
    counts.value_multiplies = counts.value_adds;
  }
  counts.value_elements_read = counts.value_adds;
  return counts;
}

// Features that some head of the group needs.
std::vector<std::uint32_t> needed_features(const vectors::Results& results, std::uint32_t group,
                                           std::uint32_t head_dimension) {
  std::vector<std::uint32_t> features;
  for (std::uint32_t i = 0; i < head_dimension; ++i) {
    bool needed = false;
    for (std::uint32_t g = 0; g < group; ++g) {
      needed =
          needed || (*results.coefficients)[static_cast<std::size_t>(g) * head_dimension + i] != 0;
    }
    if (needed) features.push_back(i);
  }
  return features;
}

Answer answer_of(const vectors::Request& request, vectors::Results&& results) {
  Answer answer;
  for (const vectors::HeadResult& head : results.heads) {
    attention::HeadStatistics statistics;
    statistics.exponent = head.exponent;
    statistics.mass = head.mass;
    answer.log_sum_exp.push_back(attention::log_sum_exp(statistics));
  }
  answer.needed_features = needed_features(results, request.group(), request.head_dimension());
  answer.operations = operations_of(request, results, answer.needed_features.size());
  answer.output = std::move(results.output);
  answer.rows = std::move(results.rows);
  return answer;
}

}  // namespace

std::string cuda_obstacle() {
  return gpu::golden_obstacle();
}

std::vector<Answer> answer_on_cuda(const std::vector<Work>& work) {
  std::vector<vectors::Request> requests;
  for (const Work& one : work) {
    vectors::Request request;
    request.cache = {std::shared_ptr<const void>(), one.cache};  // the caller's
    request.context = one.cache->context;
    request.request = one.request;
    request.options = one.options;
    requests.push_back(std::move(request));
  }
  std::vector<vectors::Results> results = gpu::GoldenCudaProducer().answer_all(requests);
  std::vector<Answer> answers;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    answers.push_back(answer_of(requests[i], std::move(results[i])));
  }
  return answers;
}

}  // namespace santa::python
