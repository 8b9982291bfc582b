// One persistent cooperative kernel: half of each block's warps stream keys (KeyStream), the other
// half draw and gather values (ValueSample), one request behind.
#pragma once

#include "feature_stream.cuh"
#include "key_stream.cuh"
#include "value_sample.cuh"

namespace santa::gpu {

template <typename Shape>
__global__ void __launch_bounds__(kBlockThreads, 1)
    decode_kernel(const __grid_constant__ Parameters p) {
  using Shared = typename Shape::Shared;
  using Stream = std::conditional_t<Shape::kLayout == KeyLayout::kTokenMajor, KeyStream<Shape>,
                                    FeatureStream<Shape>>;
  extern __shared__ __align__(16) char storage[];
  Shared& shared = *reinterpret_cast<Shared*>(storage);
  float* scores = p.scores != nullptr ? p.scores + static_cast<std::size_t>(blockIdx.x) *
                                                       p.buffers * p.handover_floats
                                      : reinterpret_cast<float*>(storage + sizeof(Shared));
  const bool streams = threadIdx.x < kStreamThreads;
  // The last warp has no part in the rehearsal of the sampling ones; it fetches the code of the
  // streaming ones while they wait for their first keys.
  // Queries that it meets are being written; what it makes of them is not kept.
  const bool rehearses_stream = hidden(threadIdx.x >= kBlockThreads - 32 ? 1 : 0) != 0;
  if (!streams) ValueSample<Shape>(p, shared, scores).prepare();
  if (streams || rehearses_stream) Stream(p, shared, scores).run(rehearses_stream);
  if (!streams) ValueSample<Shape>(p, shared, scores).run();
}

}  // namespace santa::gpu
