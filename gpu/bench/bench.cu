// The grid of a benchmark: types, spreads, requests, lengths, and for each what is timed.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>

#include "protocol.cuh"
#include "santa/error.hpp"
#include "santa/gpu/bench/results.hpp"

namespace santa::gpu::bench {
namespace {

ElementType type_of(const std::string& name) {
  if (name == "bf16") return ElementType::kBf16;
  if (name == "fp16") return ElementType::kFp16;
  return name == "fp8" ? ElementType::kFp8E4M3 : ElementType::kInt8;
}

int bytes_of(ElementType type) {
  return type == ElementType::kBf16 || type == ElementType::kFp16 ? 2 : 1;
}

ValueScheme scheme_of(const std::string& name) {
  if (name == "stratified") return ValueScheme::kStratified;
  if (name == "prop") return ValueScheme::kTileProportional;
  if (name == "flash") return ValueScheme::kTileUniform;
  return name == "independent" ? ValueScheme::kIndependent : ValueScheme::kSystematic;
}

ScoreScheme scores_of(const std::string& name) {
  if (name == "bernoulli") return ScoreScheme::kBernoulli;
  return name == "bernoulli-group" ? ScoreScheme::kBernoulliGroup : ScoreScheme::kExact;
}

constexpr float kOutlier = 4.4F;  // of queries whose other features have a deviation of 1

std::string utc_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return text.data();
}

class Bench {
 public:
  Bench(const BenchOptions& options, void (*progress)(const Row&))
      : progress_(progress),
        device_(device_properties()),
        nvml_(pci_address()),
        protocol_(options.runs),
        seed_(8),
        offset_(8),
        sink_(4) {
    results_.options = options;
    results_.date = utc_date();
  }

  Results run() {
    const BenchOptions& o = results_.options;
    check_shape();
    results_.empty_launch = protocol_.time([] { nothing<<<1, 32>>>(); });
    if (o.energy) {
      results_.idle_w = Protocol::idle_w(nvml_);
      if (!results_.idle_w) {
        throw InputError("--energy: this board has no energy counter (NVML); allowed: without");
      }
    }
    for (const std::string& type : o.types) {
      for (const double spread : o.spreads) {
        for (const auto& [requests, length] : steps_of(o)) cell(type, spread, requests, length);
      }
    }
    describe_device();
    return std::move(results_);
  }

 private:
  // Keys and values of one step, and its arguments.
  struct Copy {
    DeviceMemory keys_and_values;  // one behind the other
    DecodeArguments arguments;
  };

  static cudaDeviceProp device_properties() {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
      throw input_error("", "",
                        std::string("no CUDA device (") +
                            cudaGetErrorString(error == cudaSuccess ? cudaErrorNoDevice : error) +
                            ")",
                        "a machine with one of compute capability 8.0 or later");
    }
    int device = 0;
    cudaDeviceProp properties{};
    check(cudaGetDevice(&device));
    check(cudaGetDeviceProperties(&properties, device));
    return properties;
  }

  static std::string pci_address() {
    int device = 0;
    std::array<char, 32> text{};
    check(cudaGetDevice(&device));
    check(cudaDeviceGetPCIBusId(text.data(), text.size(), device));
    return text.data();
  }

  DecodeArguments arguments(const std::string& type, int requests, int length) const {
    const BenchOptions& o = results_.options;
    DecodeArguments a;
    a.requests = requests;
    a.query_heads = o.query_heads;
    a.kv_heads = o.kv_heads;
    a.head_dimension = o.head_dimension;
    a.samples = o.samples.front();
    a.score_scale = 1 / std::sqrt(static_cast<float>(o.head_dimension));
    a.query_head_stride = o.head_dimension;
    a.query_request_stride = static_cast<std::int64_t>(o.query_heads) * o.head_dimension;
    a.cache_type = type_of(type);
    a.query_type = a.cache_type == ElementType::kFp16 ? ElementType::kFp16 : ElementType::kBf16;
    const std::int64_t row = static_cast<std::int64_t>(o.kv_heads) * o.head_dimension;
    a.keys.block_stride = length * row;
    a.keys.token_stride = row;
    a.keys.head_stride = o.head_dimension;
    a.values = a.keys;
    a.maximum_length = length;
    return a;
  }

