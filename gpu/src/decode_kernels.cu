// The decode kernels of head dimension SANTA_HEAD_DIMENSION, which the build sets.
#include "decode_kernel.cuh"
#include "kernel_table.hpp"

namespace santa::gpu {
namespace {

template <ElementType kType, int kDimension, int kSlots, bool kInTurns, KeyLayout kLayout>
KernelEntry entry() {
  using Shape = BlockShape<kType, kDimension, kSlots, kInTurns, kLayout>;
  return {reinterpret_cast<const void*>(&decode_kernel<Shape>),
          sizeof(typename Shape::Shared),
          kStreamWarps * Shape::kStepTokens,
          Shape::kRunFloats,
          static_cast<std::size_t>(Shape::kStepScores) * kStreamThreads,
          Shape::kParts};
}

template <ElementType kType, int kDimension>
KernelEntry entry_of(KeyLayout layout, int slots, bool several_pairs) {
  if (layout == KeyLayout::kFeatureMajor) {
    if (slots == 4) return entry<kType, kDimension, 4, false, KeyLayout::kFeatureMajor>();
    if (slots == 8) return entry<kType, kDimension, 8, false, KeyLayout::kFeatureMajor>();
    return entry<kType, kDimension, 16, false, KeyLayout::kFeatureMajor>();
  }
  if (slots == 4 && several_pairs) {
    return entry<kType, kDimension, 4, true, KeyLayout::kTokenMajor>();
  }
  if (slots == 4) return entry<kType, kDimension, 4, false, KeyLayout::kTokenMajor>();
  if (slots == 8) return entry<kType, kDimension, 8, false, KeyLayout::kTokenMajor>();
  return entry<kType, kDimension, 16, false, KeyLayout::kTokenMajor>();
}

}  // namespace

template <int kDimension>
KernelEntry kernel_of(ElementType cache_type, KeyLayout layout, int slots, bool several_pairs) {
  switch (cache_type) {
    case ElementType::kBf16:
      return entry_of<ElementType::kBf16, kDimension>(layout, slots, several_pairs);
    case ElementType::kFp16:
      return entry_of<ElementType::kFp16, kDimension>(layout, slots, several_pairs);
    case ElementType::kFp8E4M3:
      return entry_of<ElementType::kFp8E4M3, kDimension>(layout, slots, several_pairs);
    case ElementType::kInt8:
      return entry_of<ElementType::kInt8, kDimension>(layout, slots, several_pairs);
  }
  return {};
}

template KernelEntry kernel_of<SANTA_HEAD_DIMENSION>(ElementType, KeyLayout, int, bool);

}  // namespace santa::gpu
