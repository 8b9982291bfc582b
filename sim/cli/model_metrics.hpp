// What a layer adds to a decode step: the one table of additive metrics.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "santa/sim/simulation.hpp"

namespace santa::cli {

// A quantity whose sum over layers is that of the model.
struct ModelMetric {
  std::string key;  // "latency_ns", "energy_pj.total.mid", ...
  std::string unit;
  std::string sentence;
  std::function<double(const sim::UnitReport&)> value;
  std::string block = {};  // whose cycles it counts; empty for everything else
};

const std::vector<ModelMetric>& model_metrics();

// Place of a key in the table; throws std::logic_error for one that is not there.
std::size_t metric_index(const std::string& key);

// All metrics of one simulated layer, in the table's order.
std::vector<double> measure_layer(const sim::UnitReport& report);

// A sum over all layers, estimated from some of them.
struct Estimate {
  double value = 0.0;
  // Half width of the 95 % confidence interval, Student's t with the finite population's
  // correction; 0 when all layers were simulated, not a number when one of several was.
  double ci95 = 0.0;
};
Estimate estimate_sum(const std::vector<double>& sample, std::size_t population);

}  // namespace santa::cli
