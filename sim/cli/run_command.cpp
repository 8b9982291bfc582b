#include "run_command.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dram_trace.hpp"
#include "input.hpp"
#include "json_report.hpp"
#include "output_file.hpp"
#include "progress.hpp"
#include "results.hpp"
#include "sanitizer.hpp"
#include "santa/config/message_text.hpp"
#include "santa/config/preset.hpp"
#include "santa/energy/pack.hpp"
#include "santa/error.hpp"
#include "sha256.hpp"
#include "table.hpp"
#include "timeline.hpp"
#include "workload.hpp"

namespace santa::cli {
namespace {

// The unit asked for comes first; no unit twice.
std::vector<sim::UnitRequest> choose_units(const RunOptions& options) {
  using attention::ValueScheme;
  attention::DecodeOptions dense;
  dense.values = ValueScheme::kDense;
  attention::DecodeOptions topk;
  topk.values = ValueScheme::kTopK;
  topk.samples = options.top_k;
  const sim::UnitRequest baselines[] = {{sim::UnitKind::kDenseInt8, dense},
                                        {sim::UnitKind::kDenseFp16, dense},
                                        {sim::UnitKind::kTopK, topk}};
  sim::UnitRequest main{sim::UnitKind::kSampled, options.decode};
  if (options.decode.values == ValueScheme::kDense) main = baselines[0];
  if (options.decode.values == ValueScheme::kTopK) main = baselines[2];
  std::vector<sim::UnitRequest> units = {main};
  for (const sim::UnitRequest& baseline : baselines) {
    if (options.baselines && baseline.kind != main.kind) units.push_back(baseline);
  }
  return units;
}

// Everything that can be wrong with the output paths, before any work.
void check_outputs(const RunOptions& options, const Setup& setup) {
  std::vector<NamedPath> inputs = input_files(options.input);
  inputs.push_back({"--config", setup.config_file});
  inputs.push_back({"energy_pack", setup.pack_file});
  std::vector<NamedPath> outputs;
  if (!options.json.empty() && options.json != kStandardOutput) {
    outputs.push_back({"--json", options.json});
  }
  if (!options.timeline.empty()) outputs.push_back({"--timeline", options.timeline});
  if (!options.dram_trace.empty()) {
    if (!setup.hardware.dram) {
      throw input_error("--dram-trace", "", "has no effect with memory.model bandwidth",
                        "memory.model dram, as --set memory.model=dram sets it");
    }
    if (setup.hardware.system.placement != config::Placement::kInterleaved) {
      throw input_error("--dram-trace", "", "needs one memory for all units",
                        "system.placement interleaved");
    }
    outputs.push_back({"--dram-trace", options.dram_trace});
  }
  require_distinct(inputs, outputs);
  for (const NamedPath& output : outputs) OutputFile::check(output.option, output.path);
}

}  // namespace

RunResult simulate(const RunOptions& options, const Setup& setup, OutputFile* dram_trace) {
  RunResult result;
  result.options = options;
  result.hardware = setup.hardware;
  const auto pack = energy::EnergyPack::load(setup.pack_file);
  result.energy_pack_sha256 = sha256_of_file(setup.pack_file);

  Input input = open_input(options.input);
  result.input = input.summary;
  Progress progress;
  sim::SimulationRequest request;
  request.units = choose_units(options);
  bool with_fp16 = false;
  for (const sim::UnitRequest& unit : request.units) {
    with_fp16 = with_fp16 || unit.kind == sim::UnitKind::kDenseFp16;
  }
  const Workload workload =
      prepare_workload(input, options, cache_format(result.hardware), with_fp16,
                       [&](double fraction) { progress.show("preparing", fraction); });
  input.layers.clear();  // the tensors are not needed any more

  request.hardware = &result.hardware;
  request.energy_pack = &pack;
  request.jobs = workload.jobs;
  request.record_spans = !options.timeline.empty();
  if (dram_trace != nullptr) {
    request.dram_observer = dram_trace_writer(options.dram_trace_format, *dram_trace);
  }
  request.progress = [&](double fraction) { progress.show("simulating", fraction); };
  result.units = sim::simulate(request);
  restore_stack_bounds();

  result.reference_to_model = workload.reference_to_model;
  if (result.reference_to_model && !std::isfinite(*result.reference_to_model)) {
    result.reference_to_model.reset();
    result.input.notes.emplace_back("the model's own output is 0 everywhere in the trace");
  }
  for (const sim::Job& job : workload.jobs) result.jobs.push_back({job.layer, job.kv_head});
  for (const sim::UnitReport& unit : result.units) {
    energy::check_report(unit.energy);
    result.accuracy.push_back(measure_accuracy(unit, workload));
  }
  return result;
}

std::string simulated_report(const RunOptions& options) {
  return to_text(make_report(simulate(options, load_setup(options.config, options.overrides))));
}

void run(const RunOptions& options) {
  const Setup setup = load_setup(options.config, options.overrides);
  check_outputs(options, setup);
  std::optional<OutputFile> trace;
  if (!options.dram_trace.empty()) trace.emplace("--dram-trace", options.dram_trace);
  const RunResult result = simulate(options, setup, trace ? &*trace : nullptr);
  const std::string screen =
      place_result(options.json, options.tsv ? make_tsv(result) : make_table(result),
                   [&] { return make_report(result); });
  if (!options.timeline.empty()) {
    OutputFile file("--timeline", options.timeline);
    write_timeline(result, file);
    file.commit();
  }
  if (trace) trace->commit();
  write_standard_output(screen);
}

}  // namespace santa::cli
