// The golden model for NumPy: module santasim._golden. Arrays are checked and made contiguous by
// santasim/unit.py, which documents the interface; nothing here is called by users.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "santa/attention/head.hpp"
#include "santa/config/hardware.hpp"
#include "santa/config/message_text.hpp"
#include "santa/config/preset.hpp"
#include "santa/error.hpp"

namespace py = pybind11;

namespace santa::python {
namespace {

template <typename T>
using Array = py::array_t<T, py::array::c_style>;

template <typename T>
py::array_t<T> to_array(const std::vector<T>& values, const std::vector<py::ssize_t>& shape) {
  py::array_t<T> array(shape);
  std::copy(values.begin(), values.end(), array.mutable_data());
  return array;
}

// The options as the command line has them, with its messages.
template <typename Scheme, typename Names>
Scheme parse_scheme(const char* option, const std::string& text, const Names& names) {
  std::vector<std::string> allowed;
  for (const auto& entry : names) {
    if (entry.name == text) return static_cast<Scheme>(entry.value);
    allowed.emplace_back(entry.name);
  }
  throw input_error(option, "", "got " + config::in_quotes(text), config::joined(allowed));
}

std::uint32_t parse_budget(const char* option, std::int64_t value, std::int64_t largest,
                           bool power_of_two) {
  const bool is_power = value > 0 && (value & (value - 1)) == 0;
  if (value < 1 || value > largest || (power_of_two && !is_power)) {
    throw input_error(option, "", "got " + config::in_quotes(std::to_string(value)),
                      std::string(power_of_two ? "a power of two" : "an integer") + " from 1 to " +
                          std::to_string(largest));
  }
  return static_cast<std::uint32_t>(value);
}

attention::DecodeOptions parse_options(const std::string& values, const std::string& scores,
                                       std::int64_t samples, std::int64_t bernoulli) {
  attention::DecodeOptions options;
  options.values =
      parse_scheme<attention::ValueScheme>("--values", values, attention::kValueSchemeNames);
  options.scores =
      parse_scheme<attention::ScoreScheme>("--scores", scores, attention::kScoreSchemeNames);
  if (!attention::is_sampled(options.values) && attention::is_bernoulli(options.scores)) {
    throw input_error("--scores", "", "got " + config::in_quotes(scores),
                      "exact, for the " + values + " unit computes every score");
  }
  const bool topk = options.values == attention::ValueScheme::kTopK;
  if (options.values != attention::ValueScheme::kDense) {
    options.samples =
        parse_budget(topk ? "--top-k" : "--samples", samples, arithmetic::kMaxSamples, !topk);
  }
  if (attention::is_bernoulli(options.scores)) {
    options.bernoulli_draws =
        parse_budget("--bernoulli", bernoulli, arithmetic::kMaxBernoulliDraws, true);
  }
  attention::check_options(options);
  return options;
}

// Every KV head of a layer, quantised.
class Cache {
 public:
  Cache(const Array<float>& keys, const Array<float>& values, std::uint32_t tile_keys,
        std::uint32_t key_bits, std::uint32_t value_bits) {
    const auto heads = static_cast<std::size_t>(keys.shape(0));
    const auto context = static_cast<std::uint32_t>(keys.shape(1));
    const auto dimension = static_cast<std::uint32_t>(keys.shape(2));
    const std::size_t elements = std::size_t{context} * dimension;
    const py::gil_scoped_release release;
    for (std::size_t h = 0; h < heads; ++h) {
      heads_.push_back(attention::quantize_kv_head(keys.data() + h * elements,
                                                   values.data() + h * elements, context, dimension,
                                                   tile_keys, {key_bits, value_bits}));
    }
  }
  Cache(const Array<std::int8_t>& keys, const Array<std::int8_t>& values,
        const Array<float>& key_scale, const Array<float>& value_scale, std::uint32_t tile_keys) {
    const auto heads = static_cast<std::size_t>(keys.shape(0));
    const auto context = static_cast<std::uint32_t>(keys.shape(1));
    const auto dimension = static_cast<std::uint32_t>(keys.shape(2));
    const std::size_t elements = std::size_t{context} * dimension;
    for (std::size_t h = 0; h < heads; ++h) {
      heads_.push_back(attention::adopt_kv_head(
          keys.data() + h * elements, values.data() + h * elements,
          key_scale.data() + h * dimension, value_scale.data() + h * dimension, context, dimension,
          tile_keys));
    }
  }

  const std::vector<attention::KvHead>& heads() const { return heads_; }
  std::size_t kv_heads() const { return heads_.size(); }
  std::uint32_t context() const { return heads_.front().context; }
  std::uint32_t head_dimension() const { return heads_.front().head_dimension; }

