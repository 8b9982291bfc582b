#include <CLI/CLI.hpp>

#include "raw_options.hpp"
#include "santa/error.hpp"

namespace santa::cli {
namespace {

constexpr std::uint64_t kMostJobs = 1024;

constexpr const char* kCompareExamples =
    R"(Differences and ratios of two results of the same input, whatever else differs: hardware, method,
energy pack, version of the program.

Examples:
  santasim compare a.json b.json
  santasim compare results/points/KEY.json other.json --tsv
  santasim compare short.json long.json --other-input
)";

constexpr const char* kExplainExamples =
    R"(Says what limits the unit of a run, by its counters, and what to change: each change is simulated
on its own, and its gain is what came out (docs/explain.md). A file names its own command, which is
repeated; --bounds-only reads the file alone.

Examples:
  santasim explain result.json
  santasim explain --samples 64 --scores bernoulli-group
  santasim explain result.json --bounds-only
)";

std::string checked_json(const OptionText& json) {
  if (json && json->empty()) throw got("--json", "", "a file, or - for standard output");
  return json.value_or("");
}

}  // namespace

CLI::App* add_compare(CLI::App& app, RawCompareOptions& raw) {
  CLI::App* compare = app.add_subcommand("compare", "Two results side by side");
  compare->add_option("A", raw.a, "Result of santasim run --json")->required();
  compare->add_option("B", raw.b, "Another one, of the same input")->required();
  compare->add_flag("--other-input", raw.other_input, "Of any input");
  compare->add_flag("--tsv", raw.tsv, "Every number that both have, tab-separated");
  compare->add_option("--json", raw.json, "The same as JSON; - for standard output")
      ->type_name("F");
  compare->footer(kCompareExamples);
  return compare;
}

CompareOptions check_compare_options(const RawCompareOptions& raw) {
  CompareOptions options;
  options.a = raw.a;
  options.b = raw.b;
  options.other_input = raw.other_input;
  options.tsv = raw.tsv;
  options.json = checked_json(raw.json);
  if (options.tsv && options.json == "-") {
    throw input_error("--tsv", "", "contradicts --json -", "one of them on standard output");
  }
  return options;
}

CLI::App* add_explain(CLI::App& app, RawExplainOptions& raw) {
  CLI::App* explain = app.add_subcommand("explain", "What limits a run, and what to change");
  explain->add_option("RUN", raw.result, "Result of santasim run --json; else options of run");
  const char* output = "Analysis";
  explain->add_flag("--bounds-only", raw.bounds_only, "From counters alone, no change simulated")
      ->group(output);
  explain->add_option("--jobs", raw.jobs, "Simulations at a time (cores)")
      ->type_name("N")
      ->group(output);
  explain->add_option("--json", raw.json, "Everything; - for standard output")
      ->type_name("F")
      ->group(output);
  add_run_choices(*explain, raw.run);
  explain->footer(kExplainExamples);
  return explain;
}

ExplainOptions check_explain_options(const CLI::App& command, const RawExplainOptions& raw) {
  ExplainOptions options;
  options.bounds_only = raw.bounds_only;
  options.json = checked_json(raw.json);
  if (raw.jobs) {
    if (raw.bounds_only) {
      throw input_error("--jobs", "", "has no effect in this run", "without --bounds-only");
    }
    options.jobs = static_cast<std::uint32_t>(parse_integer("--jobs", *raw.jobs, 1, kMostJobs));
  }
  if (!raw.result) {
    options.run = check_run_options(raw.run);
    return options;
  }
  options.result = *raw.result;
  for (const CLI::Option* option : command.get_options()) {
    const std::string group = option->get_group();
    const bool own = group == "Analysis" || option->get_positional();
    if (option->count() != 0 && !own) {
      throw input_error(option->get_name(), "", "contradicts the result file",
                        "a result file, or options of santasim run");
    }
  }
  return options;
}

}  // namespace santa::cli
