// In place of cuda_backend.cpp where CUDA is not there.
#include <stdexcept>

#include "backend.hpp"

namespace santa::python {

std::string cuda_obstacle() {
  return "this module was built without CUDA";
}

std::vector<Answer> answer_on_cuda(const std::vector<Work>& /*work*/) {
  throw std::runtime_error(cuda_obstacle());
}

}  // namespace santa::python
