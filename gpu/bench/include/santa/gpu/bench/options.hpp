// What a benchmark of the decode kernels measures; the options of `santasim bench` and
// decode_bench.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace santa::gpu::bench {

struct BenchOptions {
  std::vector<int> lengths{4096, 8192, 16384, 32768, 65536, 131072};  // tokens of each request
  std::vector<int> batches{1, 2, 4, 8, 16, 32};                       // requests
  std::vector<std::string> steps;  // "8x32768": requests and length; in place of all pairs of these
  std::vector<int> samples{256, 1024};
  std::vector<std::string> schemes{"systematic"};
  int tile_tokens = 256;  // of the schemes prop and flash
  std::vector<std::string> scores{"exact"};
  int bernoulli_draws = 4;                 // of scores that are not exact
  std::vector<std::string> types{"bf16"};  // of keys and values
  std::vector<double> spreads{1};          // deviation of the scores, in nats
  int query_heads = 32;
  int kv_heads = 8;
  int head_dimension = 128;
  int runs = 40;  // timed, after ten that are not
  bool energy = false;
  std::string json;  // empty: none; "-": standard output, in place of the table
};

// (requests, length) of all steps that are asked for.
std::vector<std::pair<int, int>> steps_of(const BenchOptions& options);

// Adds the options to a command; the parser checks and fills `options`.
void add_bench_options(CLI::App& command, BenchOptions& options);

}  // namespace santa::gpu::bench
