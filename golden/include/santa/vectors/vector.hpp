// A recorded vector: a request, what some device or model answered, and where the answer is from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "santa/attention/blocks.hpp"
#include "santa/vectors/request.hpp"

namespace santa::vectors {

inline constexpr const char* kGoldenProducer = "golden-cpu";
inline constexpr const char* kCudaProducer = "golden-cuda";  // gpu/golden, where it is built

// What computed the results. Texts without control characters, none of them empty.
struct Device {
  std::string producer;  // kGoldenProducer, kCudaProducer, ...
  std::string name;      // "x86-64", "NVIDIA H200", ...
  std::string driver;    // its version; "none" where there is no driver
  std::string toolkit;   // compiler or toolkit, with its version
};

struct Provenance {
  Device device;
  std::string program;  // name and version
  std::string commit;   // of the sources; "unknown" outside git
  std::string date;     // YYYY-MM-DD, UTC
};

struct HeadResult {
  std::int32_t exponent = 0;  // M
  std::uint64_t mass = 0;     // Z
  std::uint64_t offset = 0;   // U; 0 without keys or systematic sampling
};

// The answer. What lies inside a fused kernel may be absent: the first three, each on its own.
struct Results {
  std::optional<std::vector<std::int16_t>> coefficients;  // [head][feature]
  std::optional<std::vector<std::int32_t>> scores;        // [head][key], accumulators
  std::optional<std::vector<std::uint16_t>> weights;      // [head][key], 0.16
  std::vector<attention::TileStatistics> tiles;           // [tile][head]
  std::vector<HeadResult> heads;                          // [head]
  std::vector<attention::SampledRow> rows;                // ascending by key; none of dense values
  std::vector<std::int16_t> output;                       // [head][feature], 8.8
};

struct Vector {
  std::string path;  // where it was read from
  Request request;   // attends to its whole cache
  Results results;
  Provenance provenance;
};

// The golden model's answer in the form of a vector's.
Results results_of(const Request& request, const Expectation& expected);

// What a test bench must see: the golden model's expectation with everything that the vector states
// put in its place.
Expectation with_results(const Request& request, Expectation golden, const Results& recorded);

struct Difference {
  std::string field;     // "output of head 2, feature 5"
  std::string recorded;  // values as text
  std::string computed;
};

// The first difference along the way of the data: coefficients, scores, weights, tiles, heads,
// rows, output. Parts that `recorded` does not have are not compared; `computed` must have all of
// them.
std::optional<Difference> first_difference(const Request& request, const Results& recorded,
                                           const Results& computed);

// How many numbers first_difference() compares when there is none.
std::uint64_t compared_values(const Results& recorded, std::uint32_t group);

}  // namespace santa::vectors
