// A decode problem in device memory, and its exact softmax in float64 on the host.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "santa/gpu/decode.hpp"

namespace santa::gpu::testing {

inline void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

// Zeroed device memory.
template <typename T>
class Device {
 public:
  Device() = default;
  explicit Device(std::size_t count) : count_(count) {
    check(cudaMalloc(&data_, count * sizeof(T) + 256));
    check(cudaMemset(data_, 0, count * sizeof(T) + 256));
  }
  explicit Device(const std::vector<T>& host) : Device(host.size()) { put(host); }
  Device(Device&& other) noexcept : data_(other.data_), count_(other.count_) {
    other.data_ = nullptr;
  }
  Device& operator=(Device&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~Device() { cudaFree(data_); }
  T* get() const { return data_; }
  std::size_t size() const { return count_; }
  void put(const std::vector<T>& host) {
    check(cudaMemcpy(data_, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> host() const {
    std::vector<T> out(count_);
    check(cudaMemcpy(out.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return out;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

inline int bytes_of(ElementType type) {
  return type == ElementType::kBf16 || type == ElementType::kFp16 ? 2 : 1;
}

inline void encode(ElementType type, float value, std::uint8_t* to) {
  switch (type) {
    case ElementType::kBf16: {
      const __nv_bfloat16 x = __float2bfloat16_rn(value);
      std::memcpy(to, &x, 2);
      return;
    }
    case ElementType::kFp16: {
      const __half x = __float2half_rn(value);
      std::memcpy(to, &x, 2);
      return;
    }
    case ElementType::kFp8E4M3: {
      const __nv_fp8_e4m3 x(value);
      std::memcpy(to, &x, 1);
      return;
    }
    case ElementType::kInt8:
      *to = static_cast<std::uint8_t>(
          static_cast<std::int8_t>(std::lrint(std::fmin(127.0F, std::fmax(-127.0F, value)))));
      return;
  }
}

inline float decoded(ElementType type, const std::uint8_t* from) {
  switch (type) {
    case ElementType::kBf16: {
      __nv_bfloat16 x;
      std::memcpy(&x, from, 2);
      return __bfloat162float(x);
    }
    case ElementType::kFp16: {
      __half x;
      std::memcpy(&x, from, 2);
      return __half2float(x);
    }
    case ElementType::kFp8E4M3: {
      __nv_fp8_e4m3 x;
      std::memcpy(&x, from, 1);
      return static_cast<float>(x);
    }
    case ElementType::kInt8:
      return static_cast<float>(static_cast<std::int8_t>(*from));
  }
  return 0;
}

struct Shape {
  std::vector<int> lengths{1000};
  int query_heads = 32, kv_heads = 8, head_dimension = 128;
  ElementType cache_type = ElementType::kBf16, query_type = ElementType::kBf16;
  int samples = 256;
  ValueScheme scheme = ValueScheme::kSystematic;
  int tile_tokens = 256;
  int block_tokens = 0;  // 0: contiguous
  int capacity = 0;      // tokens a request; 0: the longest length
  bool head_major = false;
  bool feature_major = false;  // keys
  ScoreScheme scores = ScoreScheme::kExact;
  int bernoulli_draws = 0;
  float spread = 1;  // of the scores, standard deviation in nats
  std::uint64_t data_seed = 1;
};

class Problem {
 public:
  // `value_of` gives value elements (request, token, KV head, feature); null: Gaussian.
  using ValueOf = std::function<float(int, int, int, int)>;

  explicit Problem(Shape shape, const ValueOf& value_of = {}) : shape_(std::move(shape)) {
    if (shape_.capacity == 0) {
      for (const int length : shape_.lengths) shape_.capacity = std::max(shape_.capacity, length);
      shape_.capacity = std::max(shape_.capacity, 1);
    }
    const int element = bytes_of(shape_.cache_type);
    const int requests = static_cast<int>(shape_.lengths.size());
    std::mt19937_64 random(shape_.data_seed);
    std::normal_distribution<float> gauss;
    const float query_size = shape_.spread;
    queries_.resize(static_cast<std::size_t>(requests) * shape_.query_heads *
                    shape_.head_dimension * 2);
    for (std::size_t i = 0; i < queries_.size() / 2; ++i) {
      encode(shape_.query_type, query_size * gauss(random), &queries_[2 * i]);
    }
    blocks_per_request_ = shape_.block_tokens > 0
                              ? (shape_.capacity + shape_.block_tokens - 1) / shape_.block_tokens
                              : 1;
    const std::size_t tokens =
        shape_.block_tokens > 0
            ? static_cast<std::size_t>(blocks_per_request_) * shape_.block_tokens * requests
            : static_cast<std::size_t>(shape_.capacity) * requests;
    const std::size_t count = tokens * shape_.kv_heads * shape_.head_dimension;
    // Features of feature-major keys begin at multiples of 16 bytes.
    feature_tokens_ = shape_.feature_major ? (block_tokens() + 15) / 16 * 16 : block_tokens();
    keys_.resize(count / block_tokens() * feature_tokens_ * element);
    values_.resize(count * element);
    if (shape_.block_tokens > 0) {
      table_.resize(static_cast<std::size_t>(requests) * blocks_per_request_);
      for (std::size_t i = 0; i < table_.size(); ++i) table_[i] = static_cast<std::int32_t>(i);
      std::shuffle(table_.begin(), table_.end(), random);
    }
    const float key_size = shape_.cache_type == ElementType::kInt8 ? 40.0F : 1.0F;
    const float value_size = key_size;
    // Slots beyond a length hold NaN where the type has one.
    for (auto* cache : {&keys_, &values_}) {
      for (std::size_t i = 0; i < cache->size(); i += element) {
        encode(shape_.cache_type, NAN, &(*cache)[i]);
      }
    }
    for (int r = 0; r < requests; ++r) {
      for (int n = 0; n < shape_.lengths[r]; ++n) {
        for (int h = 0; h < shape_.kv_heads; ++h) {
          for (int f = 0; f < shape_.head_dimension; ++f) {
            const std::size_t at = index(r, n, h, f) * element;
            encode(shape_.cache_type, key_size * gauss(random),
                   &keys_[key_index(r, n, h, f) * element]);
            encode(shape_.cache_type, value_of ? value_of(r, n, h, f) : value_size * gauss(random),
                   &values_[at]);
          }
        }
      }
    }
    key_scales_.assign(shape_.kv_heads, 1.0F / key_size);
    value_scales_.assign(shape_.kv_heads, value_of ? 1.0F : 1.0F / value_size);
  }

  std::size_t index(int request, int token, int head, int feature) const {
    const std::int64_t block =
        shape_.block_tokens > 0 ? table_[static_cast<std::size_t>(request) * blocks_per_request_ +
                                         token / shape_.block_tokens]
                                : request;
    const std::int64_t inside = shape_.block_tokens > 0 ? token % shape_.block_tokens : token;
    return static_cast<std::size_t>(block * block_stride() + inside * token_stride() +
                                    head * head_stride() + feature);
  }

  std::size_t key_index(int request, int token, int head, int feature) const {
    if (!shape_.feature_major) return index(request, token, head, feature);
    const std::int64_t block =
        shape_.block_tokens > 0 ? table_[static_cast<std::size_t>(request) * blocks_per_request_ +
                                         token / shape_.block_tokens]
                                : request;
    const std::int64_t inside = shape_.block_tokens > 0 ? token % shape_.block_tokens : token;
    return static_cast<std::size_t>(
        ((block * shape_.kv_heads + head) * shape_.head_dimension + feature) * feature_tokens_ +
        inside);
  }

  CacheView key_view() const {
    if (!shape_.feature_major) {
      return {device_keys_.get(),  block_stride(), token_stride(), head_stride(), 1,
              device_scales_.get()};
    }
    const std::int64_t head = shape_.head_dimension * feature_tokens_;
    return {device_keys_.get(), shape_.kv_heads * head, 1, head,
            feature_tokens_,    device_scales_.get()};
  }

  std::int64_t block_tokens() const {
    return shape_.block_tokens > 0 ? shape_.block_tokens : shape_.capacity;
  }
  std::int64_t block_stride() const {
    return block_tokens() * shape_.kv_heads * shape_.head_dimension;
  }
  std::int64_t token_stride() const {
    return shape_.head_major ? shape_.head_dimension
                             : static_cast<std::int64_t>(shape_.kv_heads) * shape_.head_dimension;
  }
  std::int64_t head_stride() const {
    return shape_.head_major ? block_tokens() * shape_.head_dimension : shape_.head_dimension;
  }

  // Softmax of one query head, and its natural log-sum-exp.
  std::vector<double> softmax(int request, int query_head, double* log_sum_exp = nullptr) const {
    const int element = bytes_of(shape_.cache_type);
    const int kv_head = query_head / (shape_.query_heads / shape_.kv_heads);
    std::vector<double> p(shape_.lengths[request]);
    double largest = -INFINITY;
    for (int n = 0; n < shape_.lengths[request]; ++n) {
      double sum = 0;
      for (int f = 0; f < shape_.head_dimension; ++f) {
        sum += query_feature(request, query_head, f) *
               decoded(shape_.cache_type, &keys_[key_index(request, n, kv_head, f) * element]);
      }
      p[n] = sum * key_scales_[kv_head] * score_scale();
      largest = std::fmax(largest, p[n]);
    }
    double total = 0;
    for (double& x : p) total += x = std::exp(x - largest);
    for (double& x : p) x /= total;
    if (log_sum_exp != nullptr) *log_sum_exp = largest + std::log(total);
    return p;
  }

  double query_feature(int request, int query_head, int feature) const {
    const std::size_t at = (static_cast<std::size_t>(request) * shape_.query_heads + query_head) *
                               shape_.head_dimension +
                           feature;
    return estimate_.empty() ? static_cast<double>(decoded(shape_.query_type, &queries_[2 * at]))
                             : estimate_[at];
  }

  // The largest error of a score when each feature of the query is off by `relative`.
  double score_error(int request, int query_head, double relative) const {
    const int element = bytes_of(shape_.cache_type);
    const int kv_head = query_head / (shape_.query_heads / shape_.kv_heads);
    double largest = 0;
    for (int n = 0; n < shape_.lengths[request]; ++n) {
      double sum = 0;
      for (int f = 0; f < shape_.head_dimension; ++f) {
        sum += std::fabs(
            query_feature(request, query_head, f) *
            decoded(shape_.cache_type, &keys_[key_index(request, n, kv_head, f) * element]));
      }
      largest = std::fmax(largest, sum * relative * key_scales_[kv_head] * score_scale());
    }
    return largest;
  }

  std::vector<double> exact_output(int request, int query_head) const {
    const int kv_head = query_head / (shape_.query_heads / shape_.kv_heads);
    std::vector<double> out(shape_.head_dimension);
    const std::vector<double> p = softmax(request, query_head);
    for (int n = 0; n < shape_.lengths[request]; ++n) {
      for (int f = 0; f < shape_.head_dimension; ++f)
        out[f] += p[n] * value(request, n, kv_head, f);
    }
    return out;
  }

  double value(int request, int token, int kv_head, int feature) const {
    const int element = bytes_of(shape_.cache_type);
    return static_cast<double>(decoded(
               shape_.cache_type, &values_[index(request, token, kv_head, feature) * element])) *
           value_scales_[kv_head];
  }

  float score_scale() const { return 1.0F / std::sqrt(static_cast<float>(shape_.head_dimension)); }

  // Puts everything on the device; call again after a change of the host's arrays.
  void upload() {
    device_queries_ = Device<std::uint8_t>(queries_);
    device_keys_ = Device<std::uint8_t>(keys_);
    device_values_ = Device<std::uint8_t>(values_);
    device_table_ = Device<std::int32_t>(table_);
    device_lengths_ = Device<std::int32_t>(
        std::vector<std::int32_t>(shape_.lengths.begin(), shape_.lengths.end()));
    device_scales_ = Device<float>(key_scales_);
    device_value_scales_ = Device<float>(value_scales_);
    seed_ = Device<std::uint64_t>(std::vector<std::uint64_t>{1});
    offset_ = Device<std::uint64_t>(std::vector<std::uint64_t>{0});
    output_ = Device<std::uint8_t>(queries_.size());
    log_sum_exp_ = Device<float>(shape_.lengths.size() * shape_.query_heads);
    workspace_ = Device<std::uint8_t>();
    DecodeArguments& a = arguments_;
    a.requests = static_cast<int>(shape_.lengths.size());
    a.query_heads = shape_.query_heads;
    a.kv_heads = shape_.kv_heads;
    a.head_dimension = shape_.head_dimension;
    a.samples = shape_.samples;
    a.scheme = shape_.scheme;
    a.tile_tokens = shape_.tile_tokens;
    a.score_scale = score_scale();
    a.queries = device_queries_.get();
    a.query_type = shape_.query_type;
    a.query_head_stride = shape_.head_dimension;
    a.query_request_stride = static_cast<std::int64_t>(shape_.query_heads) * shape_.head_dimension;
    a.cache_type = shape_.cache_type;
    a.scores = shape_.scores;
    a.bernoulli_draws = shape_.bernoulli_draws;
    a.key_layout = shape_.feature_major ? KeyLayout::kFeatureMajor : KeyLayout::kTokenMajor;
    a.keys = key_view();
    a.values = {device_values_.get(),      block_stride(), token_stride(), head_stride(), 1,
                device_value_scales_.get()};
    a.block_table = shape_.block_tokens > 0 ? device_table_.get() : nullptr;
    a.table_stride = blocks_per_request_;
    a.block_tokens = shape_.block_tokens;
    a.lengths = device_lengths_.get();
    a.maximum_length = shape_.capacity;
    a.seed = seed_.get();
    a.offset = offset_.get();
    a.output = output_.get();
    a.log_sum_exp = log_sum_exp_.get();
    a.workspace_bytes = decode_workspace_bytes(a);
    if (a.workspace_bytes == 0) throw std::runtime_error(last_error());
    workspace_ = Device<std::uint8_t>(a.workspace_bytes);
    a.workspace = workspace_.get();
  }

  // Output of all heads, [request][query head][feature].
  std::vector<float> run(std::uint64_t seed, std::uint64_t offset = 0) {
    seed_.put({seed});
    offset_.put({offset});
    launch();
    return output();
  }

  void launch() {
    if (decode(arguments_, nullptr) != Status::kOk) throw std::runtime_error(last_error());
    check(cudaDeviceSynchronize());
  }

  std::vector<float> output() const {
    const std::vector<std::uint8_t> raw = output_.host();
    std::vector<float> out(raw.size() / 2);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = decoded(shape_.query_type, &raw[2 * i]);
    return out;
  }

  std::vector<float> log_sum_exp() const { return log_sum_exp_.host(); }

  DecodeArguments& arguments() { return arguments_; }
  const Shape& shape() const { return shape_; }
  std::vector<std::uint8_t> queries_, keys_, values_;
  std::vector<std::int32_t> table_;
  std::vector<float> key_scales_, value_scales_;
  std::vector<double> estimate_;  // takes the queries' place in softmax() unless empty
  double estimate_rounding_ = 0;  // of each of its features in the kernels, relative

 private:
  Shape shape_;
  int blocks_per_request_ = 1;
  std::int64_t feature_tokens_ = 0;  // from a feature of feature-major keys to the next
  DecodeArguments arguments_;
  Device<std::uint8_t> device_queries_, device_keys_, device_values_, output_, workspace_;
  Device<std::int32_t> device_table_, device_lengths_;
  Device<float> device_scales_, device_value_scales_, log_sum_exp_;
  Device<std::uint64_t> seed_, offset_;
};

}  // namespace santa::gpu::testing
