// Times the decode kernels and the plain read of the bytes that they must read: median of cold
// runs, by CUDA events. Lines of tab-separated values.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "santa/gpu/decode.hpp"

namespace {

using santa::gpu::CacheView;
using santa::gpu::DecodeArguments;
using santa::gpu::ElementType;

void check(cudaError_t error) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "decode_bench: %s\n", cudaGetErrorString(error));
    std::exit(1);
  }
}

template <typename T>
T* allocate(std::size_t count) {
  void* data = nullptr;
  check(cudaMalloc(&data, count * sizeof(T)));
  check(cudaMemset(data, 0, count * sizeof(T)));
  return static_cast<T*>(data);
}

// Gaussian bf16 numbers by Box and Muller.
__global__ void fill_gaussian(std::uint16_t* out, std::size_t count, float size,
                              std::uint64_t seed) {
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15ULL + seed;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    z ^= z >> 31;
    const float u = (static_cast<float>(z >> 40) + 1) * 0x1p-24F;
    const float v = static_cast<float>((z >> 16) & 0xffffff) * 0x1p-24F;
    const float x = size * sqrtf(-2 * logf(u)) * cosf(6.2831853F * v);
    out[i] = static_cast<std::uint16_t>((__float_as_uint(x) + 0x8000U) >> 16);
  }
}

__global__ void __launch_bounds__(512)
    plain_read(const uint4* data, std::size_t count, unsigned* out) {
  constexpr int kUnroll = 8;
  unsigned sum = 0;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  for (; i + (kUnroll - 1) * stride < count; i += kUnroll * stride) {
    uint4 words[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) words[u] = __ldcs(data + i + u * stride);
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) sum ^= words[u].x ^ words[u].y ^ words[u].z ^ words[u].w;
  }
  for (; i < count; i += stride) sum ^= __ldcs(data + i).x;
  if (sum == 0x12345678U) *out = sum;
}

__global__ void nothing() {}

constexpr std::size_t kFlushBytes = std::size_t{512} << 20;

template <typename Launch>
void measure(const char* name, int requests, int length, int samples, const Launch& launch) {
  static char* flush = allocate<char>(kFlushBytes);
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  std::vector<float> times;
  for (int run = 0; run < 45; ++run) {
    check(cudaMemsetAsync(flush, run, kFlushBytes));
    check(cudaEventRecord(begin));
    launch();
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    if (run >= 5) times.push_back(1000 * ms);
  }
  std::sort(times.begin(), times.end());
  std::printf("%s\t%d\t%d\t%d\t%.2f\t%.2f\t%.2f\n", name, requests, length, samples,
              static_cast<double>(times[times.size() / 2]), static_cast<double>(times[2]),
              static_cast<double>(times[times.size() - 3]));
  std::fflush(stdout);
}

// One feature of all queries is an outlier, as models have: it sets what a Bernoulli draw is worth.
__global__ void set_outliers(std::uint16_t* queries, int heads, int dimension, float value) {
  for (int h = threadIdx.x; h < heads; h += blockDim.x) {
    queries[h * dimension] = static_cast<std::uint16_t>(__float_as_uint(value) >> 16);
  }
}

