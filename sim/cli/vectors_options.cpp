#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "raw_options.hpp"
#include "santa/vectors/vector.hpp"

namespace santa::cli {
namespace {

constexpr std::uint64_t kDefaultSeeds = 28;
constexpr std::uint64_t kMostSeeds = 100000;

constexpr const char* kVectorsExamples =
    R"(A vector is a request with the results that a device or model gave, and where they are from
(docs/vectors.md). Checking takes no device: the golden model computes the results again.

Examples:
  santasim vectors record my-vectors
  santasim vectors record my-vectors --config eight-heads --seeds 100
  santasim vectors capture my-run --trace my.safetensors --samples 64
  santasim vectors check my-vectors
  santasim cosim --vectors my-vectors             the same through the unit and the cycle model
)";

}  // namespace

CLI::App* add_vectors(CLI::App& app, RawVectorsOptions& raw) {
  CLI::App* vectors = app.add_subcommand("vectors", "Record results, or check recorded ones");
  vectors->require_subcommand(1);
  vectors->footer(kVectorsExamples);
  CLI::App* record = vectors->add_subcommand("record", "Write requests and their results");
  record->add_option("DIR", raw.folder, "Folder to write to, made where it is not there")
      ->required();
  record->add_option("--config", raw.config, "Hardware: preset or file (tiny-test)")
      ->type_name("F");
  record->add_option("--set", raw.set, "Change a key of the hardware; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  record->add_option("--seeds", raw.seeds, fmt::format("Requests 1 to N ({})", kDefaultSeeds))
      ->type_name("N");
  record
      ->add_option("--producer", raw.producer,
                   fmt::format("What computes the results ({})", vectors::kGoldenProducer))
      ->type_name("NAME");
  record->footer("Example:\n  santasim vectors record my-vectors --config eight-heads\n");
  CLI::App* capture =
      vectors->add_subcommand("capture", "Write the requests of a run and their results");
  capture->add_option("DIR", raw.folder, "Folder to write to, made where it is not there")
      ->required();
  add_run_choices(*capture, raw.run);
  capture->footer("Example:\n  santasim vectors capture my-run --layers 0 --scores bernoulli\n");
  CLI::App* check = vectors->add_subcommand("check", "Compare with the golden model");
  check->add_option("DIR", raw.folder, "Folder of vectors, with the folders in it")->required();
  check->footer("Example:\n  santasim vectors check traces/vectors\n");
  return vectors;
}

VectorsOptions check_vectors_options(const CLI::App& command, const RawVectorsOptions& raw) {
  VectorsOptions options;
  options.task = command.got_subcommand("record")    ? VectorsTask::kRecord
                 : command.got_subcommand("capture") ? VectorsTask::kCapture
                                                     : VectorsTask::kCheck;
  if (raw.folder.empty()) throw got("DIR", "", "the path of a folder");
  options.folder = raw.folder;
  options.config = raw.config;
  options.overrides = parse_overrides(raw.set);
  options.seeds = raw.seeds ? parse_integer("--seeds", *raw.seeds, 1, kMostSeeds) : kDefaultSeeds;
  if (options.task == VectorsTask::kCapture) {
    RawRunOptions run = raw.run;
    run.no_baselines = true;  // nothing is simulated
    options.run = check_run_options(run);
  }
  options.producer = raw.producer.value_or(vectors::kGoldenProducer);
  return options;
}

}  // namespace santa::cli
