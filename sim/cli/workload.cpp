#include "workload.hpp"

#include <fmt/format.h>

#include "fp16_attention.hpp"
#include "santa/attention/head.hpp"
#include "santa/error.hpp"
#include "santa/reference/attention.hpp"

namespace santa::cli {
namespace {

using attention::LayerShape;

// One group of query heads of one layer.
struct Group {
  const InputLayer& layer;
  std::uint32_t kv_head;

  const LayerShape& shape() const { return layer.tensors.shape; }
  std::size_t cache_offset() const {
    return static_cast<std::size_t>(kv_head) * shape().context * shape().head_dimension;
  }
  std::size_t query_offset() const {
    return static_cast<std::size_t>(kv_head) * shape().group() * shape().head_dimension;
  }
  const float* query() const { return layer.tensors.query.data() + query_offset(); }
  const float* key() const { return layer.tensors.key.data() + cache_offset(); }
  const float* value() const { return layer.tensors.value.data() + cache_offset(); }
};

sim::Job make_job(const Group& group, const attention::KvHead& cache, const RunOptions& options) {
  const LayerShape& shape = group.shape();
  const auto operands = [&](attention::ScoreScheme scheme) {
    return attention::prepare_query(group.query(), shape.group(), shape.head_dimension,
                                    cache.key_scale.data(), group.layer.tensors.softmax_scale,
                                    scheme, options.decode.bernoulli_draws);
  };
  sim::Job job;
  job.layer = group.layer.index;
  job.kv_head = group.kv_head;
  job.cache = &cache;
  job.request.query = operands(options.decode.scores);
  attention::set_streams(job.request,
                         {options.seed, 0, group.layer.index, group.kv_head, options.step});
  job.exact_query = operands(attention::ScoreScheme::kExact);
  return job;
}

ReferenceOutput make_reference(const Group& group, bool with_fp16) {
  const LayerShape& shape = group.shape();
  const double scale = group.layer.tensors.softmax_scale;
  ReferenceOutput output;
  for (std::uint32_t g = 0; g < shape.group(); ++g) {
    const float* query = group.query() + static_cast<std::size_t>(g) * shape.head_dimension;
    const reference::Attention head = reference::attend(query, group.key(), group.value(),
                                                        shape.context, shape.head_dimension, scale);
    output.exact.insert(output.exact.end(), head.output.begin(), head.output.end());
    output.log_sum_exp.push_back(head.log_sum_exp);
  }
  if (with_fp16) {
    output.fp16 = attend_fp16(group.query(), shape.group(), group.key(), group.value(),
                              shape.context, shape.head_dimension, static_cast<float>(scale));
  }
  return output;
}

}  // namespace

attention::KvHead make_cache(const InputLayer& layer, std::uint32_t kv_head,
                             const CacheFormat& format) {
  const Group group{layer, kv_head};
  const LayerShape& shape = group.shape();
  if (!group.layer.integers) {
    return attention::quantize_kv_head(group.key(), group.value(), shape.context,
                                       shape.head_dimension, format.tile_keys, format.bits);
  }
  if (format.bits.key != 8 || format.bits.value != 8) {
    throw input_error("system.key_bits, system.value_bits", "",
                      fmt::format("got {} and {}", format.bits.key, format.bits.value),
                      "8, for this trace holds 8-bit integers");
  }
  const IntegerCache& integers = *group.layer.integers;
  const std::size_t scales = static_cast<std::size_t>(group.kv_head) * shape.head_dimension;
  return attention::adopt_kv_head(
      integers.key.data() + group.cache_offset(), integers.value.data() + group.cache_offset(),
      integers.key_scale.data() + scales, integers.value_scale.data() + scales, shape.context,
      shape.head_dimension, format.tile_keys);
}

CacheFormat cache_format(const config::HardwareConfig& hardware) {
  return {static_cast<std::uint32_t>(hardware.unit.tile_keys),
          {static_cast<std::uint32_t>(hardware.system.key_bits),
           static_cast<std::uint32_t>(hardware.system.value_bits)}};
}

Workload prepare_workload(const Input& input, const RunOptions& options, const CacheFormat& format,
                          bool with_fp16, const std::function<void(double)>& progress) {
  Workload workload;
  reference::RelativeError to_model;
  bool model_outputs = true;
  for (std::size_t l = 0; l < input.layers.size(); ++l) {
    const InputLayer layer = input.layers[l]();
    const LayerShape& shape = layer.tensors.shape;
    model_outputs = model_outputs && !layer.output.empty();
    for (std::uint32_t h = 0; h < shape.kv_heads; ++h) {
      const Group group{layer, h};
      try {
        workload.caches.push_back(make_cache(layer, h, format));
        workload.jobs.push_back(make_job(group, workload.caches.back(), options));
      } catch (const InputError& error) {
        throw input_error(
            fmt::format("{}: layer {}, KV head {}", input.summary.source, layer.index, h), "",
            error.what(), "");
      }
      workload.references.push_back(make_reference(group, with_fp16));
      const std::vector<double>& exact = workload.references.back().exact;
      for (std::size_t i = 0; model_outputs && i < exact.size(); ++i) {
        to_model.add(static_cast<double>(layer.output[group.query_offset() + i]), exact[i]);
      }
      progress((static_cast<double>(l) + (h + 1.0) / shape.kv_heads) /
               static_cast<double>(input.layers.size()));
    }
  }
  if (model_outputs) workload.reference_to_model = to_model.value();
  return workload;
}

}  // namespace santa::cli