void bench(int requests, int length, float spread, bool bernoulli = false) {
  constexpr int kQueryHeads = 32, kKvHeads = 8, kDimension = 128;
  const std::size_t cache = static_cast<std::size_t>(requests) * length * kKvHeads * kDimension;
  auto* keys = allocate<std::uint16_t>(cache);
  auto* values = allocate<std::uint16_t>(cache);
  auto* queries =
      allocate<std::uint16_t>(static_cast<std::size_t>(requests) * kQueryHeads * kDimension);
  fill_gaussian<<<1024, 256>>>(keys, cache, 1, 1);
  fill_gaussian<<<1024, 256>>>(values, cache, 1, 2);
  fill_gaussian<<<64, 256>>>(queries, static_cast<std::size_t>(requests) * kQueryHeads * kDimension,
                             spread, 3);
  std::vector<std::int32_t> lengths(requests, length);
  auto* device_lengths = allocate<std::int32_t>(requests);
  check(cudaMemcpy(device_lengths, lengths.data(), requests * 4, cudaMemcpyHostToDevice));
  DecodeArguments a;
  a.requests = requests;
  a.query_heads = kQueryHeads;
  a.kv_heads = kKvHeads;
  a.head_dimension = kDimension;
  a.score_scale = 0.08838834764F;
  a.queries = queries;
  a.query_head_stride = kDimension;
  a.query_request_stride = kQueryHeads * kDimension;
  const CacheView view{nullptr,
                       static_cast<std::int64_t>(length) * kKvHeads * kDimension,
                       kKvHeads * kDimension,
                       kDimension,
                       1,
                       nullptr};
  a.keys = a.values = view;
  a.keys.data = keys;
  a.values.data = values;
  a.lengths = device_lengths;
  a.maximum_length = length;
  a.seed = allocate<std::uint64_t>(1);
  a.offset = allocate<std::uint64_t>(1);
  a.output = allocate<std::uint16_t>(static_cast<std::size_t>(requests) * kQueryHeads * kDimension);
  auto* sink = allocate<unsigned>(1);
  measure("plain read of keys", requests, length, 0, [&] {
    plain_read<<<132 * 4, 512>>>(reinterpret_cast<const uint4*>(keys), cache / 8, sink);
  });
  if (bernoulli) {
    // Any order of the same numbers is as good: feature by feature.
    a.key_layout = santa::gpu::KeyLayout::kFeatureMajor;
    a.keys = {keys,   static_cast<std::int64_t>(length) * kKvHeads * kDimension,
              1,      static_cast<std::int64_t>(length) * kDimension,
              length, nullptr};
    a.scores = santa::gpu::ScoreScheme::kBernoulliGroup;
    a.bernoulli_draws = 4;
    set_outliers<<<1, 32>>>(queries, requests * kQueryHeads, kDimension, 4.4F);
  }
  const struct {
    const char* name;
    santa::gpu::ValueScheme scheme;
    int samples;
  } rows[] = {{"systematic", santa::gpu::ValueScheme::kSystematic, 256},
              {"systematic", santa::gpu::ValueScheme::kSystematic, 1024},
              {"prop", santa::gpu::ValueScheme::kTileProportional, 1024},
              {"flash", santa::gpu::ValueScheme::kTileUniform, 1024},
              {"flash", santa::gpu::ValueScheme::kTileUniform, 2048}};
  for (const auto& row : rows) {
    if (bernoulli && row.scheme != santa::gpu::ValueScheme::kSystematic) continue;
    a.samples = row.samples;
    a.scheme = row.scheme;
    a.workspace = nullptr;
    a.workspace_bytes = santa::gpu::decode_workspace_bytes(a);
    a.workspace = allocate<char>(a.workspace_bytes);
    const std::string name = std::string(row.name) + (bernoulli     ? ", Bernoulli group"
                                                      : spread == 1 ? ""
                                                                    : ", peaked");
    measure(name.c_str(), requests, length, row.samples, [&] {
      if (santa::gpu::decode(a, nullptr) != santa::gpu::Status::kOk) {
        std::fprintf(stderr, "decode_bench: %s\n", santa::gpu::last_error());
        std::exit(1);
      }
    });
    check(cudaFree(a.workspace));
  }
  for (const void* p : {static_cast<const void*>(keys), static_cast<const void*>(values),
                        static_cast<const void*>(queries)}) {
    check(cudaFree(const_cast<void*>(p)));
  }
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fputs("decode_bench: no CUDA device\n", stderr);
    return 2;
  }
  std::puts("what\trequests\tlength\tsamples\tmedian_us\tp5_us\tp95_us");
  measure("empty launch", 0, 0, 0, [] { nothing<<<1, 32>>>(); });
  bench(1, 8192, 1);
  bench(1, 32768, 1);
  bench(1, 32768, 8);
  bench(1, 32768, 1, true);
  bench(1, 131072, 1);
  bench(8, 32768, 1);
  bench(32, 8192, 1);
  return 0;
}