  void choose(DecodeArguments& a, const std::string& scheme, const std::string& scores,
              int samples) const {
    a.scheme = scheme_of(scheme);
    a.tile_tokens = results_.options.tile_tokens;
    a.samples = samples;
    a.scores = scores_of(scores);
    if (a.scores == ScoreScheme::kExact) return;
    // Any order of the same numbers is as good: feature by feature.
    a.bernoulli_draws = results_.options.bernoulli_draws;
    a.key_layout = KeyLayout::kFeatureMajor;
    a.keys.feature_stride = a.maximum_length;
    a.keys.token_stride = 1;
    a.keys.head_stride = static_cast<std::int64_t>(a.maximum_length) * a.head_dimension;
  }

  // What no kernel is built for, before anything is measured.
  void check_shape() const {
    const BenchOptions& o = results_.options;
    for (const std::string& type : o.types) {
      for (const auto& [requests, length] : steps_of(o)) {
        for (const std::string& scheme : o.schemes) {
          for (const std::string& scores : o.scores) {
            DecodeArguments a = arguments(type, requests, length);
            choose(a, scheme, scores, o.samples.front());
            if (decode_workspace_bytes(a) == 0) throw InputError(last_error());
          }
        }
      }
    }
  }

  void report(Row row) {
    if (progress_ != nullptr) progress_(row);
    results_.rows.push_back(std::move(row));
  }

