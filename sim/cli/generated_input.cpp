#include "generated_input.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <utility>

#include "santa/config/model_shape.hpp"
#include "santa/config/preset.hpp"
#include "santa/error.hpp"

namespace santa::cli {
namespace {

// Refuses what cannot fit this machine before hours of swapping: the int8 caches of all layers stay
// in memory, the float tensors of one layer at a time.
void require_memory(const attention::LayerShape& shape, std::uint32_t layer_count) {
  const double cache_elements = 2.0 * shape.kv_heads * shape.context * shape.head_dimension;
  const double needed = cache_elements * (layer_count + static_cast<double>(sizeof(float)));
  const double present =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (needed <= present) return;
  constexpr double kGigabyte = 1e9;
  throw input_error("--context, --layers", "",
                    fmt::format("{} tokens and {} layers need {:.0f} GB of memory", shape.context,
                                layer_count, needed / kGigabyte),
                    fmt::format("what fits the {:.0f} GB of this machine", present / kGigabyte));
}

Input generate(InputSummary summary, SyntheticData kind, double softmax_scale,
               std::uint32_t layer_count, std::uint64_t seed) {
  require_memory(summary.shape, layer_count);
  Input input;
  summary.synthetic = true;
  summary.softmax_scale = softmax_scale;
  summary.data_seed = seed;
  const attention::LayerShape shape = summary.shape;
  for (std::uint32_t layer = 0; layer < layer_count; ++layer) {
    summary.layers.push_back(layer);
    input.layers.emplace_back([=] {
      InputLayer result;
      result.index = layer;
      result.tensors = kind == SyntheticData::kNeedle
                           ? attention::make_needle(shape, seed, layer)
                           : attention::make_gaussian(shape, seed, layer);
      result.tensors.softmax_scale = softmax_scale;
      return result;
    });
  }
  input.summary = std::move(summary);
  return input;
}

InputError beyond_model(const char* option, std::uint64_t value, const config::ModelShape& model,
                        std::int64_t limit) {
  return input_error(option, "", fmt::format("{} is more than {} has", value, model.name),
                     fmt::format("1 to {}", limit));
}

}  // namespace

Input open_model_shape(const InputOptions& options) {
  const config::ModelShape model =
      config::load_model_shape(config::find_config("models", options.model));
  if (options.shape.context > model.max_context) {
    throw beyond_model("--context", options.shape.context, model, model.max_context);
  }
  if (options.layer_count > model.layers) {
    throw beyond_model("--layers", options.layer_count, model, model.layers);
  }
  InputSummary summary;
  summary.kind = "model shape";
  summary.model = model.name;
  summary.model_licence = model.licence;
  summary.model_layers = static_cast<std::uint32_t>(model.layers);
  summary.source = fmt::format("Gaussian tensors, data seed {}, in the shape of {}",
                               options.data_seed, model.name);
  summary.shape.query_heads = static_cast<std::uint32_t>(model.query_heads);
  summary.shape.kv_heads = static_cast<std::uint32_t>(model.kv_heads);
  summary.shape.head_dimension = static_cast<std::uint32_t>(model.head_dimension);
  summary.shape.context = options.shape.context;
  return generate(std::move(summary), SyntheticData::kGaussian, model.softmax_scale(),
                  options.layer_count, options.data_seed);
}

Input open_synthetic(const InputOptions& options) {
  const bool needle = options.synthetic == SyntheticData::kNeedle;
  InputSummary summary;
  summary.kind = needle ? "needle" : "gaussian";
  summary.source =
      fmt::format("{} tensors, data seed {}", needle ? "needle (one dominant key)" : "Gaussian",
                  options.data_seed);
  summary.shape = options.shape;
  const double scale = 1.0 / std::sqrt(static_cast<double>(options.shape.head_dimension));
  return generate(std::move(summary), options.synthetic, scale, options.layer_count,
                  options.data_seed);
}

}  // namespace santa::cli
