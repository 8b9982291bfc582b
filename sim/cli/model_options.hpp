// Options of `santasim model`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "options.hpp"

namespace santa::cli {

// What is compared, in the order of tables.
enum class Method : std::uint8_t {
  kDenseInt8,
  kDenseFp16,
  kTopK,
  kSampled,           // sampled values, exact scores
  kSampledBernoulli,  // sampled values, Bernoulli queries
};
struct MethodName {
  const char* name;  // on the command line and in JSON
  const char* title;
};
inline constexpr std::array<MethodName, 5> kMethodNames = {{{"dense", "dense int8"},
                                                            {"dense_fp16", "dense fp16"},
                                                            {"topk", "top-k"},
                                                            {"sampled", "sampled"},
                                                            {"bernoulli", "sampled, Bernoulli"}}};
constexpr const MethodName& name_of(Method method) {
  return kMethodNames[static_cast<std::size_t>(method)];
}

struct ModelOptions {
  std::string model;
  std::vector<std::uint32_t> lengths;  // tokens of each request of the batch, the new one included
  InputOptions data;                   // kShippedTrace, kTrace, or kSynthetic (Gaussian)
  std::string config;
  std::vector<config::Override> overrides;
  std::vector<Method> methods;
  attention::DecodeOptions decode;  // of kSampledBernoulli; kSampled has the same with exact scores
  std::uint32_t top_k = 0;
  std::uint64_t seed = 1;
  std::uint64_t step = 0;
  std::optional<std::uint32_t> sample_layers;  // empty: all
  std::uint32_t jobs = 1;                      // processes at a time; no result depends on it
  std::string json;                            // empty: none; "-": standard output
  bool tsv = false;

  // A command with every choice spelled out that repeats this run, less its output options.
  std::string command() const;
};

struct RawModelOptions;

}  // namespace santa::cli
