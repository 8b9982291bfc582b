#include "nvml.hpp"

#include <dlfcn.h>

#include <memory>

namespace santa::gpu::bench {
namespace {

// NVML's C interface is stable by name; its numbers are those of nvml.h.
constexpr unsigned kClockSm = 1;
constexpr unsigned kClockMemory = 2;
constexpr unsigned kDriverText = 80;

}  // namespace

struct Nvml::Functions {
  void* library = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*handle)(const char*, void**) = nullptr;
  int (*driver)(char*, unsigned) = nullptr;
  int (*max_clock)(void*, unsigned, unsigned*) = nullptr;
  int (*clock)(void*, unsigned, unsigned*) = nullptr;
  int (*energy)(void*, unsigned long long*) = nullptr;

  template <typename Function>
  bool find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
  }
};

Nvml::Nvml(const std::string& pci_address) {
  auto functions = std::make_unique<Functions>();
  Functions& f = *functions;
  f.library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (f.library == nullptr) return;
  const bool found = f.find("nvmlInit_v2", f.init) && f.find("nvmlShutdown", f.shutdown) &&
                     f.find("nvmlDeviceGetHandleByPciBusId_v2", f.handle) &&
                     f.find("nvmlSystemGetDriverVersion", f.driver) &&
                     f.find("nvmlDeviceGetMaxClockInfo", f.max_clock) &&
                     f.find("nvmlDeviceGetClockInfo", f.clock) &&
                     f.find("nvmlDeviceGetTotalEnergyConsumption", f.energy);
  if (!found || f.init() != 0) {
    dlclose(f.library);
    return;
  }
  if (f.handle(pci_address.c_str(), &device_) != 0) {
    f.shutdown();
    dlclose(f.library);
    return;
  }
  functions_ = functions.release();
}

Nvml::~Nvml() {
  if (functions_ == nullptr) return;
  functions_->shutdown();
  dlclose(functions_->library);
  delete functions_;
}

std::optional<std::string> Nvml::driver() const {
  char text[kDriverText] = {};
  if (functions_ == nullptr || functions_->driver(text, kDriverText) != 0) return std::nullopt;
  return std::string(text);
}

std::optional<int> Nvml::sm_clock_max_mhz() const {
  unsigned mhz = 0;
  if (functions_ == nullptr || functions_->max_clock(device_, kClockSm, &mhz) != 0) {
    return std::nullopt;
  }
  return static_cast<int>(mhz);
}

std::optional<int> Nvml::sm_clock_mhz() const {
  unsigned mhz = 0;
  if (functions_ == nullptr || functions_->clock(device_, kClockSm, &mhz) != 0) return std::nullopt;
  return static_cast<int>(mhz);
}

std::optional<int> Nvml::memory_clock_max_mhz() const {
  unsigned mhz = 0;
  if (functions_ == nullptr || functions_->max_clock(device_, kClockMemory, &mhz) != 0) {
    return std::nullopt;
  }
  return static_cast<int>(mhz);
}

std::optional<double> Nvml::energy_mj() const {
  unsigned long long mj = 0;
  if (functions_ == nullptr || functions_->energy(device_, &mj) != 0) return std::nullopt;
  return static_cast<double>(mj);
}

}  // namespace santa::gpu::bench
