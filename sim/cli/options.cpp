#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "build_information.hpp"
#include "raw_model_options.hpp"
#include "raw_options.hpp"
#include "santa/config/message_text.hpp"
#include "santa/error.hpp"
#include "shipped_trace.hpp"
#include "syntax_error.hpp"

namespace santa::cli {
namespace {

constexpr int kHelpColumn = 26;
constexpr const char* kOutputGroup = "Output";

constexpr const char* kMainExamples = R"(Examples:
  santasim run                                    the shipped trace on the edge chip
  santasim run --trace my.safetensors --json -    your own trace, results as JSON
  santasim run --model llama-3.1-8b --context 32768 --config server-hbm3
  santasim model llama-3.1-8b --context 131072    a decode step of all layers
  santasim cosim                                  the unit in SystemVerilog against its models
  santasim vectors check traces/vectors           recorded results against the golden model
  santasim bench --lengths 32768 --batches 1      the CUDA kernels on this machine's device
  santasim sweep SPEC.yaml --out DIR              many runs, on all cores or by mpirun
  santasim report DIR -o report.html              results as one page of figures
  santasim explain result.json                    what limits a run, and what to change
  santasim compare a.json b.json                  two results side by side
  santasim paper --out DIR                        the paper's tables and figures, ours beside them
  santasim describe stats                         what every number of a result means

Exit codes: 0 done, 1 a check of the results failed, 2 bad input, 3 fault of the program.
)";

constexpr const char* kRunExamples =
    R"(Without an input option the shipped trace runs. A model's shape runs with synthetic data.

Examples:
  santasim run --samples 64 --scores bernoulli --bernoulli 4
  santasim run --trace my.safetensors --layers 0,13 --config server-hbm3 --set clock_mhz=1500
  santasim run --query query.npy --key key.npy --value value.npy --scale 0.125
  santasim run --model llama-3.1-8b --context 32768 --layers 2 --json result.json
  santasim run --synthetic needle --query-heads 8 --kv-heads 2 --head-dimension 64 --context 1024
  santasim run --values dense --tsv
  santasim run --set memory.model=dram --set dram.tfaw_cycles=30
  santasim run --timeline timeline.json           open it at https://ui.perfetto.dev
)";

constexpr const char* kCosimExamples =
    R"(Drives the unit in SystemVerilog with random and directed requests and compares every border
between its blocks, and the memory, with the golden model, an exact oracle and the cycle model.
Scenario 0 holds the directed requests, 1 and above random ones; the same number is always the same
scenario. The units are compiled in: cmake -DSANTA_COSIM_CONFIGS="tiny-test;my.yaml" chooses them.

Examples:
  santasim cosim                                  scenarios 0 to 20 on the smallest unit
  santasim cosim --seeds 1000 --json result.json
  santasim cosim --seed 42 --waves always         one scenario, with cosim-tiny-test-seed-42.fst
  santasim cosim --config eight-heads --set memory.latency_ns=500
  santasim cosim --config edge-lpddr5 --trace my.safetensors
  santasim cosim --vectors traces/vectors         recorded vectors through unit and cycle model
  santasim cosim --long                           the longest contexts
  santasim cosim --seed 3 --export files          requests and results for another test bench
)";

constexpr const char* kDescribeExamples = R"(Examples:
  santasim describe stats
  santasim describe config --json
  santasim describe energy --pack my-pack.yaml
)";

std::unique_ptr<CLI::App> make_app() {
  auto app = std::make_unique<CLI::App>(
      "Simulates an adder-only sampled-attention unit beside dense and top-k units: latency,\n"
      "energy, memory traffic and output error of one decode step.",
      "santasim");
  app->get_formatter()->column_width(kHelpColumn);
  app->set_version_flag("--version", program_version(), "Print name and version");
  app->require_subcommand(1);
  app->footer(kMainExamples);
  return app;
}

}  // namespace

