// The decode kernels of head dimension SANTA_HEAD_DIMENSION, which the build sets.
#include "decode_kernel.cuh"
#include "kernel_table.hpp"

namespace santa::gpu {
namespace {

template <ElementType kType, int kDimension, int kSlots>
KernelEntry entry() {
  using Shape = BlockShape<kType, kDimension, kSlots>;
  return {reinterpret_cast<const void*>(&decode_kernel<kType, kDimension, kSlots>),
          sizeof(typename Shape::Shared), kStreamWarps * Shape::kStepTokens,
          static_cast<std::size_t>(Shape::kStepScores) * kStreamThreads};
}

template <ElementType kType, int kDimension>
KernelEntry entry_of(int slots) {
  if (slots == 4) return entry<kType, kDimension, 4>();
  if (slots == 8) return entry<kType, kDimension, 8>();
  return entry<kType, kDimension, 16>();
}

}  // namespace

template <int kDimension>
KernelEntry kernel_of(ElementType cache_type, int slots) {
  switch (cache_type) {
    case ElementType::kBf16: return entry_of<ElementType::kBf16, kDimension>(slots);
    case ElementType::kFp16: return entry_of<ElementType::kFp16, kDimension>(slots);
    case ElementType::kFp8E4M3: return entry_of<ElementType::kFp8E4M3, kDimension>(slots);
    case ElementType::kInt8: return entry_of<ElementType::kInt8, kDimension>(slots);
  }
  return {};
}

template KernelEntry kernel_of<SANTA_HEAD_DIMENSION>(ElementType, int);

}  // namespace santa::gpu
