#include "cosim_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cosim_report.hpp"
#include "cosim_trace.hpp"
#include "input.hpp"
#include "json_report.hpp"
#include "output_file.hpp"
#include "progress.hpp"
#include "santa/config/message_text.hpp"
#include "santa/config/preset.hpp"
#include "santa/cosim/generator.hpp"
#include "santa/cosim/runner.hpp"
#include "santa/energy/pack.hpp"
#include "santa/energy/report.hpp"
#include "santa/error.hpp"

namespace santa::cli {
namespace {

constexpr std::uint64_t kDefaultSeeds = 20;
constexpr std::uint32_t kEffort = 8192;        // context times features of a random request
constexpr std::uint32_t kTimedEffort = 65536;  // the same where latencies are compared

// The units of this program, and the way to another one.
std::string built_units() {
  std::vector<std::string> built;
  for (const cosim::BuiltModel& model : cosim::built_models()) {
    built.push_back(fmt::format("{} (unit {:016x})", model.name, model.parameters.config_hash));
  }
  return fmt::format("{}; cmake -DSANTA_COSIM_CONFIGS=\"tiny-test;NAME\" builds others in",
                     config::joined(built));
}

}  // namespace

std::string find_unit(const std::string& name_or_path) {
  const auto has = [&](const char* kind) {
    const std::vector<std::string> names = config::preset_names(kind);
    return std::find(names.begin(), names.end(), name_or_path) != names.end();
  };
  if (!config::is_preset_name(name_or_path)) return name_or_path;
  if (has("hardware")) return config::find_config("hardware", name_or_path);
  if (has("rtl")) return config::find_config("rtl", name_or_path);
  throw input_error("--config", "", "unknown preset " + config::in_quotes(name_or_path),
                    built_units());
}

namespace {

// The unit is compiled into this program: another one takes another build.
const cosim::BuiltModel& require_model(const CosimOptions& options,
                                       const config::HardwareConfig& hardware) {
  const std::vector<cosim::BuiltModel>& models = cosim::built_models();
  if (const cosim::BuiltModel* model = cosim::find_model(models, hardware)) return *model;
  const bool changed = !options.overrides.empty();
  throw input_error("--config", config::in_quotes(options.config),
                    fmt::format("unit {}{} is not built into this program", hardware.unit_hash(),
                                changed ? ", with --set," : ""),
                    built_units());
}

void choose_work(const CosimOptions& options, const config::HardwareConfig& hardware,
                 Progress& progress, cosim::CosimOptions& work) {
  if (!options.trace.empty()) {
    work.timed = trace_requests(options.trace, hardware,
                                [&](double fraction) { progress.show("preparing", fraction); });
  } else if (!options.vectors.empty()) {
    work.replays = cosim::load_replays("--vectors", options.vectors, work.model->parameters);
  } else if (options.long_contexts) {
    work.timed = cosim::long_requests(work.model->parameters);
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
  if (options.trace.empty() && options.vectors.empty() && !options.long_contexts) {
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
  const std::string config_file = find_unit(options.config);
  const config::HardwareConfig hardware = config::load_hardware(config_file, options.overrides);
  if (hardware.dram) {
    throw input_error("--config", "memory.model", "got dram",
                      "bandwidth, the memory that the unit in SystemVerilog is compared on");
  }
  config::require_single_unit(hardware, "the unit in SystemVerilog");
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
  work.export_folder = options.export_folder;
  work.command = options.command();
  work.whole_command = whole_command(options);
  Progress progress;
  choose_work(options, hardware, progress, work);
  work.progress = [&](double fraction) { progress.show("simulating", fraction); };

  const cosim::CosimResult result = cosim::run_cosim(work);
  const std::string screen = place_result(options.json, make_cosim_table(result, hardware), [&] {
    return make_cosim_report(result, hardware, work.whole_command);
  });
  write_standard_output(screen);
  if (!result.failure.empty()) throw energy::VerificationError(result.failure);
}

}  // namespace santa::cli
