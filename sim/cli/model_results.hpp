// Everything a run of `santasim model` found out.
#pragma once

#include <string>
#include <vector>

#include "input.hpp"
#include "model_metrics.hpp"
#include "model_options.hpp"
#include "santa/config/model_shape.hpp"
#include "setup.hpp"

namespace santa::cli {

struct MethodResult {
  Method method = Method::kDenseInt8;
  std::vector<std::vector<double>> layers;  // [simulated layer][metric]
  std::vector<Estimate> step;               // by metric, of all layers
  const Estimate& of(const std::string& key) const { return step[metric_index(key)]; }
};

struct ModelResult {
  ModelOptions options;
  config::HardwareConfig hardware;
  config::ModelShape model;
  InputSummary data;  // of the source that heads are drawn from
  std::size_t data_heads = 0;
  std::string energy_pack;
  std::string energy_pack_sha256;
  std::string energy_scope;
  std::vector<std::uint32_t> layers;  // that were simulated
  std::vector<MethodResult> methods;
  std::vector<std::string> notes;

  std::uint64_t heads_per_layer() const {
    return static_cast<std::uint64_t>(model.kv_heads) * options.lengths.size();
  }
  // Bytes of keys and values of all layers and requests, at the integer units' widths.
  double cache_bytes() const;
  // The dense int8 unit, if it was simulated.
  const MethodResult* dense() const;
};

// Simulates on the hardware of `setup`, which options.config and options.overrides describe. Throws
// InputError and VerificationError.
ModelResult simulate_model(const ModelOptions& options, const Setup& setup);

}  // namespace santa::cli
