// The golden arithmetic headers, compiled for host and device from the same text, give the same
// bits. Exit code 0: equal; 1: not; 77: no device, nothing compared.
#include <cstdio>
#include <vector>

#include "santa/arithmetic/coefficient.hpp"
#include "santa/arithmetic/lfsr.hpp"
#include "santa/arithmetic/sampler.hpp"
#include "santa/arithmetic/weight.hpp"

namespace {

using namespace santa::arithmetic;

__constant__ std::uint16_t exponential_table[256];

// Every function of the headers on inputs that follow from `index`, folded into one word.
// `table` is the exponential table where the caller can read it.
SANTA_HD std::uint64_t all_functions(std::uint64_t index, const std::uint16_t* table) {
  std::uint64_t fold = 0;
  const auto mix_in = [&fold, index](std::uint64_t value) { fold = mix64(fold ^ value) + index; };

  const std::uint64_t seed = derive_stream(
      index + 1, {index % 7, index % 28, index % 32, index / 3, StreamPurpose::kScores});
  mix_in(seed);
  LaneStream lanes(seed);
  Lfsr64 lfsr(seed);
  mix_in(lfsr.draw());
  mix_in(draw_below(lfsr, (index % 1000) + 1));
  mix_in(draw_below(lfsr, (std::uint64_t{1} << 44) - index));

  const unsigned draws_log2 = static_cast<unsigned>(index % 7);
  const std::uint32_t operand = (lanes.next16() << 7) >> (7 - draws_log2);
  const std::int32_t shared = stratified_count(operand, lanes.next16());
  mix_in(static_cast<std::uint64_t>(exact_count(operand)));
  mix_in(static_cast<std::uint64_t>(shared));
  mix_in(static_cast<std::uint64_t>(independent_count(operand, draws_log2, lanes)));
  const GroupRatio ratio{static_cast<std::int8_t>(static_cast<int>(index % 8) - 4),
                         static_cast<std::uint16_t>(lanes.next16())};
  const std::int32_t coefficient = group_coefficient(shared, ratio, lanes.next16());
  mix_in(static_cast<std::uint64_t>(coefficient));
  mix_in(digit_count(coefficient));

  std::int32_t score = 0;
  for (int feature = 0; feature < 16; ++feature) {
    const std::int32_t c = static_cast<std::int32_t>(lanes.next16() % 255) - 127;
    score = shift_add(score, c, static_cast<std::int8_t>(lanes.next16() & 255U));
  }
  mix_in(static_cast<std::uint64_t>(static_cast<std::uint32_t>(score)));

  const ScaleFactor scale{
      static_cast<std::int8_t>(index % 20), static_cast<std::int8_t>(index % 3 - 1),
      static_cast<std::uint8_t>(1 + index % 6), static_cast<std::int8_t>((index / 3) % 3 - 1),
      static_cast<std::uint8_t>(1 + (index / 6) % 6)};
  const std::int64_t scaled = scale_score(score, scale);
  mix_in(static_cast<std::uint64_t>(scaled));
  const std::int32_t x = static_cast<std::int32_t>(scaled % (1 << 22));
  const std::int32_t m = tile_exponent(x + static_cast<std::int32_t>(lanes.next16() % 8000));
  const std::uint32_t u = weight_from_entry(table[static_cast<std::uint32_t>(x) & 255U], x, m);
  mix_in(u);
  const unsigned distance = tile_distance(m + static_cast<std::int32_t>(index % 80), m);
  mix_in(distance);
  const std::uint64_t mass = tile_mass(u * 97, distance % 24) + 1;
  mix_in(mass);

  const unsigned samples_log2 = static_cast<unsigned>(index % 13);
  const std::uint64_t threshold = stratum_threshold(index % (1U << samples_log2), mass, mass / 2);
  mix_in(threshold);
  mix_in(threshold_within(threshold, mass / 3, samples_log2) ? 1 : 0);
  const std::uint64_t residual = tile_residual(threshold, 0, samples_log2, distance % 8);
  mix_in(residual);
  mix_in(residual_within(residual, u, samples_log2) ? 1 : 0);
  mix_in(static_cast<std::uint64_t>(normalize(score % (128 << samples_log2), samples_log2)));
  return fold;
}

__global__ void run(std::uint64_t* folds, std::uint64_t count) {
  const std::uint64_t index = blockIdx.x * static_cast<std::uint64_t>(blockDim.x) + threadIdx.x;
  if (index < count) folds[index] = all_functions(index, exponential_table);
}

bool succeeded(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return true;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  return false;
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no CUDA device on this machine\n");
    return 77;
  }
  constexpr std::uint64_t kCount = 1 << 20;
  std::uint64_t* device_folds = nullptr;
  std::vector<std::uint64_t> folds(kCount);
  const bool ran =
      succeeded(cudaMemcpyToSymbol(exponential_table, kExponentialTable.data(), 512), "table") &&
      succeeded(cudaMalloc(&device_folds, kCount * 8), "memory") &&
      (run<<<kCount / 256, 256>>>(device_folds, kCount), succeeded(cudaGetLastError(), "launch")) &&
      succeeded(cudaMemcpy(folds.data(), device_folds, kCount * 8, cudaMemcpyDeviceToHost), "copy");
  if (!ran) return 1;
  cudaFree(device_folds);
  std::uint64_t different = 0;
  for (std::uint64_t index = 0; index < kCount; ++index) {
    if (folds[index] == all_functions(index, kExponentialTable.data())) continue;
    if (different++ == 0)
      std::fprintf(stderr, "first difference at index %llu\n",
                   static_cast<unsigned long long>(index));
  }
  std::printf("%llu inputs compared, %llu different\n", static_cast<unsigned long long>(kCount),
              static_cast<unsigned long long>(different));
  return different == 0 ? 0 : 1;
}
