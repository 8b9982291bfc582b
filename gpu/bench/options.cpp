#include "santa/gpu/bench/options.hpp"

#include <CLI/CLI.hpp>
#include <charconv>

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
  santasim bench --steps 1x32768,32x8192 --samples 256 --json result.json
  santasim bench --lengths 32768 --batches 1 --types bf16,fp8 --spreads 1,8
  santasim bench --steps 1x32768 --schemes prop,flash --samples 1024,2048
  santasim bench --lengths 32768 --batches 1 --scores exact,bernoulli-group --bernoulli 4
  santasim bench --lengths 32768 --batches 1 --energy
)";

// Requests and length of "8x32768"; zeros where it is none.
std::pair<int, int> parse_step(const std::string& text) {
  int requests = 0, length = 0;
  const char* end = text.data() + text.size();
  const auto [middle, first] = std::from_chars(text.data(), end, requests);
  if (first != std::errc() || middle == end || *middle != 'x') return {};
  const auto [rest, second] = std::from_chars(middle + 1, end, length);
  if (second != std::errc() || rest != end || requests < 1 || requests > kMostRequests ||
      length < 1 || length > kMostTokens) {
    return {};
  }
  return {requests, length};
}

std::string check_step(const std::string& text) {
  if (parse_step(text).first > 0) return {};
  return "got '" + text + "'; allowed: REQUESTSxLENGTH such as 8x32768, to " +
         std::to_string(kMostRequests) + "x" + std::to_string(kMostTokens);
}

template <typename Value>
CLI::Option* add_list(CLI::App& command, const char* name, std::vector<Value>& values,
                      const char* text, const char* type) {
  return command.add_option(name, values, text)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name(type);
}

}  // namespace

std::vector<std::pair<int, int>> steps_of(const BenchOptions& options) {
  std::vector<std::pair<int, int>> steps;
  for (const std::string& text : options.steps) steps.push_back(parse_step(text));
  if (!steps.empty()) return steps;
  for (const int requests : options.batches) {
    for (const int length : options.lengths) steps.emplace_back(requests, length);
  }
  return steps;
}

void add_bench_options(CLI::App& command, BenchOptions& options) {
  CLI::Option* lengths = add_list(command, "--lengths", options.lengths,
                                  "Tokens of each request (4096 to 131072)", "N,..")
                             ->check(CLI::Range(1, kMostTokens));
  CLI::Option* batches =
      add_list(command, "--batches", options.batches, "Requests (1,2,4,8,16,32)", "N,..")
          ->check(CLI::Range(1, kMostRequests));
  add_list(command, "--steps", options.steps, "Chosen requests and lengths, in place of all pairs",
           "RxN,..")
      ->check(CLI::Validator(check_step, ""))
      ->excludes(lengths)
      ->excludes(batches);
  add_list(command, "--samples", options.samples, "Value rows that a head draws (256,1024)", "N,..")
      ->check(CLI::Range(1, kMostSamples));
  add_list(command, "--schemes", options.schemes, "Draws (systematic)", "NAME,..")
      ->check(CLI::IsMember({"systematic", "stratified", "independent", "prop", "flash"}));
  command.add_option("--tile", options.tile_tokens, "Keys a tile, of prop and flash (256)")
      ->type_name("N")
      ->check(CLI::Range(128, 1024));
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
