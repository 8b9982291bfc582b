// The golden model for NumPy: module santasim._golden. Arrays are checked and made contiguous by
// santasim/unit.py, which documents the interface; nothing here is called by users.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "backend.hpp"
#include "santa/attention/growing_kv_head.hpp"
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

// Every KV head of a layer, quantised. Heads of real numbers grow; int8 heads are as they are.
class Cache {
 public:
  Cache(const Array<float>& keys, const Array<float>& values, std::uint32_t tile_keys,
        std::uint32_t key_bits, std::uint32_t value_bits) {
    for (py::ssize_t h = 0; h < keys.shape(0); ++h) {
      growing_.emplace_back(static_cast<std::uint32_t>(keys.shape(2)), tile_keys,
                            attention::CacheBits{key_bits, value_bits});
    }
    append(keys, values);
  }
  Cache(const Array<std::int8_t>& keys, const Array<std::int8_t>& values,
        const Array<float>& key_scale, const Array<float>& value_scale, std::uint32_t tile_keys) {
    const auto heads = static_cast<std::size_t>(keys.shape(0));
    const auto context = static_cast<std::uint32_t>(keys.shape(1));
    const auto dimension = static_cast<std::uint32_t>(keys.shape(2));
    const std::size_t elements = std::size_t{context} * dimension;
    for (std::size_t h = 0; h < heads; ++h) {
      adopted_.push_back(attention::adopt_kv_head(
          keys.data() + h * elements, values.data() + h * elements,
          key_scale.data() + h * dimension, value_scale.data() + h * dimension, context, dimension,
          tile_keys));
    }
  }

  // [kv_heads][tokens][head_dimension] of tokens behind those that are there. All heads take them
  // or, where one throws InputError, the cache is not used any more.
  void append(const Array<float>& keys, const Array<float>& values) {
    const auto tokens = static_cast<std::uint32_t>(keys.shape(1));
    const std::size_t elements = std::size_t{tokens} * static_cast<std::size_t>(keys.shape(2));
    const py::gil_scoped_release release;
    for (std::size_t h = 0; h < growing_.size(); ++h) {
      growing_[h].append(keys.data() + h * elements, values.data() + h * elements, tokens);
    }
  }

  bool grows() const { return !growing_.empty(); }
  std::size_t kv_heads() const { return grows() ? growing_.size() : adopted_.size(); }
  const attention::KvHead& head(std::size_t h) const {
    return grows() ? growing_[h].head() : adopted_[h];
  }
  std::uint32_t context() const { return head(0).context; }
  std::uint32_t head_dimension() const { return head(0).head_dimension; }

  // The real numbers that a growing cache was made of.
  py::array_t<float> keys() const { return rows(&attention::GrowingKvHead::keys); }
  py::array_t<float> values() const { return rows(&attention::GrowingKvHead::values); }

 private:
  py::array_t<float> rows(std::vector<float> (attention::GrowingKvHead::*part)() const) const {
    std::vector<float> all;
    for (const attention::GrowingKvHead& one : growing_) {
      const std::vector<float> mine = (one.*part)();
      all.insert(all.end(), mine.begin(), mine.end());
    }
    return to_array(all, {static_cast<py::ssize_t>(growing_.size()), context(), head_dimension()});
  }

  std::vector<attention::GrowingKvHead> growing_;
  std::vector<attention::KvHead> adopted_;
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

// A decode step of one layer: the answers of its KV heads. Arrays are made when they are asked for.
class Step {
 public:
  Step(std::vector<Answer> heads, std::uint32_t group, std::uint32_t head_dimension)
      : heads_(std::move(heads)), group_(group), head_dimension_(head_dimension) {}

  py::array_t<std::int16_t> raw_output() const {
    std::vector<std::int16_t> all;
    for (const Answer& head : heads_) {
      all.insert(all.end(), head.output.begin(), head.output.end());
    }
    return to_array(all, {query_heads(), head_dimension_});
  }
  py::array_t<double> log_sum_exp() const {
    std::vector<double> all;
    for (const Answer& head : heads_) {
      all.insert(all.end(), head.log_sum_exp.begin(), head.log_sum_exp.end());
    }
    return to_array(all, {query_heads()});
  }
  py::list keys() const {
    py::list lists;
    for (const Answer& head : heads_) {
      std::vector<std::uint32_t> keys;
      for (const attention::SampledRow& row : head.rows) keys.push_back(row.key);
      lists.append(to_array(keys, {static_cast<py::ssize_t>(keys.size())}));
    }
    return lists;
  }
  py::list counts() const {
    py::list lists;
    for (const Answer& head : heads_) {
      std::vector<std::uint16_t> counts;
      for (std::uint32_t g = 0; g < group_; ++g) {
        for (const attention::SampledRow& row : head.rows) counts.push_back(row.counts[g]);
      }
      lists.append(to_array(counts, {group_, static_cast<py::ssize_t>(head.rows.size())}));
    }
    return lists;
  }
  py::list features() const {
    py::list lists;
    for (const Answer& head : heads_) {
      lists.append(
          to_array(head.needed_features, {static_cast<py::ssize_t>(head.needed_features.size())}));
    }
    return lists;
  }
  py::list operations() const {
    py::list dicts;
    for (const Answer& head : heads_) dicts.append(to_dict(head.operations));
    return dicts;
  }
  // Over all KV heads: features that were read; rows that some head drew; rows of each head.
  py::tuple reads() const {
    std::size_t features = 0;
    std::size_t rows = 0;
    std::size_t head_rows = 0;
    for (const Answer& head : heads_) {
      features += head.needed_features.size();
      rows += head.rows.size();
      for (const attention::SampledRow& row : head.rows) {
        for (std::uint32_t g = 0; g < group_; ++g) head_rows += row.counts[g] > 0 ? 1 : 0;
      }
    }
    return py::make_tuple(features, rows, head_rows);
  }

