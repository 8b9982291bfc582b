#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include "driver_version.hpp"

namespace santa::gpu {
namespace {

// The functions of NVML that are used here, as its documentation declares them; 0 is success.
using InitOrStop = int (*)();
using AskVersion = int (*)(char* version, unsigned length);
constexpr unsigned kVersionBytes = 80;

// NVML comes with the driver, so it is looked for at run time: programs start without it.
std::string display_driver() {
  std::string version = "unknown";
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return version;
  const auto init = reinterpret_cast<InitOrStop>(dlsym(library, "nvmlInit_v2"));
  const auto stop = reinterpret_cast<InitOrStop>(dlsym(library, "nvmlShutdown"));
  const auto ask = reinterpret_cast<AskVersion>(dlsym(library, "nvmlSystemGetDriverVersion"));
  if (init != nullptr && stop != nullptr && ask != nullptr && init() == 0) {
    char text[kVersionBytes] = "";
    if (ask(text, kVersionBytes) == 0 && text[0] != '\0') version = text;
    stop();
  }
  dlclose(library);
  return version;
}

}  // namespace

std::string driver_version() {
  int newest = 0;
  if (cudaDriverGetVersion(&newest) != cudaSuccess) return display_driver();
  return display_driver() + " (CUDA " + std::to_string(newest / 1000) + "." +
         std::to_string(newest % 1000 / 10) + ")";
}

}  // namespace santa::gpu