// All options take text: numbers and names are checked in one place, with the project's messages.
void add_run_choices(CLI::App& run, RawRunOptions& raw) {
  const auto text = [&](const char* group, const char* name, OptionText& target, const char* type,
                        const std::string& description) {
    run.add_option(name, target, description)->type_name(type)->group(group);
  };
  const char* input = "Input (one source)";
  text(input, "--trace", raw.trace, "F",
       fmt::format("Trace in .safetensors (default: the shipped {})", kShippedTrace));
  text(input, "--query", raw.query, "F", "Queries in .npy [query heads, features]");
  text(input, "--key", raw.key, "F", "Keys in .npy [KV heads, tokens, features]");
  text(input, "--value", raw.value, "F", "Values in .npy, shaped as the keys");
  text(input, "--scale", raw.scale, "X",
       "Softmax scale of the .npy files (1/sqrt(head dimension))");
  text(input, "--model", raw.model, "NAME", "Shape of a model, preset or file; synthetic data");
  text(input, "--synthetic", raw.synthetic, "KIND", "gaussian, or needle: one dominant key");
  text(input, "--context", raw.context, "N", "Tokens, for --model and --synthetic (4096)");
  text(input, "--query-heads", raw.query_heads, "N", "For --synthetic (32)");
  text(input, "--kv-heads", raw.kv_heads, "N", "For --synthetic, divides the query heads (8)");
  text(input, "--head-dimension", raw.head_dimension, "N", "For --synthetic (128)");
  text(input, "--data-seed", raw.data_seed, "N", "Of the synthetic data, not of sampling (1)");
  text(input, "--layers", raw.layers, "L",
       "Of a trace: layer indices with commas (all); else: how many (1)");

  const char* unit = "Unit";
  run.add_option("--config", raw.config, "Hardware: preset or file (edge-lpddr5)")
      ->type_name("F")
      ->group(unit);
  run.add_option("--set", raw.set, "Change a key of the hardware; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->group(unit);
  text(unit, "--values", raw.values, "SCHEME",
       "santa, strat, sys (default); topk or dense simulate that unit alone");
  text(unit, "--scores", raw.scores, "SCHEME",
       "exact (default), bernoulli, bernoulli-iid, bernoulli-group");
  text(unit, "--samples", raw.samples, "S", "Draws a query head, power of two 1..4096 (256)");
  text(unit, "--bernoulli", raw.bernoulli, "B", "Draws a feature, power of two 1..64 (8)");
  text(unit, "--top-k", raw.top_k, "K", "Rows of the top-k unit, 1..4096 (as --samples)");
  text(unit, "--seed", raw.seed, "N", "Of all random draws, from 1 (1)");
  text(unit, "--step", raw.step, "N", "Decode step; another step draws other numbers (0)");
  run.add_flag("--no-baselines", raw.no_baselines, "Leave out the units it is compared with")
      ->group(unit);
}

namespace {

CLI::App* add_run(CLI::App& app, RawRunOptions& raw) {
  CLI::App* run = app.add_subcommand("run", "Simulate one decode step");
  add_run_choices(*run, raw);
  const auto text = [&](const char* group, const char* name, OptionText& target, const char* type,
                        const std::string& description) {
    run->add_option(name, target, description)->type_name(type)->group(group);
  };
  const char* output = kOutputGroup;
  text(output, "--json", raw.json, "F", "Everything, documented keys; - for standard output");
  text(output, "--timeline", raw.timeline, "F", "Chrome trace of every block, for Perfetto");
  text(output, "--dram-trace", raw.dram_trace, "F",
       "Bursts of the unit's memory as a trace for a DRAM simulator");
  text(output, "--dram-trace-format", raw.dram_trace_format, "NAME",
       "dramsim3 (default) or ramulator2");
  run->add_flag("--tsv", raw.tsv, "Tab-separated values in place of the table")->group(output);
  run->footer(kRunExamples);
  return run;
}

CLI::App* add_cosim(CLI::App& app, RawCosimOptions& raw) {
  CLI::App* cosim =
      app.add_subcommand("cosim", "Compare the unit in SystemVerilog with its models");
  const auto text = [&](const char* group, const char* name, OptionText& target, const char* type,
                        const char* description) {
    cosim->add_option(name, target, description)->type_name(type)->group(group);
  };
  const char* what = "Requests";
  cosim
      ->add_option("--config", raw.config,
                   "Hardware whose unit is built in: preset or file (tiny-test)")
      ->type_name("F")
      ->group(what);
  cosim->add_option("--set", raw.set, "Change a key of the hardware; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->group(what);
  text(what, "--seeds", raw.seeds, "N", "Scenarios 0 to N (20)");
  text(what, "--seed", raw.seed, "K", "Scenario K alone");
  text(what, "--trace", raw.trace, "F",
       "Requests of a trace in .safetensors, in place of scenarios");
  text(what, "--vectors", raw.vectors, "DIR", "Recorded vectors, in place of scenarios");
  cosim
      ->add_flag("--long", raw.long_contexts,
                 "Requests of up to 2^20 keys, in place of scenarios: minutes")
      ->group(what);
  const char* output = "Output";
  text(output, "--export", raw.export_folder, "DIR",
       "Every request and its results as text, for other test benches");
  text(output, "--waves", raw.waves, "WHEN",
       "Waveforms in FST: never (default), on-failure, always");
  text(output, "--json", raw.json, "F", "Everything; - for standard output");
  cosim->footer(kCosimExamples);
  return cosim;
}

struct RawDescribeOptions {
  std::string energy_pack = "horowitz-45nm";
  bool json = false;
  bool markdown = false;
};

CLI::App* add_describe(CLI::App& app, RawDescribeOptions& raw) {
  CLI::App* describe = app.add_subcommand("describe", "Explain results, configuration or energy");
  describe->require_subcommand(1);
  describe->footer(kDescribeExamples);
  const auto topic = [&](const char* name, const char* description, const char* example) {
    CLI::App* command = describe->add_subcommand(name, description);
    CLI::Option* json = command->add_flag("--json", raw.json, "As JSON");
    command->add_flag("--markdown", raw.markdown, "As a Markdown table")->excludes(json);
    command->footer(fmt::format("Example:\n  santasim describe {}\n", example));
    return command;
  };
  topic("stats", "Every key of a result: unit and meaning", "stats --json");
  topic("config", "Every key of a hardware or model file: range, unit, meaning; all presets",
        "config | less");
  topic("energy", "Every constant of an energy pack: value, range, unit, source",
        "energy --pack horowitz-45nm")
      ->add_option("--pack", raw.energy_pack, "Preset or file (horowitz-45nm)")
      ->type_name("F");
  return describe;
}

DescribeOptions check_describe(const CLI::App& describe, const RawDescribeOptions& raw) {
  DescribeOptions options;
  options.energy_pack = raw.energy_pack;
  if (raw.json) options.format = DescribeFormat::kJson;
  if (raw.markdown) options.format = DescribeFormat::kMarkdown;
  if (describe.got_subcommand("config")) options.topic = DescribeTopic::kConfiguration;
  if (describe.got_subcommand("energy")) options.topic = DescribeTopic::kEnergy;
  return options;
}

}  // namespace

std::string program_version() {
  const std::string commit = kGitCommit;
  return fmt::format("santasim {}{}", kProgramVersion, commit.empty() ? "" : " (" + commit + ")");
}

CommandLine parse_command_line(int argc, const char* const* argv) {
  RawRunOptions raw_run;
  RawModelOptions raw_model;
  RawCosimOptions raw_cosim;
  RawVectorsOptions raw_vectors;
  RawDescribeOptions raw_describe;
  const std::unique_ptr<CLI::App> app = make_app();
  const CLI::App* run = add_run(*app, raw_run);
  const CLI::App* model = add_model(*app, raw_model);
  const CLI::App* cosim = add_cosim(*app, raw_cosim);
  const CLI::App* vectors = add_vectors(*app, raw_vectors);
  gpu::bench::BenchOptions bench_options;
  CLI::App* bench = app->add_subcommand("bench", "Time the CUDA kernels on this machine's device");
  gpu::bench::add_bench_options(*bench, bench_options);
  RawSweepOptions raw_sweep;
  RawCompareOptions raw_compare;
  RawExplainOptions raw_explain;
  const CLI::App* sweep = add_sweep(*app, raw_sweep);
  RawReportOptions raw_report;
  const CLI::App* report = add_report(*app, raw_report);
  const CLI::App* explain = add_explain(*app, raw_explain);
  RawPaperOptions raw_paper;
  const CLI::App* paper = add_paper(*app, raw_paper);
  const CLI::App* compare = add_compare(*app, raw_compare);
  const CLI::App* describe = add_describe(*app, raw_describe);
  CommandLine result;
  try {
    app->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    result.text = app->help();
    return result;
  } catch (const CLI::CallForVersion&) {
    result.text = program_version() + "\n";
    return result;
  } catch (const CLI::ParseError& error) {
    throw syntax_error(*app, error);
  }
  if (run->parsed()) result.run = check_run_options(raw_run);
  if (model->parsed()) {
    result.model = std::make_shared<const ModelOptions>(check_model_options(raw_model));
  }
  if (cosim->parsed()) result.cosim = check_cosim_options(raw_cosim);
  if (vectors->parsed()) result.vectors = check_vectors_options(*vectors, raw_vectors);
  if (bench->parsed()) result.bench = bench_options;
  if (sweep->parsed()) result.sweep = check_sweep_options(raw_sweep);
  if (compare->parsed()) result.compare = check_compare_options(raw_compare);
  if (report->parsed()) result.report = check_report_options(raw_report);
  if (explain->parsed()) result.explain = check_explain_options(*explain, raw_explain);
  if (paper->parsed()) result.paper = check_paper_options(raw_paper);
  if (describe->parsed()) result.describe = check_describe(*describe, raw_describe);
  return result;
}

CommandLine parse_words(const std::vector<std::string>& words) {
  std::vector<const char*> argv = {"santasim"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  return parse_command_line(static_cast<int>(argv.size()), argv.data());
}

RunOptions parse_run_words(const std::vector<std::string>& words) {
  std::vector<std::string> all = {"run"};
  all.insert(all.end(), words.begin(), words.end());
  return parse_words(all).run.value();
}

std::string to_string(SimulationCommand command) {
  return command == SimulationCommand::kRun ? "run" : "model";
}

std::vector<OptionName> option_names(SimulationCommand command) {
  CLI::App app;
  RawRunOptions raw_run;
  RawModelOptions raw_model;
  const CLI::App* added =
      command == SimulationCommand::kRun ? add_run(app, raw_run) : add_model(app, raw_model);
  std::vector<OptionName> names;
  for (const CLI::Option* option : added->get_options()) {
    if (option->get_group() == kOutputGroup) continue;
    const bool is_positional = option->get_positional();
    const std::string name = is_positional ? CLI::detail::to_lower(option->get_name(true))
                                           : option->get_name().substr(2);
    if (name == "set" || name == "help" || name == "jobs") continue;
    names.push_back({name, option->get_items_expected_max() == 0, is_positional});
  }
  return names;
}

}  // namespace santa::cli
