// SANTA_HD marks a function for both compilers: nvcc compiles it for host and device, g++ ignores
// it.
#pragma once

#if defined(__CUDACC__)
#define SANTA_HD __host__ __device__
#else
#define SANTA_HD
#endif
