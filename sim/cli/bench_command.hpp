// `santasim bench`.
#pragma once

#include "options.hpp"

namespace santa::cli {

// Throws InputError where this program or machine has no CUDA.
void bench(const gpu::bench::BenchOptions& options);

}  // namespace santa::cli
