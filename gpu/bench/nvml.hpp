// The driver's management library, as far as a benchmark needs it. It is looked for when the
// program runs: without it nothing is missing but these numbers.
#pragma once

#include <optional>
#include <string>

namespace santa::gpu::bench {

class Nvml {
 public:
  // Of the device with this PCI address, such as "0000:65:00.0".
  explicit Nvml(const std::string& pci_address);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::optional<std::string> driver() const;
  // Maximum and present clocks of the multiprocessors, maximum of the memory.
  std::optional<int> sm_clock_max_mhz() const;
  std::optional<int> sm_clock_mhz() const;
  std::optional<int> memory_clock_max_mhz() const;
  // Energy that the board has used since the driver was loaded. The counter moves in steps, some
  // ten a second.
  std::optional<double> energy_mj() const;

 private:
  struct Functions;
  Functions* functions_ = nullptr;
  void* device_ = nullptr;
};

}  // namespace santa::gpu::bench
