#include "model_command.hpp"

#include <string>

#include "json_report.hpp"
#include "model_results.hpp"
#include "model_statistics.hpp"
#include "output_file.hpp"
#include "santa/config/preset.hpp"

namespace santa::cli {
namespace {

// Everything that can be wrong with the output path, before any work.
void check_output(const ModelOptions& options, const Setup& setup) {
  if (options.json.empty() || options.json == kStandardOutput) return;
  std::vector<NamedPath> inputs = input_files(options.data);
  inputs.push_back({"MODEL", config::find_config("models", options.model)});
  inputs.push_back({"--config", setup.config_file});
  inputs.push_back({"energy_pack", setup.pack_file});
  require_distinct(inputs, {{"--json", options.json}});
  OutputFile::check("--json", options.json);
}

}  // namespace

void run_model(const ModelOptions& options) {
  const Setup setup = load_setup(options.config, options.overrides);
  check_output(options, setup);
  const ModelResult result = simulate_model(options, setup);
  const std::string screen =
      place_result(options.json, options.tsv ? make_tsv(result) : make_table(result),
                   [&] { return make_report(result); });
  write_standard_output(screen);
}

}  // namespace santa::cli
