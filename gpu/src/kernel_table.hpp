// The kernels that are built, by shape.
#pragma once

#include <cstddef>

#include "santa/gpu/decode.hpp"

namespace santa::gpu {

struct KernelEntry {
  const void* function = nullptr;  // takes Parameters
  std::size_t shared_bytes = 0;    // without the scores
  int step_tokens = 0;             // of a block
  std::size_t run_floats = 0;      // of a block's runs
  std::size_t step_scores = 0;     // floats of a block's step
  int parts = 1;                   // shares of a pair that a block can take
};

// Of one head dimension (decode_kernels.cu is built once for each); slots, the heads that a kernel
// has room for, are 4, 8 or 16. With several pairs a team another kernel is faster, of the same
// results.
template <int kDimension>
KernelEntry kernel_of(ElementType cache_type, KeyLayout layout, int slots, bool several_pairs);

}  // namespace santa::gpu
