// The golden kernels on a GPU, vectors::kCudaProducer, in programs that have them.
#pragma once

#include <memory>

#include "santa/vectors/producer.hpp"

namespace santa::cli {

// Throws InputError if the program was built without CUDA, or there is no device for it.
std::unique_ptr<vectors::Producer> make_cuda_producer();

}  // namespace santa::cli
