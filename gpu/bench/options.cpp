#include "santa/gpu/bench/options.hpp"

#include <CLI/CLI.hpp>

namespace santa::gpu::bench {
namespace {

constexpr int kMostTokens = 1 << 22;
constexpr int kMostRequests = 65535;
constexpr int kMostSamples = 1 << 20;
constexpr double kMostNats = 1000;

constexpr const char* kBenchExamples =
    R"(Times a decode step of the CUDA kernels, and a plain read of the same keys, with cold caches: 512 MB
are rewritten before each of the runs. Median, 5 and 95 % of CUDA events around the launch.

Examples:
  santasim bench
  santasim bench --lengths 32768 --batches 1,8 --samples 256 --json result.json
  santasim bench --lengths 32768 --batches 1 --types bf16,fp8 --spreads 1,8
  santasim bench --lengths 32768 --batches 1 --scores exact,bernoulli-group --bernoulli 4
  santasim bench --lengths 32768 --batches 1 --energy
)";

template <typename Value>
CLI::Option* add_list(CLI::App& command, const char* name, std::vector<Value>& values,
                      const char* text, const char* type) {
  return command.add_option(name, values, text)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name(type);
}

}  // namespace

void add_bench_options(CLI::App& command, BenchOptions& options) {
  add_list(command, "--lengths", options.lengths, "Tokens of each request (4096 to 131072)", "N,..")
      ->check(CLI::Range(1, kMostTokens));
  add_list(command, "--batches", options.batches, "Requests (1,2,4,8,16,32)", "N,..")
      ->check(CLI::Range(1, kMostRequests));
  add_list(command, "--samples", options.samples, "Value rows that a head draws (256,1024)", "N,..")
      ->check(CLI::Range(1, kMostSamples));
  add_list(command, "--schemes", options.schemes, "Draws (systematic)", "NAME,..")
      ->check(CLI::IsMember({"systematic", "stratified", "independent"}));
  add_list(command, "--scores", options.scores,
           "Scores; all but exact take feature-major keys (exact)", "NAME,..")
      ->check(CLI::IsMember({"exact", "bernoulli", "bernoulli-group"}));
  command.add_option("--bernoulli", options.bernoulli_draws, "Draws of a query, if not exact (4)")
      ->type_name("N")
      ->check(CLI::Range(1, 64));
  add_list(command, "--types", options.types, "Keys and values (bf16)", "NAME,..")
      ->check(CLI::IsMember({"bf16", "fp16", "fp8", "int8"}));
  add_list(command, "--spreads", options.spreads, "Deviation of the scores in nats (1)", "X,..")
      ->check(CLI::Range(0.0, kMostNats));
  command.add_option("--query-heads", options.query_heads, "Query heads (32)")
      ->type_name("N")
      ->check(CLI::Range(1, kMostRequests));
  command.add_option("--kv-heads", options.kv_heads, "KV heads (8)")
      ->type_name("N")
      ->check(CLI::Range(1, kMostRequests));
  command.add_option("--head-dimension", options.head_dimension, "Head dimension (128)")
      ->type_name("N")
      ->check(CLI::IsMember({64, 96, 128, 192, 256}));
  command.add_option("--runs", options.runs, "Timed runs (40)")
      ->type_name("N")
      ->check(CLI::Range(20, 100000));
  command.add_flag("--energy", options.energy,
                   "Energy of a step too, by the board's counter: a second or more a row");
  command.add_option("--json", options.json, "Results, to a file or - for standard output")
      ->type_name("F");
  command.footer(kBenchExamples);
}

}  // namespace santa::gpu::bench
