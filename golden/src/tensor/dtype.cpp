#include "santa/tensor/dtype.hpp"

namespace santa::tensor {

std::size_t element_bytes(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return 4;
    case DType::kF16:
    case DType::kBf16:
      return 2;
    case DType::kI8:
      break;
  }
  return 1;
}

std::string dtype_name(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "F32";
    case DType::kF16:
      return "F16";
    case DType::kBf16:
      return "BF16";
    case DType::kI8:
      break;
  }
  return "I8";
}

}  // namespace santa::tensor
