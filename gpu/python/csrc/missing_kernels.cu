// The head dimension SANTA_HEAD_DIMENSION where the package is built without its kernels
// (setup.py); the operator refuses it before it would be asked for.
#include "kernel_table.hpp"

namespace santa::gpu {

template <int kDimension>
KernelEntry kernel_of(ElementType, KeyLayout, int, bool) {
  return {};
}

template KernelEntry kernel_of<SANTA_HEAD_DIMENSION>(ElementType, KeyLayout, int, bool);

}  // namespace santa::gpu