 private:
  std::vector<attention::KvHead> heads_;
};

py::dict to_dict(const attention::OperationCounts& counts) {
  py::dict dict;
  dict["score_adds"] = counts.score_adds;
  dict["score_multiplies"] = counts.score_multiplies;
  dict["value_adds"] = counts.value_adds;
  dict["value_multiplies"] = counts.value_multiplies;
  dict["key_elements_read"] = counts.key_elements_read;
  dict["value_elements_read"] = counts.value_elements_read;
  dict["scores_written"] = counts.scores_written;
  dict["outputs_written"] = counts.outputs_written;
  return dict;
}

// One KV head's result; `query` has its group of heads.
py::dict decode_head(const attention::KvHead& cache, const float* query, std::uint32_t group,
                     double scale, const attention::DecodeOptions& options,
                     const attention::StreamPlace& place) {
  attention::DecodeResult result;
  std::vector<float> output;
  {
    const py::gil_scoped_release release;
    attention::DecodeRequest request;
    request.query =
        attention::prepare_query(query, group, cache.head_dimension, cache.key_scale.data(), scale,
                                 options.scores, options.bernoulli_draws);
    attention::set_streams(request, place);
    attention::DecodeWorkspace workspace;
    result = attention::decode(cache, cache.context, request, options, workspace);
    output = attention::dequantize_output(result, cache);
  }
  const py::ssize_t heads = group;
  const py::ssize_t features = cache.head_dimension;
  const auto rows = static_cast<py::ssize_t>(result.rows.size());
  std::vector<std::uint32_t> keys;
  std::vector<std::uint16_t> counts(static_cast<std::size_t>(heads * rows));
  for (py::ssize_t r = 0; r < rows; ++r) {
    const attention::SampledRow& row = result.rows[static_cast<std::size_t>(r)];
    keys.push_back(row.key);
    for (py::ssize_t g = 0; g < heads; ++g) {
      counts[static_cast<std::size_t>(g * rows + r)] = row.counts[static_cast<std::size_t>(g)];
    }
  }
  py::dict dict;
  dict["output"] = to_array(output, {heads, features});
  dict["raw_output"] = to_array(result.output, {heads, features});
  dict["log_sum_exp"] = to_array(result.log_sum_exp, {heads});
  dict["keys"] = to_array(keys, {rows});
  dict["counts"] = to_array(counts, {heads, rows});
  dict["features"] = to_array(result.query.needed_features,
                              {static_cast<py::ssize_t>(result.query.needed_features.size())});
  dict["operations"] = to_dict(result.operations);
  return dict;
}

// One decode step of a layer: a list with a dict for each KV head.
py::list decode(const Cache& cache, const Array<float>& query, double scale,
                const std::string& values, const std::string& scores, std::int64_t samples,
                std::int64_t bernoulli, std::uint64_t seed, std::uint64_t request,
                std::uint64_t layer, std::uint64_t step) {
  const attention::DecodeOptions options = parse_options(values, scores, samples, bernoulli);
  const std::uint32_t group =
      static_cast<std::uint32_t>(query.shape(0)) / static_cast<std::uint32_t>(cache.kv_heads());
  py::list results;
  for (std::size_t h = 0; h < cache.kv_heads(); ++h) {
    const float* queries = query.data() + h * group * cache.head_dimension();
    results.append(decode_head(cache.heads()[h], queries, group, scale, options,
                               {seed, request, layer, h, step}));
  }
  return results;
}

config::HardwareConfig load_hardware(const std::string& name_or_path,
                                     const std::vector<std::string>& assignments) {
  std::vector<config::Override> overrides;
  for (const std::string& assignment : assignments) {
    overrides.push_back(config::parse_override(assignment));
  }
  return config::load_hardware(name_or_path, overrides);
}

std::vector<std::string> names_of_schemes(bool of_values) {
  std::vector<std::string> names;
  if (of_values) {
    for (const auto& entry : attention::kValueSchemeNames) names.emplace_back(entry.name);
  } else {
    for (const auto& entry : attention::kScoreSchemeNames) names.emplace_back(entry.name);
  }
  return names;
}

void translate(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const InputError& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  }
}

}  // namespace

PYBIND11_MODULE(_golden, module) {
  py::register_exception_translator(&translate);
  py::class_<config::HardwareConfig>(module, "Hardware")
      .def(py::init(&load_hardware), py::arg("name_or_path"), py::arg("assignments"))
      .def_readonly("name", &config::HardwareConfig::name)
      .def_readonly("description", &config::HardwareConfig::description)
      .def_property_readonly("hash", &config::HardwareConfig::hash)
      .def_property_readonly("canonical_text", &config::HardwareConfig::canonical_text)
      .def_property_readonly("tile_keys",
                             [](const config::HardwareConfig& h) { return h.unit.tile_keys; })
      .def_property_readonly("key_bits",
                             [](const config::HardwareConfig& h) { return h.system.key_bits; })
      .def_property_readonly("value_bits",
                             [](const config::HardwareConfig& h) { return h.system.value_bits; });
  py::class_<Cache>(module, "Cache")
      .def(py::init<const Array<float>&, const Array<float>&, std::uint32_t, std::uint32_t,
                    std::uint32_t>())
      .def(py::init<const Array<std::int8_t>&, const Array<std::int8_t>&, const Array<float>&,
                    const Array<float>&, std::uint32_t>())
      .def_property_readonly("kv_heads", &Cache::kv_heads)
      .def_property_readonly("context", &Cache::context)
      .def_property_readonly("head_dimension", &Cache::head_dimension);
  module.def("decode", &decode);
  module.def("add_config_directory", &config::add_config_directory);
  module.def("preset_names", &config::preset_names);
  module.attr("VALUE_SCHEMES") = names_of_schemes(true);
  module.attr("SCORE_SCHEMES") = names_of_schemes(false);
  module.attr("MAX_GROUP") = arithmetic::kMaxGroup;
  module.attr("MAX_HEAD_DIMENSION") = arithmetic::kMaxHeadDimension;
  module.attr("MAX_CONTEXT") = arithmetic::kMaxContext;
}

}  // namespace santa::python
