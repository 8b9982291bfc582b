// The table of keys of a result of `santasim model`, as statistics.hpp has it for `santasim run`.
#pragma once

#include <vector>

#include "model_results.hpp"
#include "statistics.hpp"

namespace santa::cli {

// One method of a run.
struct MethodView {
  const ModelResult& run;
  const MethodResult& method;
};

// Keys of the whole run.
const std::vector<Statistic<ModelResult>>& model_statistics();

// Keys of one method, under "methods.dense.", "methods.sampled.", ...
const std::vector<Statistic<MethodView>>& method_statistics();

// What tables and results derive from the metrics of a step.
double tokens_per_s(const MethodView& view);
double per_token(const MethodView& view, const Estimate& estimate);

Json make_report(const ModelResult& run);
std::string make_table(const ModelResult& run);
std::string make_tsv(const ModelResult& run);

}  // namespace santa::cli
