// A CUDA device as a producer of recorded vectors (docs/vectors.md).
#pragma once

#include <string>
#include <vector>

#include "santa/vectors/producer.hpp"

namespace santa::gpu {

// Why the golden kernels cannot run here, or nothing: no driver, no device, or one that the kernels
// were not compiled for.
std::string golden_obstacle();

// The golden kernels on the current device. All functions throw std::runtime_error if it fails.
class GoldenCudaProducer final : public vectors::Producer {
 public:
  // Name of the device, version of its driver, and of the toolkit.
  vectors::Device device() const override;
  vectors::Results answer(const vectors::Request& request) override;
  // The same for several requests, at least one, in one launch.
  std::vector<vectors::Results> answer_all(const std::vector<vectors::Request>& requests);
};

}  // namespace santa::gpu