  void cell(const std::string& type, double spread, int requests, int length) {
    const BenchOptions& o = results_.options;
    DecodeArguments a = arguments(type, requests, length);
    const std::size_t elements = static_cast<std::size_t>(requests) * length * o.kv_heads *
                                 static_cast<std::size_t>(o.head_dimension);
    const std::size_t cache_bytes = elements * bytes_of(a.cache_type);
    const std::size_t queries = static_cast<std::size_t>(requests) * o.query_heads *
                                static_cast<std::size_t>(o.head_dimension);
    // Enough copies for energy that no step finds its keys in the cache.
    const std::size_t copies = o.energy ? std::max<std::size_t>(1, kFlushBytes / cache_bytes) : 1;
    Row row;
    row.type = type;
    row.requests = requests;
    row.length = length;
    row.spread = spread;
    std::size_t free_bytes = 0, total_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &total_bytes));
    constexpr std::size_t kReserve = std::size_t{1} << 30;
    if (2 * copies * cache_bytes + kReserve > free_bytes) {
      row.kernel = "decode";
      row.not_run = std::to_string(2 * copies * cache_bytes >> 20) + " MiB of caches do not fit";
      report(row);
      return;
    }
    const DeviceMemory query(2 * queries), output(2 * queries);
    const DeviceMemory lengths(sizeof(std::int32_t) * requests);
    const std::vector<std::int32_t> host_lengths(requests, length);
    check(cudaMemcpy(lengths.get(), host_lengths.data(), lengths.bytes(), cudaMemcpyHostToDevice));
    const std::vector<float> host_scales(o.kv_heads, 1 / kInt8Unit);
    const DeviceMemory scales(sizeof(float) * host_scales.size());
    check(cudaMemcpy(scales.get(), host_scales.data(), scales.bytes(), cudaMemcpyHostToDevice));
    a.queries = query.get();
    a.output = output.get();
    a.lengths = static_cast<const std::int32_t*>(lengths.get());
    a.seed = static_cast<const std::uint64_t*>(seed_.get());
    a.offset = static_cast<const std::uint64_t*>(offset_.get());
    if (a.cache_type == ElementType::kInt8) {
      a.keys.head_scales = a.values.head_scales = static_cast<const float*>(scales.get());
    }
    std::vector<Copy> data(copies);
    for (std::size_t i = 0; i < copies; ++i) {
      data[i] = {DeviceMemory(2 * cache_bytes), a};
      void* both = data[i].keys_and_values.get();
      fill(a.cache_type, both, 2 * elements, 1, i + 4);
      data[i].arguments.keys.data = both;
      data[i].arguments.values.data = static_cast<const char*>(both) + cache_bytes;
    }
    const int blocks = 4 * device_.multiProcessorCount;
    const auto read = [&](std::size_t step, std::size_t bytes) {
      plain_read<<<blocks, 512>>>(
          static_cast<const uint4*>(data[step % copies].keys_and_values.get()), bytes / 16,
          static_cast<unsigned*>(sink_.get()));
    };
    row.kernel = "plain read of keys";
    measure(row, [&](std::size_t step) { read(step, cache_bytes); });
    row.kernel = "plain read of keys and values";
    measure(row, [&](std::size_t step) { read(step, 2 * cache_bytes); });
    row.kernel = "decode";
    for (const std::string& scores : o.scores) {
      row.scores = scores;
      fill(a.query_type, query.get(), queries, static_cast<float>(spread), 3);
      if (scores != "exact") {
        const int heads = requests * o.query_heads;
        const float outlier = kOutlier * static_cast<float>(spread);
        if (a.query_type == ElementType::kFp16) {
          set_outliers<<<1, 256>>>(static_cast<__half*>(query.get()), heads, o.head_dimension,
                                   outlier);
        } else {
          set_outliers<<<1, 256>>>(static_cast<__nv_bfloat16*>(query.get()), heads,
                                   o.head_dimension, outlier);
        }
      }
      for (const std::string& scheme : o.schemes) {
        row.scheme = scheme;
        for (const int samples : o.samples) decode_row(row, samples, data);
      }
    }
  }

  void decode_row(Row row, int samples, std::vector<Copy>& data) {
    row.samples = samples;
    DecodeArguments a = data.front().arguments;
    choose(a, row.scheme, row.scores, samples);
    a.workspace_bytes = decode_workspace_bytes(a);
    if (a.workspace_bytes == 0) throw InputError(last_error());
    const DeviceMemory workspace(a.workspace_bytes);
    a.workspace = workspace.get();
    std::vector<DecodeArguments> steps;
    for (const Copy& copy : data) {
      a.keys.data = copy.arguments.keys.data;
      a.values.data = copy.arguments.values.data;
      steps.push_back(a);
    }
    measure(row, [&](std::size_t step) {
      const Status status = decode(steps[step % steps.size()], nullptr);
      if (status == Status::kCudaError) throw std::runtime_error(last_error());
      if (status != Status::kOk) throw InputError(last_error());
    });
  }

  void measure(Row row, const std::function<void(std::size_t)>& launch) {
    row.times = protocol_.time([&] { launch(0); });
    if (results_.options.energy) {
      row.energy = protocol_.energy(
          nvml_, [&](std::int64_t step) { launch(static_cast<std::size_t>(step)); });
    }
    report(std::move(row));
  }

  void describe_device() {
    DeviceFacts& d = results_.device;
    d.name = device_.name;
    d.compute_capability = std::to_string(device_.major) + "." + std::to_string(device_.minor);
    d.multiprocessors = device_.multiProcessorCount;
    int version = 0;
    check(cudaRuntimeGetVersion(&version));
    d.toolkit =
        "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
    d.driver = nvml_.driver().value_or("unknown");
    d.sm_clock_max_mhz = nvml_.sm_clock_max_mhz().value_or(0);
    d.sm_clock_mhz = nvml_.sm_clock_mhz().value_or(0);
    d.memory_clock_max_mhz = nvml_.memory_clock_max_mhz().value_or(0);
  }

  void (*progress_)(const Row&);
  cudaDeviceProp device_;
  Nvml nvml_;
  Protocol protocol_;
  DeviceMemory seed_, offset_, sink_;
  Results results_;
};

}  // namespace

Results run_bench(const BenchOptions& options, void (*progress)(const Row&)) {
  return Bench(options, progress).run();
}

}  // namespace santa::gpu::bench
