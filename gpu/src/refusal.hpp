// How a function of santa::gpu ends early: a message for last_error(), and a status for its caller.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>

#include "santa/gpu/status.hpp"

namespace santa::gpu {

// Thrown and caught within one function of the interface.
struct Refused {
  Status status;
};

void set_last_error(const char* message);

template <typename... Values>
[[noreturn]] void refuse(Status status, const char* format, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, format, values...);
  set_last_error(text);
  throw Refused{status};
}

inline void check_cuda(cudaError_t error, const char* what) {
  if (error != cudaSuccess) refuse(Status::kCudaError, "%s: %s", what, cudaGetErrorString(error));
}

inline void check_range(const char* name, long long value, long long low, long long high) {
  if (value < low || value > high) {
    refuse(Status::kInvalidArgument, "%s is %lld, allowed are %lld to %lld", name, value, low,
           high);
  }
}

inline void check_pointer(const char* name, const void* pointer, std::size_t alignment) {
  if (pointer == nullptr) refuse(Status::kInvalidArgument, "%s is null", name);
  if (reinterpret_cast<std::uintptr_t>(pointer) % alignment != 0) {
    refuse(Status::kInvalidArgument, "%s is not aligned to %d bytes", name,
           static_cast<int>(alignment));
  }
}

}  // namespace santa::gpu
