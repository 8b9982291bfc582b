#include "cosim_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cosim_report.hpp"
#include "input.hpp"
#include "json_report.hpp"
#include "output_file.hpp"
#include "progress.hpp"
#include "santa/config/message_text.hpp"
#include "santa/config/preset.hpp"
#include "santa/cosim/runner.hpp"
#include "santa/energy/pack.hpp"
#include "santa/energy/report.hpp"
#include "santa/error.hpp"
#include "workload.hpp"

namespace santa::cli {
namespace {

constexpr const char* kStandardOutput = "-";
constexpr std::uint64_t kDefaultSeeds = 20;
constexpr std::uint32_t kEffort = 8192;        // context times features of a random request
constexpr std::uint32_t kTimedEffort = 65536;  // the same where latencies are compared

// The unit is compiled into this program: another one takes another build.
const cosim::BuiltModel& require_model(const CosimOptions& options,
                                       const config::HardwareConfig& hardware) {
  const std::vector<cosim::BuiltModel>& models = cosim::built_models();
  if (const cosim::BuiltModel* model = cosim::find_model(models, hardware)) return *model;
  std::vector<std::string> built;
  for (const cosim::BuiltModel& model : models) {
    built.push_back(fmt::format("{} (unit {:016x})", model.name, model.parameters.config_hash));
  }
  throw input_error(
      "--config", config::in_quotes(options.config),
      fmt::format("unit {} is not built into this program", hardware.unit_hash()),
      fmt::format("{}; cmake -DSANTA_COSIM_CONFIGS=\"tiny-test;NAME\" builds others in",
                  config::joined(built)));
}

// One request for each KV head of each layer, prepared as `santasim run` does it.
std::vector<cosim::CosimRequest> trace_requests(const CosimOptions& options,
                                                const config::HardwareConfig& hardware,
                                                Progress& progress) {
  RunOptions run;
  run.input.kind = InputKind::kTrace;
  run.input.trace = options.trace;
  const Input input = open_input(run.input);
  const Workload workload =
      prepare_workload(input, run, static_cast<std::uint32_t>(hardware.unit.tile_keys), false,
                       [&](double fraction) { progress.show("preparing", fraction); });
  std::vector<cosim::CosimRequest> requests;
  for (const sim::Job& job : workload.jobs) {
    const auto refuse = [&](const char* key, std::uint32_t needed, std::int64_t limit) {
      if (needed <= limit) return;
      throw input_error(config::escaped(options.trace), key, fmt::format("got {}", needed),
                        fmt::format("at most {} on {}", limit, hardware.name));
    };
    refuse("query heads of a group", job.request.query.group, hardware.unit.group_heads);
    refuse("head dimension", job.cache->head_dimension, hardware.unit.max_head_dimension);
    cosim::CosimRequest request;
    request.workload = fmt::format("layer {}, KV head {}", job.layer, job.kv_head);
    request.cache = std::make_shared<attention::KvHead>(*job.cache);
    request.context = job.cache->context;
    request.request = job.request;
    request.options = run.decode;
    requests.push_back(std::move(request));
  }
  return requests;
}

void choose_work(const CosimOptions& options, const config::HardwareConfig& hardware,
                 Progress& progress, cosim::CosimOptions& work) {
  if (!options.trace.empty()) {
    work.timed = trace_requests(options, hardware, progress);
  } else if (options.seed) {
    work.seeds = {*options.seed};
  } else {
    for (std::uint64_t seed = 0; seed <= options.seeds.value_or(kDefaultSeeds); ++seed) {
      work.seeds.push_back(seed);
    }
    work.timed = cosim::timed_requests(work.model->parameters, kTimedEffort);
  }
}

cosim::Waves waves_of(WaveFiles files) {
  if (files == WaveFiles::kAlways) return cosim::Waves::kAlways;
  return files == WaveFiles::kOnFailure ? cosim::Waves::kOnFailure : cosim::Waves::kNever;
}

std::string whole_command(const CosimOptions& options) {
  std::string text = options.command();
  if (options.seed) return fmt::format("{} --seed {}", text, *options.seed);
  if (options.trace.empty()) {
    text += fmt::format(" --seeds {}", options.seeds.value_or(kDefaultSeeds));
  }
  return text;
}

void check_outputs(const CosimOptions& options, const std::string& config_file,
                   const std::string& pack_file) {
  std::vector<NamedPath> inputs = {{"--config", config_file}, {"energy_pack", pack_file}};
  if (!options.trace.empty()) inputs.push_back({"--trace", options.trace});
  if (options.json.empty() || options.json == kStandardOutput) return;
  require_distinct(inputs, {{"--json", options.json}});
  OutputFile::check("--json", options.json);
}

}  // namespace

void cosimulate(const CosimOptions& options) {
  const std::string config_file = config::find_config("hardware", options.config);
  const config::HardwareConfig hardware = config::load_hardware(config_file);
  const std::string pack_file = config::find_config("energy", hardware.energy_pack);
  check_outputs(options, config_file, pack_file);
  cosim::CosimOptions work;
  work.model = &require_model(options, hardware);
  const auto pack = energy::EnergyPack::load(pack_file);
  work.hardware = &hardware;
  work.energy_pack = &pack;
  work.effort = kEffort;
  work.waves = waves_of(options.waves);
  work.waves_prefix = "cosim-" + work.model->name;
  work.vectors = options.vectors;
  work.command = options.command();
  work.whole_command = whole_command(options);
  Progress progress;
  choose_work(options, hardware, progress, work);
  work.progress = [&](double fraction) { progress.show("simulating", fraction); };

  const cosim::CosimResult result = cosim::run_cosim(work);
  std::string screen = make_cosim_table(result, hardware);
  if (!options.json.empty()) {
    std::string report = to_text(make_cosim_report(result, hardware, work.whole_command));
    if (options.json == kStandardOutput) {
      screen = std::move(report);
    } else {
      OutputFile file("--json", options.json);
      file.write(report);
      file.commit();
    }
  }
  write_standard_output(screen);
  if (!result.failure.empty()) throw energy::VerificationError(result.failure);
}

}  // namespace santa::cli
