// santa::decode as an operator of PyTorch: shapes, strides and types are read from the tensors,
// checked, and handed to santa::gpu::decode on the current stream of the tensors' device.
//
// The schemas below are documented in src/santa_gpu/operators.py, beside their fake kernels.
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "santa/gpu/decode.hpp"

#ifndef SANTA_BUILT_HEAD_DIMENSIONS
#error "setup.py sets SANTA_BUILT_HEAD_DIMENSIONS"
#endif

namespace {

using at::Tensor;
using santa::gpu::CacheView;
using santa::gpu::DecodeArguments;
using santa::gpu::ElementType;
using santa::gpu::KeyLayout;
using santa::gpu::ScoreScheme;
using santa::gpu::Status;
using santa::gpu::ValueScheme;

template <typename Enumerator>
struct Name {
  std::string_view name;
  Enumerator value;
};
constexpr Name<ValueScheme> kSchemes[] = {{"systematic", ValueScheme::kSystematic},
                                          {"stratified", ValueScheme::kStratified},
                                          {"independent", ValueScheme::kIndependent},
                                          {"prop", ValueScheme::kTileProportional},
                                          {"flash", ValueScheme::kTileUniform}};
constexpr Name<ScoreScheme> kScores[] = {{"exact", ScoreScheme::kExact},
                                         {"bernoulli", ScoreScheme::kBernoulli},
                                         {"bernoulli_group", ScoreScheme::kBernoulliGroup}};

constexpr std::int64_t kBuiltHeadDimensions[] = {SANTA_BUILT_HEAD_DIMENSIONS};

// What every entry takes, as the schema names it.
struct Operands {
  const Tensor& query;
  const Tensor& keys;
  const Tensor& values;
  std::int64_t samples;
  std::string_view scheme;
  std::int64_t tile_tokens;
  std::string_view scores;
  std::int64_t bernoulli_draws;
  std::string_view layout;
  const std::optional<Tensor>& block_table;
  std::optional<std::int64_t> maximum_length;
};

template <typename Enumerator, std::size_t kCount>
Enumerator value_of(const char* argument, std::string_view name,
                    const Name<Enumerator> (&names)[kCount]) {
  std::string allowed;
  for (const auto& entry : names) {
    if (entry.name == name) return entry.value;
    allowed += (allowed.empty() ? "" : ", ") + std::string(entry.name);
  }
  TORCH_CHECK_VALUE(false, "santa::decode: ", argument, " is '", name, "', allowed are ", allowed);
}

ElementType query_type(const Tensor& query) {
  if (query.scalar_type() == at::kBFloat16) return ElementType::kBf16;
  if (query.scalar_type() == at::kHalf) return ElementType::kFp16;
  TORCH_CHECK_VALUE(false, "santa::decode: query is ", query.scalar_type(),
                    ", allowed are BFloat16 and Half");
}

ElementType cache_type(const char* name, const Tensor& cache) {
  switch (cache.scalar_type()) {
    case at::kBFloat16:
      return ElementType::kBf16;
    case at::kHalf:
      return ElementType::kFp16;
    case at::kFloat8_e4m3fn:
      return ElementType::kFp8E4M3;
    case at::kChar:
      return ElementType::kInt8;
    default:
      TORCH_CHECK_VALUE(false, "santa::decode: ", name, " are ", cache.scalar_type(),
                        ", allowed are BFloat16, Half, Float8_e4m3fn and Char (int8)");
  }
}

// A stride of a dimension with one element has no meaning, and PyTorch lets it be anything.
std::int64_t stride_of(const Tensor& tensor, std::int64_t dimension) {
  return tensor.size(dimension) == 1 ? 0 : tensor.stride(dimension);
}

int narrow(const char* name, std::int64_t value) {
  TORCH_CHECK_VALUE(value >= 0 && value <= std::numeric_limits<int>::max(), "santa::decode: ", name,
                    " is ", value, ", allowed are 0 to ", std::numeric_limits<int>::max());
  return static_cast<int>(value);
}

void check_dimensions(const char* name, const Tensor& tensor, std::int64_t dimensions,
                      const char* shape) {
  TORCH_CHECK_VALUE(tensor.dim() == dimensions, "santa::decode: ", name, " has ", tensor.dim(),
                    " dimensions, allowed are ", dimensions, ": ", shape);
}

void check_unit_stride(const char* name, const Tensor& tensor) {
  TORCH_CHECK_VALUE(tensor.size(-1) == 1 || tensor.stride(-1) == 1, "santa::decode: ", name,
                    ": the stride of the last dimension is ", tensor.stride(-1), ", allowed is 1");
}

void check_device(const char* name, const Tensor& tensor, const Tensor& query) {
  TORCH_CHECK_VALUE(tensor.device() == query.device(), "santa::decode: ", name, " is on ",
                    tensor.device(), ", query on ", query.device());
}

void check_type(const char* name, const Tensor& tensor, at::ScalarType type) {
  TORCH_CHECK_VALUE(tensor.scalar_type() == type, "santa::decode: ", name, " is ",
                    tensor.scalar_type(), ", allowed is ", type);
}

void check_shape(const char* name, const Tensor& tensor, at::IntArrayRef shape) {
  TORCH_CHECK_VALUE(tensor.sizes() == shape, "santa::decode: ", name, " has shape ", tensor.sizes(),
                    ", allowed is ", shape);
}

void check_dense(const char* name, const Tensor& tensor, const Tensor& query, at::ScalarType type,
                 at::IntArrayRef shape) {
  check_device(name, tensor, query);
  check_type(name, tensor, type);
  check_shape(name, tensor, shape);
  TORCH_CHECK_VALUE(tensor.is_contiguous(), "santa::decode: ", name, " is not contiguous");
}

CacheView view_of(const Tensor& cache, bool head_major) {
  const int token = head_major ? 2 : 1, head = head_major ? 1 : 2;
  CacheView view;
  view.data = cache.const_data_ptr();
  view.block_stride = stride_of(cache, 0);
  view.token_stride = stride_of(cache, token);
  view.head_stride = stride_of(cache, head);
  return view;
}

// Keys whose tokens, not features, are adjacent: a transposed view of [..., feature, token].
bool is_feature_major(const Tensor& keys, int token) {
  return keys.stride(3) != 1 && keys.size(3) != 1 &&
         (keys.stride(token) == 1 || keys.size(token) == 1);
}

const float* scales_of(const char* name, const std::optional<Tensor>& scales, const Tensor& query,
                       std::int64_t kv_heads) {
  if (!scales) return nullptr;
  check_dense(name, *scales, query, at::kFloat, {kv_heads});
  return scales->const_data_ptr<float>();
}

// Unsigned 64-bit words, also where the tensor calls them signed.
const std::uint64_t* words_of(const char* name, const Tensor& tensor, const Tensor& query) {
  check_device(name, tensor, query);
  TORCH_CHECK_VALUE(tensor.scalar_type() == at::kLong || tensor.scalar_type() == at::kUInt64,
                    "santa::decode: ", name, " is ", tensor.scalar_type(),
                    ", allowed are Long (int64) and UInt64");
  TORCH_CHECK_VALUE(tensor.is_contiguous(), "santa::decode: ", name, " is not contiguous");
  return static_cast<const std::uint64_t*>(tensor.const_data_ptr());
}

// Shapes, strides and types; what decode_workspace_bytes looks at, and the caches' pointers.
DecodeArguments shape_arguments(const Operands& in) {
  check_dimensions("query", in.query, 3, "[requests, query heads, head dimension]");
  const bool head_major = in.layout == "HND";
  TORCH_CHECK_VALUE(head_major || in.layout == "NHD", "santa::decode: layout is '", in.layout,
                    "', allowed are NHD and HND");
  const char* cache_shape = head_major
                                ? "[requests or pages, KV heads, tokens, head dimension] for HND"
                                : "[requests or pages, tokens, KV heads, head dimension] for NHD";
  check_dimensions("keys", in.keys, 4, cache_shape);
  check_dimensions("values", in.values, 4, cache_shape);
  check_device("keys", in.keys, in.query);
  check_device("values", in.values, in.query);
  check_shape("values", in.values, in.keys.sizes());
  TORCH_CHECK_VALUE(in.keys.scalar_type() == in.values.scalar_type(), "santa::decode: keys are ",
                    in.keys.scalar_type(), ", values ", in.values.scalar_type(),
                    ", allowed is one type for both");
  TORCH_CHECK_VALUE(in.keys.size(3) == in.query.size(2),
                    "santa::decode: head dimension of keys is ", in.keys.size(3), ", of query ",
                    in.query.size(2));
  const bool feature_major = is_feature_major(in.keys, head_major ? 2 : 1);
  check_unit_stride("query", in.query);
  if (!feature_major) check_unit_stride("keys", in.keys);
  check_unit_stride("values", in.values);

  DecodeArguments a;
  a.requests = narrow("requests", in.query.size(0));
  a.query_heads = narrow("query heads", in.query.size(1));
  a.kv_heads = narrow("KV heads", in.keys.size(head_major ? 1 : 2));
  a.head_dimension = narrow("head dimension", in.query.size(2));
  a.samples = narrow("samples", in.samples);
  a.scheme = value_of("scheme", in.scheme, kSchemes);
  a.tile_tokens = narrow("tile_tokens", in.tile_tokens);
  a.scores = value_of("scores", in.scores, kScores);
  a.bernoulli_draws = narrow("bernoulli_draws", in.bernoulli_draws);
  TORCH_CHECK_VALUE(a.scores != ScoreScheme::kExact || a.bernoulli_draws == 0,
                    "santa::decode: bernoulli_draws is ", a.bernoulli_draws,
                    ", allowed with scores by Bernoulli draws only");
  a.queries = in.query.const_data_ptr();
  a.query_type = query_type(in.query);
  a.query_request_stride = stride_of(in.query, 0);
  a.query_head_stride = stride_of(in.query, 1);
  a.cache_type = cache_type("keys", in.keys);
  a.keys = view_of(in.keys, head_major);
  a.values = view_of(in.values, head_major);
  if (feature_major) {
    a.key_layout = KeyLayout::kFeatureMajor;
    a.keys.token_stride = 1;
    a.keys.feature_stride = in.keys.stride(3);
    TORCH_CHECK_VALUE(a.keys.feature_stride >= in.keys.size(head_major ? 2 : 1),
                      "santa::decode: features of keys are ", a.keys.feature_stride,
                      " elements apart, tokens are ", in.keys.size(head_major ? 2 : 1));
  }

  std::int64_t capacity = in.keys.size(head_major ? 2 : 1);
  if (in.block_table) {
    const Tensor& table = *in.block_table;
    check_device("block_table", table, in.query);
    check_type("block_table", table, at::kInt);
    check_dimensions("block_table", table, 2, "[requests, pages of a request]");
    TORCH_CHECK_VALUE(table.size(0) == a.requests, "santa::decode: block_table has ", table.size(0),
                      " rows, query ", a.requests, " requests");
    check_unit_stride("block_table", table);
    a.block_table = table.const_data_ptr<std::int32_t>();
    a.table_stride = stride_of(table, 0);
    a.block_tokens = narrow("tokens of a page", capacity);
    capacity *= table.size(1);
  } else {
    TORCH_CHECK_VALUE(in.keys.size(0) == a.requests, "santa::decode: keys are of ", in.keys.size(0),
                      " requests, query of ", a.requests);
  }
  const std::int64_t longest = in.maximum_length.value_or(capacity);
  TORCH_CHECK_VALUE(longest <= capacity, "santa::decode: maximum_length is ", longest,
                    ", allowed are 1 to ", capacity, ", the tokens that the caches hold");
  a.maximum_length = narrow("maximum_length", longest);
  return a;
}

void check_built(const DecodeArguments& a) {
  std::string built;
  for (const std::int64_t dimension : kBuiltHeadDimensions) {
    if (dimension == a.head_dimension) return;
    built += (built.empty() ? "" : ", ") + std::to_string(dimension);
  }
  TORCH_CHECK_VALUE(false, "santa::decode: head dimension is ", a.head_dimension,
                    ", built into this package are ", built);
}

[[noreturn]] void raise(Status status) {
  TORCH_CHECK(status != Status::kCudaError, "santa::decode: ", santa::gpu::last_error());
  TORCH_CHECK_VALUE(false, "santa::decode: ", santa::gpu::last_error());
}

std::int64_t workspace_bytes_of(const DecodeArguments& a) {
  check_built(a);
  const std::size_t bytes = santa::gpu::decode_workspace_bytes(a);
  if (bytes == 0) raise(Status::kInvalidArgument);
  return static_cast<std::int64_t>(bytes);
}

std::int64_t workspace_bytes(const Tensor& query, const Tensor& keys, const Tensor& values,
                             std::int64_t samples, std::string_view scheme,
                             std::int64_t tile_tokens, std::string_view scores,
                             std::int64_t bernoulli_draws, std::string_view layout,
                             const std::optional<Tensor>& block_table,
                             std::optional<std::int64_t> maximum_length) {
  const c10::cuda::CUDAGuard guard(query.device());
  return workspace_bytes_of(
      shape_arguments({query, keys, values, samples, scheme, tile_tokens, scores, bernoulli_draws,
                       layout, block_table, maximum_length}));
}

// What shape_arguments leaves open, but for outputs and workspace.
void add_inputs(DecodeArguments& a, const Operands& in, const Tensor& lengths, const Tensor& seed,
                const Tensor& offset, const std::optional<Tensor>& key_scales,
                const std::optional<Tensor>& value_scales, std::optional<double> scale) {
  a.score_scale = static_cast<float>(scale.value_or(1 / std::sqrt(double(a.head_dimension))));
  check_dense("lengths", lengths, in.query, at::kInt, {a.requests});
  a.lengths = lengths.const_data_ptr<std::int32_t>();
  a.seed = words_of("seed", seed, in.query);
  // One number for all, or one a request: told apart by the dimensions, so that a batch of one is
  // no other case than a batch of many.
  TORCH_CHECK_VALUE(seed.dim() == 0 || (seed.dim() == 1 && seed.size(0) == a.requests),
                    "santa::decode: seed has shape ", seed.sizes(),
                    ", allowed are [] for one seed and [", a.requests, "] for one a request");
  a.seed_stride = static_cast<int>(seed.dim());
  a.offset = words_of("offset", offset, in.query);
  TORCH_CHECK_VALUE(offset.dim() == 0, "santa::decode: offset has shape ", offset.sizes(),
                    ", allowed is []");
  a.keys.head_scales = scales_of("key_scales", key_scales, in.query, a.kv_heads);
  a.values.head_scales = scales_of("value_scales", value_scales, in.query, a.kv_heads);
}

void launch(DecodeArguments& a, const Tensor& query, const Tensor& output,
            const std::optional<Tensor>& log_sum_exp, const Tensor& workspace) {
  check_built(a);
  check_dense("output", output, query, query.scalar_type(), query.sizes());
  a.output = output.mutable_data_ptr();
  if (log_sum_exp) {
    check_dense("log_sum_exp", *log_sum_exp, query, at::kFloat, {a.requests, a.query_heads});
    a.log_sum_exp = log_sum_exp->mutable_data_ptr<float>();
  }
  check_dense("workspace", workspace, query, at::kByte, {workspace.numel()});
  a.workspace = workspace.mutable_data_ptr();
  a.workspace_bytes = static_cast<std::size_t>(workspace.numel());
  const auto stream = at::cuda::getCurrentCUDAStream(query.get_device());
  const Status status = santa::gpu::decode(a, stream);
  if (status != Status::kOk) raise(status);
}

void decode_out(const Tensor& query, const Tensor& keys, const Tensor& values,
                const Tensor& lengths, const Tensor& seed, const Tensor& offset,
                std::int64_t samples, Tensor output, const std::optional<Tensor>& log_sum_exp,
                Tensor workspace, std::string_view scheme, std::int64_t tile_tokens,
                std::string_view scores, std::int64_t bernoulli_draws, std::string_view layout,
                const std::optional<Tensor>& block_table, const std::optional<Tensor>& key_scales,
                const std::optional<Tensor>& value_scales, std::optional<double> scale,
                std::optional<std::int64_t> maximum_length) {
  const c10::cuda::CUDAGuard guard(query.device());
  const Operands in{query,  keys,        values,        samples,
                    scheme, tile_tokens, scores,        bernoulli_draws,
                    layout, block_table, maximum_length};
  DecodeArguments a = shape_arguments(in);
  add_inputs(a, in, lengths, seed, offset, key_scales, value_scales, scale);
  launch(a, query, output, log_sum_exp, workspace);
}

std::tuple<Tensor, Tensor> decode(
    const Tensor& query, const Tensor& keys, const Tensor& values, const Tensor& lengths,
    const Tensor& seed, const Tensor& offset, std::int64_t samples, std::string_view scheme,
    std::int64_t tile_tokens, std::string_view scores, std::int64_t bernoulli_draws,
    std::string_view layout, const std::optional<Tensor>& block_table,
    const std::optional<Tensor>& key_scales, const std::optional<Tensor>& value_scales,
    std::optional<double> scale, std::optional<std::int64_t> maximum_length) {
  const c10::cuda::CUDAGuard guard(query.device());
  const Operands in{query,  keys,        values,        samples,
                    scheme, tile_tokens, scores,        bernoulli_draws,
                    layout, block_table, maximum_length};
  DecodeArguments a = shape_arguments(in);
  add_inputs(a, in, lengths, seed, offset, key_scales, value_scales, scale);
  Tensor output = at::empty(query.sizes(), query.options());
  Tensor log_sum_exp = at::empty({a.requests, a.query_heads}, query.options().dtype(at::kFloat));
  const Tensor workspace = at::zeros({workspace_bytes_of(a)}, query.options().dtype(at::kByte));
  launch(a, query, output, log_sum_exp, workspace);
  return {output, log_sum_exp};
}

std::vector<std::int64_t> head_dimensions() {
  return {std::begin(kBuiltHeadDimensions), std::end(kBuiltHeadDimensions)};
}

}  // namespace

