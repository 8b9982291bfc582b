// `santasim bench` as a program of its own, for machines that have CUDA's driver and little else:
// all but glibc is linked in.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>

#include "build_information.hpp"
#include "santa/error.hpp"
#include "santa/gpu/bench/results.hpp"

namespace {

using santa::gpu::bench::BenchOptions;
using santa::gpu::bench::Row;

void show(const Row& row) {
  std::fprintf(stderr, "%s, %s, %d x %d, S = %d\n", row.kernel.c_str(), row.type.c_str(),
               row.requests, row.length, row.samples);
}

void run(const BenchOptions& options) {
  santa::gpu::bench::Results results = run_bench(options, show);
  results.commit = santa::cli::kGitCommit;
  const std::string json = to_json(results).dump(1) + "\n";
  std::fputs(options.json == "-" ? json.c_str() : to_table(results).c_str(), stdout);
  if (options.json.empty() || options.json == "-") return;
  std::ofstream file(options.json);
  if (!(file << json) || !file.flush()) {
    throw santa::input_error("--json", options.json, "cannot be written", "a file");
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times the CUDA decode kernels", "decode_bench");
  BenchOptions options;
  add_bench_options(app, options);
  try {
    app.parse(argc, argv);
    run(options);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "decode_bench: %s\n", error.what());
    return santa::kExitBadInput;
  } catch (const santa::InputError& error) {
    std::fprintf(stderr, "decode_bench: %s\n", error.what());
    return santa::kExitBadInput;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "decode_bench: %s\n", error.what());
    return santa::kExitInternalError;
  }
  return santa::kExitSuccess;
}
