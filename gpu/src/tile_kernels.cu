// The kernels of the tile schemes for caches of type SANTA_CACHE_TYPE, which the build sets.
#include "tile_decode.hpp"
#include "tile_kernels.cuh"

namespace santa::gpu {
namespace {

template <ElementType kType, int kDimension>
TileKernels kernels() {
  return {reinterpret_cast<const void*>(&tile_scores_kernel<kType, kDimension>),
          sizeof(typename TileScores<kType, kDimension>::Shared),
          reinterpret_cast<const void*>(&tile_gather_kernel<kType>)};
}

}  // namespace

template <ElementType kType>
TileKernels tile_kernels_of(int head_dimension) {
  switch (head_dimension) {
    case 64:
      return kernels<kType, 64>();
    case 96:
      return kernels<kType, 96>();
    case 128:
      return kernels<kType, 128>();
    case 192:
      return kernels<kType, 192>();
    case 256:
      return kernels<kType, 256>();
    default:
      return {};
  }
}

template TileKernels tile_kernels_of<ElementType::SANTA_CACHE_TYPE>(int);

}  // namespace santa::gpu