 private:
  py::ssize_t query_heads() const { return static_cast<py::ssize_t>(heads_.size() * group_); }

  std::vector<Answer> heads_;
  py::ssize_t group_;
  py::ssize_t head_dimension_;
};

// How one request of a batch is decoded.
struct Request {
  const Cache* cache = nullptr;
  attention::DecodeOptions options;
  attention::StreamPlace place;  // its kv_head is not looked at
};

std::vector<Work> work_of(const std::vector<Request>& requests, const float* queries,
                          std::uint32_t group, double scale) {
  std::vector<Work> work;
  for (const Request& request : requests) {
    for (std::size_t h = 0; h < request.cache->kv_heads(); ++h) {
      Work one;
      one.cache = &request.cache->head(h);
      one.options = request.options;
      one.request.query = attention::prepare_query(
          queries, group, one.cache->head_dimension, one.cache->key_scale.data(), scale,
          request.options.scores, request.options.bernoulli_draws);
      attention::StreamPlace place = request.place;
      place.kv_head = h;
      attention::set_streams(one.request, place);
      work.push_back(std::move(one));
      queries += std::size_t{group} * work.back().cache->head_dimension;
    }
  }
  return work;
}

// One decode step of a layer for each request: outputs in real units and a Step each.
//   queries  [requests][query_heads][head_dimension]; caches are of one shape but for their tokens
py::tuple decode(const std::vector<Request>& requests, const Array<float>& queries, double scale,
                 bool on_cuda) {
  const auto kv_heads = requests.front().cache->kv_heads();
  const auto group =
      static_cast<std::uint32_t>(queries.shape(1)) / static_cast<std::uint32_t>(kv_heads);
  const auto dimension = requests.front().cache->head_dimension();
  py::array_t<float> outputs({queries.shape(0), queries.shape(1), queries.shape(2)});
  float* output = outputs.mutable_data();
  std::vector<Answer> answers;
  {
    const py::gil_scoped_release release;
    const std::vector<Work> work = work_of(requests, queries.data(), group, scale);
    answers = on_cuda ? answer_on_cuda(work) : answer_on_processor(work);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const std::vector<float> real =
          attention::dequantize_output(answers[i].output, *work[i].cache);
      output = std::copy(real.begin(), real.end(), output);
    }
  }
  py::list steps;
  auto next = answers.begin();
  for (std::size_t r = 0; r < requests.size(); ++r) {
    const auto end = next + static_cast<std::ptrdiff_t>(kv_heads);
    steps.append(
        Step({std::make_move_iterator(next), std::make_move_iterator(end)}, group, dimension));
    next = end;
  }
  return py::make_tuple(outputs, steps);
}

config::HardwareConfig load_hardware(const std::string& name_or_path,
                                     const std::vector<std::string>& assignments) {
  std::vector<config::Override> overrides;
  overrides.reserve(assignments.size());
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

void translate(
    std::exception_ptr pointer) {  // NOLINT(performance-unnecessary-value-param): its type
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
      .def(py::init<const Cache&>())
      .def("append", &Cache::append)
      .def_property_readonly("grows", &Cache::grows)
      .def_property_readonly("keys", &Cache::keys)
      .def_property_readonly("values", &Cache::values)
      .def_property_readonly("kv_heads", &Cache::kv_heads)
      .def_property_readonly("context", &Cache::context)
      .def_property_readonly("head_dimension", &Cache::head_dimension);
  py::class_<Step>(module, "Step")
      .def_property_readonly("raw_output", &Step::raw_output)
      .def_property_readonly("log_sum_exp", &Step::log_sum_exp)
      .def_property_readonly("keys", &Step::keys)
      .def_property_readonly("counts", &Step::counts)
      .def_property_readonly("features", &Step::features)
      .def_property_readonly("operations", &Step::operations)
      .def_property_readonly("reads", &Step::reads);
  py::class_<attention::DecodeOptions>(module, "Options")
      .def(py::init(&parse_options), py::arg("values"), py::arg("scores"), py::arg("samples"),
           py::arg("bernoulli"));
  py::class_<Request>(module, "Request")
      .def(py::init([](const Cache& cache, const attention::DecodeOptions& options,
                       std::uint64_t seed, std::uint64_t request, std::uint64_t layer,
                       std::uint64_t step) {
             return Request{&cache, options, {seed, request, layer, 0, step}};
           }),
           py::keep_alive<1, 2>());
  module.def("decode", &decode);
  module.def("cuda_obstacle", &cuda_obstacle);
  module.def("add_config_directory", &config::add_config_directory);
  module.def("preset_names", &config::preset_names);
  module.attr("VALUE_SCHEMES") = names_of_schemes(true);
  module.attr("SCORE_SCHEMES") = names_of_schemes(false);
  module.attr("MAX_GROUP") = arithmetic::kMaxGroup;
  module.attr("MAX_HEAD_DIMENSION") = arithmetic::kMaxHeadDimension;
  module.attr("MAX_CONTEXT") = arithmetic::kMaxContext;
}

}  // namespace santa::python
