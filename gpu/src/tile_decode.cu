// Workspace and launches of the tile schemes.
#include "tile_decode.hpp"
#include "tile_merge.cuh"

namespace santa::gpu {
namespace {

// Places in the workspace, each at a multiple of 256 bytes.
struct TilePlan {
  TileParameters parameters;
  std::size_t workspace_bytes;

  TilePlan(const DecodeArguments& a, std::size_t kept_bytes) : workspace_bytes(kept_bytes) {
    TileParameters& p = parameters;
    p.arguments = a;
    p.group = a.query_heads / a.kv_heads;
    p.maximum_tiles = (a.maximum_length + a.tile_tokens - 1) / a.tile_tokens;
    while ((1 << p.block_tokens_log2) < a.block_tokens) ++p.block_tokens_log2;
    const std::size_t tiles =
        static_cast<std::size_t>(a.requests) * a.query_heads * p.maximum_tiles;
    place(p.masses, tiles);
    place(p.partials, tiles * a.head_dimension);
    if (a.scheme == ValueScheme::kTileProportional) {
      place(p.scores, tiles * a.tile_tokens);
      place(p.budgets, tiles);
      place(p.remainders, tiles);
    }
  }

 private:
  template <typename T>
  void place(T*& pointer, std::size_t count) {
    pointer =
        reinterpret_cast<T*>(static_cast<char*>(parameters.arguments.workspace) + workspace_bytes);
    workspace_bytes += (count * sizeof(T) + 255) / 256 * 256;
  }
};

TileKernels kernels_of(const DecodeArguments& a) {
  switch (a.cache_type) {
    case ElementType::kBf16:
      return tile_kernels_of<ElementType::kBf16>(a.head_dimension);
    case ElementType::kFp16:
      return tile_kernels_of<ElementType::kFp16>(a.head_dimension);
    case ElementType::kFp8E4M3:
      return tile_kernels_of<ElementType::kFp8E4M3>(a.head_dimension);
    case ElementType::kInt8:
      return tile_kernels_of<ElementType::kInt8>(a.head_dimension);
  }
  return {};
}

// A row of kernels, of which each but the first may be placed before the one ahead of it has ended.
class Launcher {
 public:
  Launcher(TileParameters& parameters, cudaStream_t stream)
      : parameters_(parameters), stream_(stream) {}

  void launch(const void* kernel, dim3 grid, int threads, std::size_t shared_bytes) {
    if (error_ != cudaSuccess) return;
    // Code of an older architecture does not wait for the kernel before it.
    cudaFuncAttributes attributes;
    error_ = cudaFuncGetAttributes(&attributes, kernel);
    if (error_ != cudaSuccess) return;
    if (shared_bytes > 48 * 1024) {
      error_ = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared_bytes));
      if (error_ != cudaSuccess) return;
    }
    cudaLaunchAttribute early;
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream_;
    config.attrs = &early;
    config.numAttrs = !first_ && attributes.ptxVersion >= 90 ? 1 : 0;
    first_ = false;
    void* arguments[] = {&parameters_};
    error_ = cudaLaunchKernelExC(&config, kernel, arguments);
  }

  cudaError_t error() const { return error_; }

 private:
  TileParameters& parameters_;
  cudaStream_t stream_;
  bool first_ = true;
  cudaError_t error_ = cudaSuccess;
};

}  // namespace

std::size_t tile_workspace_bytes(const DecodeArguments& arguments, std::size_t kept_bytes) {
  return TilePlan(arguments, kept_bytes).workspace_bytes;
}

cudaError_t launch_tiles(const DecodeArguments& a, std::size_t kept_bytes, cudaStream_t stream) {
  TilePlan plan(a, kept_bytes);
  TileParameters& p = plan.parameters;
  const TileKernels kernels = kernels_of(a);
  const auto requests = static_cast<unsigned>(a.requests);
  const auto query_heads = static_cast<unsigned>(a.query_heads);
  const auto kv_heads = static_cast<unsigned>(a.kv_heads);
  const auto tiles = static_cast<unsigned>(p.maximum_tiles);
  Launcher launcher(p, stream);
  launcher.launch(
      kernels.scores, dim3(kv_heads, tiles, requests), kTileThreads,
      kernels.scores_shared_bytes + p.group * score_stride(a.tile_tokens) * sizeof(float));
  if (a.scheme == ValueScheme::kTileProportional) {
    launcher.launch(reinterpret_cast<const void*>(&tile_budget_kernel), dim3(query_heads, requests),
                    kBudgetThreads, 0);
    const unsigned work = tiles * static_cast<unsigned>(p.group);
    launcher.launch(kernels.gather, dim3((work + kTileWarps - 1) / kTileWarps, kv_heads, requests),
                    kTileThreads, kTileWarps * a.tile_tokens * sizeof(float));
  }
  launcher.launch(
      reinterpret_cast<const void*>(&tile_merge_kernel),
      dim3(static_cast<unsigned>(a.head_dimension / kMergeFeatures), query_heads, requests),
      kBudgetThreads, 0);
  return launcher.error();
}

}  // namespace santa::gpu
