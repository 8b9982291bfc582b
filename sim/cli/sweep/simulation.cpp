#include "sweep/simulation.hpp"

#include <utility>

#include "input.hpp"
#include "json_report.hpp"
#include "model_results.hpp"
#include "model_statistics.hpp"
#include "options.hpp"
#include "run_command.hpp"
#include "santa/config/preset.hpp"

namespace santa::cli {
namespace {

std::vector<InputFile> files_of(const InputOptions& input) {
  const InputKind kind = input.kind;
  const bool shipped = kind == InputKind::kShippedTrace || kind == InputKind::kModel;
  const std::string model = kind == InputKind::kModel ? " " + input.model : "";
  std::vector<InputFile> files;
  for (const NamedPath& file : input_files(input)) {
    const std::string option = file.option.substr(file.option.find_first_not_of('-'));
    files.push_back({file.option, file.path, option + (shipped ? model : " " + file.path)});
  }
  return files;
}

// The command that repeats a simulation, less its hardware.
template <typename Options>
std::string choices_of(Options options) {
  options.config.clear();
  options.overrides.clear();
  return options.command();
}

Simulation simulation_of(const RunOptions& options) {
  Simulation simulation;
  simulation.setup = load_setup(options.config, options.overrides);
  simulation.config = options.config;
  simulation.files = files_of(options.input);
  simulation.choices = choices_of(options);
  simulation.simulate = [options, setup = simulation.setup] {
    return to_text(make_report(simulate(options, setup)));
  };
  return simulation;
}

Simulation simulation_of(ModelOptions options) {
  // Processes are what a sweep has for its points.
  options.jobs = 1;
  Simulation simulation;
  simulation.setup = load_setup(options.config, options.overrides);
  simulation.config = options.config;
  simulation.files = files_of(options.data);
  simulation.files.push_back(
      {"MODEL", config::find_config("models", options.model), "model " + options.model});
  simulation.choices = choices_of(options);
  simulation.simulate = [options, setup = simulation.setup] {
    return to_text(make_report(simulate_model(options, setup)));
  };
  return simulation;
}

}  // namespace

Simulation prepare_simulation(const std::vector<std::string>& words) {
  const CommandLine line = parse_words(words);
  return line.model ? simulation_of(*line.model) : simulation_of(line.run.value());
}

}  // namespace santa::cli
