// Where a head's S draws lie on the line of cumulative weight: ascending integers below its length,
// the same to the bit in every block, so that draws of disjoint ranges add up to S exactly.
#pragma once

#include <cstdint>

#include "philox.cuh"
#include "santa/gpu/decode.hpp"

namespace santa::gpu {

// The random numbers of one head of one request, addressed by the number of a draw.
struct DrawStream {
  std::uint64_t seed;
  std::uint64_t offset;
  std::uint32_t request;
  std::uint32_t head;

  __device__ double uniform(std::uint32_t draw) const {
    const Random4 r = philox(seed, offset + (static_cast<std::uint64_t>(draw) << 40),
                             static_cast<std::uint64_t>(request) << 32 | head);
    return uniform53(r.words[0], r.words[1]);
  }
};

// 1 / x by two steps of Newton's method: a division is a call of some hundred instructions.
__device__ inline double reciprocal(double x) {
  double r = static_cast<double>(__frcp_rn(static_cast<float>(x)));
  r = r * (2 - x * r);
  return r * (2 - x * r);
}

// The draws of one head. The line is cut in as many strata as there are draws.
class Draws {
 public:
  ValueScheme scheme;
  int samples;
  std::uint64_t total;
  double stride;  // total / samples
  double inverse_stride;
  double shared;        // offset of kSystematic, on [0, 1)
  const float* sorted;  // draws of kIndependent in strata, ascending
  const DrawStream* stream;

  // How many draws lie below a position.
  __device__ int below(std::uint64_t end) const {
    if (end >= total) return samples;
    return below_strata(static_cast<double>(end) * inverse_stride);
  }

  // Where a draw lies; not more than a rounding error beyond what below() says of it.
  __device__ std::uint64_t position(int draw) const {
    const double strata = scheme == ValueScheme::kSystematic
                              ? draw + shared
                              : other_position(scheme, draw, stream, sorted);
    return static_cast<std::uint64_t>(strata * stride);
  }

  __device__ int below_strata(double strata) const {
    const int count = scheme == ValueScheme::kSystematic
                          ? __double2int_ru(strata - shared)
                          : other_below(scheme, strata, samples, stream, sorted);
    return max(0, min(count, samples));
  }

 private:
  // The schemes that are not the default; out of line to keep the other's code short.
  __device__ __noinline__ static double other_position(ValueScheme scheme, int draw,
                                                       const DrawStream* stream,
                                                       const float* sorted) {
    return scheme == ValueScheme::kStratified ? draw + stream->uniform(draw)
                                              : static_cast<double>(sorted[draw]);
  }

  __device__ __noinline__ static int other_below(ValueScheme scheme, double strata, int samples,
                                                 const DrawStream* stream, const float* sorted) {
    if (scheme == ValueScheme::kStratified) {
      const int whole = min(static_cast<int>(strata), samples - 1);
      return whole + (stream->uniform(whole) < strata - whole ? 1 : 0);
    }
    int low = 0;
    for (int high = samples; low < high;) {
      const int middle = (low + high) / 2;
      if (sorted[middle] < strata)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
};

}  // namespace santa::gpu