TORCH_LIBRARY(santa, library) {
  library.set_python_module("santa_gpu.operators");
  // What says how, at the end of each schema.
  const std::string how =
      "str scheme='systematic', int tile_tokens=256, str scores='exact', int bernoulli_draws=0, "
      "str layout='NHD', "
      "Tensor? block_table=None, ";
  const std::string inputs =
      "Tensor query, Tensor keys, Tensor values, Tensor lengths, Tensor seed, Tensor offset, *, "
      "int samples, ";
  const std::string numbers =
      "Tensor? key_scales=None, Tensor? value_scales=None, float? scale=None, "
      "SymInt? maximum_length=None";
  const auto define = [&](const std::string& schema) { library.def(schema.c_str()); };
  define("decode(" + inputs + how + numbers + ") -> (Tensor output, Tensor log_sum_exp)");
  define("decode_out(" + inputs +
         "Tensor(a!) output, Tensor(b!)? log_sum_exp, Tensor(c!) workspace, " + how + numbers +
         ") -> ()");
  define("decode_workspace_bytes(Tensor query, Tensor keys, Tensor values, *, int samples, " + how +
         "SymInt? maximum_length=None) -> int");
  library.def("head_dimensions() -> int[]", head_dimensions);
}

TORCH_LIBRARY_IMPL(santa, CUDA, library) {
  library.impl("decode", decode);
  library.impl("decode_out", decode_out);
  library.impl("decode_workspace_bytes", workspace_bytes);
}
