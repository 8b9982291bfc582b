// What the functions of santa::gpu return. No exception leaves them.
#pragma once

namespace santa::gpu {

enum class Status {
  kOk,
  kInvalidArgument,    // a pointer is null or misaligned, a number out of its range
  kUnsupported,        // a head dimension, group or device that no kernel is built for
  kWorkspaceTooSmall,  // ask the function that gives its size
  kCudaError,          // cudaGetLastError says which
};

// A sentence about the last status other than kOk that this host thread got: argument, value and
// what is allowed. Valid until the thread's next call.
const char* last_error();

}  // namespace santa::gpu
