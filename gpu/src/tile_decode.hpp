// The tile schemes of decode(): what decode.cu calls once the arguments are checked.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "santa/gpu/decode.hpp"

namespace santa::gpu {

constexpr int kMinimumTileTokens = 128;
constexpr int kMaximumTileTokens = 1024;
constexpr int kTileTokensStep = 16;

inline bool in_tiles(ValueScheme scheme) {
  return scheme == ValueScheme::kTileProportional || scheme == ValueScheme::kTileUniform;
}

// The first `kept_bytes` of the workspace, which other schemes keep from launch to launch, are left
// alone.
std::size_t tile_workspace_bytes(const DecodeArguments& arguments, std::size_t kept_bytes);

// Two kernels for kTileUniform, four for kTileProportional.
cudaError_t launch_tiles(const DecodeArguments& arguments, std::size_t kept_bytes,
                         cudaStream_t stream);

// The kernels of one type of cache (tile_kernels.cu is built once for each).
struct TileKernels {
  const void* scores = nullptr;         // takes TileParameters
  std::size_t scores_shared_bytes = 0;  // without the scores
  const void* gather = nullptr;
};
template <ElementType kType>
TileKernels tile_kernels_of(int head_dimension);

}  // namespace santa::gpu
