#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "head_pool.hpp"
#include "model_results.hpp"
#include "progress.hpp"
#include "sanitizer.hpp"
#include "santa/arithmetic/lfsr.hpp"
#include "santa/attention/query.hpp"
#include "santa/config/preset.hpp"
#include "santa/energy/meter.hpp"
#include "santa/energy/pack.hpp"
#include "santa/energy/report.hpp"
#include "santa/error.hpp"
#include "sha256.hpp"
#include "worker_processes.hpp"

namespace santa::cli {
namespace {

using arithmetic::StreamPurpose;

constexpr std::uint32_t kGaussianHeads = 8;
constexpr std::uint32_t kGaussianTokens = 8192;
// Keeps the drawing of data apart from the draws of the units, whatever the two seeds.
constexpr std::uint64_t kDataRequest = std::uint64_t{1} << 32;
constexpr std::uint64_t kLayerRequest = kDataRequest + 1000;

config::ModelShape load_model(const ModelOptions& options, const config::HardwareConfig& hardware) {
  config::ModelShape model = config::load_model_shape(config::find_config("models", options.model));
  config::require_fit(hardware, model);
  return model;
}

Input open_data(const ModelOptions& options, const config::ModelShape& model) {
  InputOptions data = options.data;
  if (data.kind == InputKind::kSynthetic) {
    const auto group = static_cast<std::uint32_t>(model.group());
    data.shape = {group * kGaussianHeads, kGaussianHeads,
                  static_cast<std::uint32_t>(model.head_dimension), kGaussianTokens};
  }
  return open_input(data);
}

// What the energy of every report is the sum of.
std::string scope_of(const energy::EnergyPack& pack, const config::HardwareConfig& hardware) {
  energy::EnergyMeter meter(
      pack,
      {config::name_of(hardware.memory.kind), static_cast<unsigned>(hardware.memory.devices), 1.0,
       energy::MeterSettings{}.max_windows, static_cast<unsigned>(hardware.system.units)});
  return meter.finish(1.0).scope;
}

// Layers to simulate, rising: all, or some drawn without replacement.
std::vector<std::uint32_t> choose_layers(const ModelOptions& options, std::uint32_t layers) {
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t l = 0; l < layers; ++l) chosen.push_back(l);
  if (!options.sample_layers) return chosen;
  if (*options.sample_layers > layers) {
    throw input_error("--sample-layers", "", fmt::format("got {}", *options.sample_layers),
                      fmt::format("1 to {}, the layers of the model", layers));
  }
  arithmetic::Lfsr64 random(arithmetic::derive_stream(
      options.data.data_seed, {kLayerRequest, 0, 0, options.step, StreamPurpose::kScores}));
  for (std::uint32_t i = 0; i < *options.sample_layers; ++i) {
    std::swap(chosen[i], chosen[i + arithmetic::draw_below(random, layers - i)]);
  }
  chosen.resize(*options.sample_layers);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

sim::UnitRequest unit_of(Method method, const ModelOptions& options) {
  attention::DecodeOptions decode = options.decode;
  decode.scores = attention::ScoreScheme::kExact;
  switch (method) {
    case Method::kDenseInt8:
      decode.values = attention::ValueScheme::kDense;
      return {sim::UnitKind::kDenseInt8, decode};
    case Method::kDenseFp16:
      decode.values = attention::ValueScheme::kDense;
      return {sim::UnitKind::kDenseFp16, decode};
    case Method::kTopK:
      decode.values = attention::ValueScheme::kTopK;
      decode.samples = options.top_k;
      return {sim::UnitKind::kTopK, decode};
    case Method::kSampled:
      break;
    case Method::kSampledBernoulli:
      return {sim::UnitKind::kSampled, options.decode};
  }
  return {sim::UnitKind::kSampled, decode};
}

// All requests of one layer, and the caches that they point to.
struct Layer {
  std::deque<attention::KvHead> caches;
  std::vector<sim::Job> jobs;
};

// The same for every method, but for the operands of its scores.
Layer make_layer(const ModelResult& run, HeadPool& pool, std::uint32_t layer,
                 attention::ScoreScheme scores) {
  const ModelOptions& options = run.options;
  const auto group = static_cast<std::uint32_t>(run.model.group());
  Layer result;
  for (std::uint32_t b = 0; b < options.lengths.size(); ++b) {
    for (std::uint32_t h = 0; h < static_cast<std::uint32_t>(run.model.kv_heads); ++h) {
      HeadPool::Draw draw = pool.draw(
          options.lengths[b], arithmetic::derive_stream(options.data.data_seed,
                                                        {kDataRequest + b, layer, h, options.step,
                                                         StreamPurpose::kScores}));
      result.caches.push_back(std::move(draw.cache));
      const attention::KvHead& cache = result.caches.back();
      const auto operands = [&](attention::ScoreScheme scheme) {
        return attention::prepare_query(draw.query.data(), group, cache.head_dimension,
                                        cache.key_scale.data(), draw.softmax_scale, scheme,
                                        options.decode.bernoulli_draws);
      };
      const auto stream = [&](std::uint64_t head, StreamPurpose purpose) {
        return arithmetic::derive_stream(options.seed, {b, layer, head, options.step, purpose});
      };
      sim::Job job;
      job.layer = layer;
      job.kv_head = h;
      job.cache = &cache;
      job.append = true;
      job.request.query = operands(scores);
      job.request.score_stream = stream(h, StreamPurpose::kScores);
      for (std::uint32_t g = 0; g < group; ++g) {
        job.request.value_streams.push_back(
            stream(std::uint64_t{h} * group + g, StreamPurpose::kValues));
      }
      job.exact_query = operands(attention::ScoreScheme::kExact);
      result.jobs.push_back(std::move(job));
    }
  }
  return result;
}

std::vector<double> simulate_layer(const ModelResult& run, HeadPool& pool,
                                   const energy::EnergyPack& pack, std::uint32_t layer,
                                   Method method) {
  const sim::UnitRequest unit = unit_of(method, run.options);
  Layer work = make_layer(run, pool, layer, unit.options.scores);
  sim::SimulationRequest request;
  request.hardware = &run.hardware;
  request.energy_pack = &pack;
  request.jobs = std::move(work.jobs);
  request.units = {unit};
  request.dense_outputs = false;
  const sim::UnitReport report = std::move(sim::simulate(request).front());
  restore_stack_bounds();
  energy::check_report(report.energy);
  return measure_layer(report);
}

void add_notes(ModelResult& run) {
  const auto longest = *std::max_element(run.options.lengths.begin(), run.options.lengths.end());
  if (longest > run.model.max_context) {
    run.notes.push_back(fmt::format("{} tokens are beyond the {} that the model was made for",
                                    longest, run.model.max_context));
  }
  for (const std::string& note : run.data.notes) run.notes.push_back(note);
}

}  // namespace

double ModelResult::cache_bytes() const {
  double tokens = 0.0;
  for (const std::uint32_t length : options.lengths) tokens += length;
  const auto bits = static_cast<double>(hardware.system.key_bits + hardware.system.value_bits);
  const auto elements = static_cast<double>(model.layers * model.kv_heads * model.head_dimension);
  return tokens * elements * bits / 8.0;
}

const MethodResult* ModelResult::dense() const {
  for (const MethodResult& method : methods) {
    if (method.method == Method::kDenseInt8) return &method;
  }
  return nullptr;
}

ModelResult simulate_model(const ModelOptions& options, const Setup& setup) {
  ModelResult run;
  run.options = options;
  run.hardware = setup.hardware;
  run.model = load_model(options, run.hardware);
  const auto pack = energy::EnergyPack::load(setup.pack_file);
  run.energy_pack = pack.name();
  run.energy_pack_sha256 = sha256_of_file(setup.pack_file);
  run.energy_scope = scope_of(pack, run.hardware);
  const Input input = open_data(options, run.model);
  run.data = input.summary;
  HeadPool pool(input, static_cast<std::uint32_t>(run.model.head_dimension),
                static_cast<std::uint32_t>(run.model.group()), cache_format(run.hardware));
  run.data_heads = pool.sources();
  run.layers = choose_layers(options, static_cast<std::uint32_t>(run.model.layers));
  add_notes(run);

  const std::size_t layers = run.layers.size();
  const std::size_t tasks = layers * options.methods.size();
  Progress progress;
  const std::vector<std::vector<double>> results = run_in_processes(
      tasks, options.jobs,
      [&](std::size_t task) {
        return simulate_layer(run, pool, pack, run.layers[task / options.methods.size()],
                              options.methods[task % options.methods.size()]);
      },
      [&](std::size_t finished) {
        progress.show("simulating", static_cast<double>(finished) / static_cast<double>(tasks));
      });
  for (std::size_t m = 0; m < options.methods.size(); ++m) {
    MethodResult method;
    method.method = options.methods[m];
    for (std::size_t l = 0; l < layers; ++l) {
      method.layers.push_back(results[l * options.methods.size() + m]);
    }
    for (std::size_t metric = 0; metric < model_metrics().size(); ++metric) {
      std::vector<double> sample;
      for (const std::vector<double>& layer : method.layers) sample.push_back(layer[metric]);
      method.step.push_back(estimate_sum(sample, static_cast<std::size_t>(run.model.layers)));
    }
    run.methods.push_back(std::move(method));
  }
  return run;
}

}  // namespace santa::cli
