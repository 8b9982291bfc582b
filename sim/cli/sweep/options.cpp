#include <CLI/CLI.hpp>

#include "raw_options.hpp"

namespace santa::cli {
namespace {

constexpr std::uint64_t kMostJobs = 1024;

constexpr const char* kSweepExamples =
    R"(SPEC says which options of santasim run, or of santasim model (command: model), and which keys of
the hardware take which values (docs/sweeps.md): grid, list or random. DIR gets every point as it finishes, and in the end
results.csv and results.jsonl. Ended at any time, the sweep goes on with --resume.

Examples:
  santasim sweep spec.yaml --out results
  santasim sweep spec.yaml --out results --resume
  mpirun -n 64 santasim sweep spec.yaml --out results --resume
)";

}  // namespace

CLI::App* add_sweep(CLI::App& app, RawSweepOptions& raw) {
  CLI::App* sweep = app.add_subcommand("sweep", "Simulate many points, and resume where it ended");
  sweep->add_option("SPEC", raw.spec, "What to vary, YAML")->required();
  sweep->add_option("--out", raw.folder, "Folder of the results, made where it is not there")
      ->type_name("DIR")
      ->required();
  sweep->add_flag("--resume", raw.resume, "Continue: simulate what DIR does not have");
  sweep
      ->add_option("--jobs", raw.jobs,
                   "Simulations at a time in a process (cores; 1 for a rank of mpirun)")
      ->type_name("N");
  sweep->footer(kSweepExamples);
  return sweep;
}

SweepOptions check_sweep_options(const RawSweepOptions& raw) {
  SweepOptions options;
  options.spec = raw.spec;
  options.folder = raw.folder;
  options.resume = raw.resume;
  if (raw.folder.empty()) throw got("--out", "", "a folder");
  if (raw.jobs) {
    options.jobs = static_cast<std::uint32_t>(parse_integer("--jobs", *raw.jobs, 1, kMostJobs));
  }
  return options;
}

}  // namespace santa::cli
