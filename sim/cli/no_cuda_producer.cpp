// In place of cuda_producer.cpp where CUDA is not there.
#include <string>

#include "cuda_producer.hpp"
#include "santa/error.hpp"

namespace santa::cli {

std::unique_ptr<vectors::Producer> make_cuda_producer() {
  throw input_error("--producer", vectors::kCudaProducer, "this program was built without CUDA",
                    std::string(vectors::kGoldenProducer) + ", or a build with nvcc");
}

}  // namespace santa::cli
