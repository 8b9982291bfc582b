// What the tests of the tile schemes share.
#pragma once

#include "systematic_counts.hpp"  // SANTA_NEED_DEVICE

namespace santa::gpu::testing {

inline constexpr ValueScheme kSchemes[] = {ValueScheme::kTileProportional,
                                           ValueScheme::kTileUniform};

inline Shape small(ValueScheme scheme, int length) {
  Shape shape;
  shape.lengths = {length};
  shape.query_heads = 8;
  shape.kv_heads = 2;
  shape.head_dimension = 64;
  shape.query_type = shape.cache_type = ElementType::kFp16;
  shape.tile_tokens = 128;
  shape.scheme = scheme;
  return shape;
}

}  // namespace santa::gpu::testing
