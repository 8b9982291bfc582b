// What answers the requests of recorded vectors: the golden model here, a GPU where there is one.
#pragma once

#include "santa/vectors/vector.hpp"

namespace santa::vectors {

class Producer {
 public:
  Producer() = default;
  virtual ~Producer() = default;
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  virtual Device device() const = 0;
  // Throws std::runtime_error if the device fails.
  virtual Results answer(const Request& request) = 0;
};

// The golden model on this processor.
class GoldenProducer final : public Producer {
 public:
  Device device() const override;
  Results answer(const Request& request) override;
};

}  // namespace santa::vectors
