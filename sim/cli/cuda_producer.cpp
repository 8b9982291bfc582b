#include "cuda_producer.hpp"

#include <string>

#include "santa/error.hpp"
#include "santa/gpu/golden_producer.hpp"

namespace santa::cli {

std::unique_ptr<vectors::Producer> make_cuda_producer() {
  const std::string obstacle = gpu::golden_obstacle();
  if (!obstacle.empty()) {
    throw input_error("--producer", vectors::kCudaProducer, obstacle,
                      std::string("a machine with such a device, or ") + vectors::kGoldenProducer);
  }
  return std::make_unique<gpu::GoldenCudaProducer>();
}

}  // namespace santa::cli
