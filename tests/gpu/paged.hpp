// Pages of any size and either order of heads give the bits of a contiguous cache.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "problem.hpp"

namespace santa::gpu::testing {

// For a contiguous shape with 16-bit caches.
inline void expect_paged_is_contiguous(const Shape& shape) {
  const std::size_t row = static_cast<std::size_t>(shape.head_dimension) * 2;
  Problem contiguous(shape);
  contiguous.upload();
  for (const int block : {16, 64, 256}) {
    for (const bool head_major : {false, true}) {
      Shape paged_shape = shape;
      paged_shape.block_tokens = block;
      paged_shape.head_major = head_major;
      Problem paged(paged_shape);
      for (int r = 0; r < static_cast<int>(shape.lengths.size()); ++r) {
        for (int n = 0; n < shape.lengths[r]; ++n) {
          for (int h = 0; h < shape.kv_heads; ++h) {
            const std::size_t to = 2 * paged.index(r, n, h, 0);
            const std::size_t from = 2 * contiguous.index(r, n, h, 0);
            std::memcpy(&paged.keys_[to], &contiguous.keys_[from], row);
            std::memcpy(&paged.values_[to], &contiguous.values_[from], row);
          }
        }
      }
      paged.queries_ = contiguous.queries_;
      paged.upload();
      ASSERT_EQ(paged.run(3), contiguous.run(3)) << block;
    }
  }
}

}  // namespace santa::gpu::testing
