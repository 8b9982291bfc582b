// The handover of the decode kernel alone: one half of a block writes a place in shared memory, the
// other half reads it, and two named barriers pass it to and fro.
//
//   handover_probe wait|arrive|inner|none
//
// wait: both halves wait at both barriers; arrive: the half that passes the place on only arrives;
// inner: as wait, and the writers meet at a barrier of their own before they write; none: no
// barriers, which is a race. With barriers every sum is checked (exit code 1). What
// compute-sanitizer's racecheck says to each is in docs/gpu.md.
#include <cstdio>
#include <cstring>

namespace {

constexpr int kHalf = 256;
constexpr int kRounds = 64;

enum class Kind { kWait, kArrive, kInner, kNone };

__device__ void wait_at(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

template <Kind kKind>
__device__ void take(int barrier) {
  if (kKind != Kind::kNone) wait_at(barrier, 2 * kHalf);
}

template <Kind kKind>
__device__ void pass(int barrier) {
  if (kKind == Kind::kArrive) {
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(2 * kHalf) : "memory");
  } else {
    take<kKind>(barrier);
  }
}

template <Kind kKind>
__global__ void hand_over(int* sums) {
  __shared__ volatile int place[kHalf];
  const int thread = static_cast<int>(threadIdx.x) % kHalf;
  if (threadIdx.x < kHalf) {
    for (int i = 0; i < kRounds; ++i) {
      if (i > 0) take<kKind>(2);
      if (kKind == Kind::kInner) wait_at(3, kHalf);
      place[thread] = i + thread;
      pass<kKind>(1);
    }
  } else {
    int sum = 0;
    for (int i = 0; i < kRounds; ++i) {
      take<kKind>(1);
      sum += place[kHalf - 1 - thread];
      if (i + 1 < kRounds) pass<kKind>(2);
    }
    sums[thread] = sum;
  }
}

int run(const char* kind) {
  int* sums = nullptr;
  if (cudaMallocManaged(&sums, kHalf * sizeof(int)) != cudaSuccess) {
    std::puts("[  SKIPPED ] no CUDA device");
    return 77;
  }
  const bool is_race = std::strcmp(kind, "none") == 0;
  if (is_race) {
    hand_over<Kind::kNone><<<1, 2 * kHalf>>>(sums);
  } else if (std::strcmp(kind, "wait") == 0) {
    hand_over<Kind::kWait><<<1, 2 * kHalf>>>(sums);
  } else if (std::strcmp(kind, "arrive") == 0) {
    hand_over<Kind::kArrive><<<1, 2 * kHalf>>>(sums);
  } else {
    hand_over<Kind::kInner><<<1, 2 * kHalf>>>(sums);
  }
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int thread = 0; thread < kHalf && !is_race; ++thread) {
    const int right = kRounds * (kRounds - 1) / 2 + kRounds * (kHalf - 1 - thread);
    if (sums[thread] != right) {
      std::printf("thread %d: %d, not %d\n", thread, sums[thread], right);
      return 1;
    }
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  for (const char* kind : {"wait", "arrive", "inner", "none"}) {
    if (count == 2 && std::strcmp(words[1], kind) == 0) return run(kind);
  }
  std::fputs("handover_probe: give one of wait, arrive, inner, none\n", stderr);
  return 2;
}
