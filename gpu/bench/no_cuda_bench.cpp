// In place of bench.cu where there is no nvcc.
#include "santa/error.hpp"
#include "santa/gpu/bench/results.hpp"

namespace santa::gpu::bench {

Results run_bench(const BenchOptions& /*options*/, void (* /*progress*/)(const Row&)) {
  throw input_error("", "", "this program was built without CUDA, its kernels are not there",
                    "a program built where nvcc is");
}

}  // namespace santa::gpu::bench
