#include "bench_command.hpp"

#include <nlohmann/json.hpp>

#include "build_information.hpp"
#include "json_report.hpp"
#include "output_file.hpp"
#include "santa/gpu/bench/results.hpp"

namespace santa::cli {

void bench(const gpu::bench::BenchOptions& options) {
  if (!options.json.empty() && options.json != kStandardOutput) {
    OutputFile::check("--json", options.json);
  }
  gpu::bench::Results results = gpu::bench::run_bench(options);
  results.commit = kGitCommit;
  write_standard_output(place_result(options.json, gpu::bench::to_table(results),
                                     [&] { return gpu::bench::to_json(results); }));
}

}  // namespace santa::cli
