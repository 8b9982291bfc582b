// The options of the commands as text, before they are checked. Private to
// the option parser.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "options.hpp"
#include "santa/error.hpp"

namespace CLI {
class App;
}

namespace santa::cli {

using OptionText = std::optional<std::string>;

struct RawRunOptions {
  std::string config = "edge-lpddr5";
  std::vector<std::string> set;
  OptionText trace;
  OptionText query;
  OptionText key;
  OptionText value;
  OptionText scale;
  OptionText model;
  OptionText synthetic;
  OptionText query_heads;
  OptionText kv_heads;
  OptionText head_dimension;
  OptionText context;
  OptionText layers;
  OptionText data_seed;
  OptionText values;
  OptionText scores;
  OptionText samples;
  OptionText bernoulli;
  OptionText top_k;
  OptionText seed;
  OptionText step;
  OptionText json;
  OptionText timeline;
  OptionText dram_trace;
  OptionText dram_trace_format;
  bool tsv = false;
  bool no_baselines = false;
};

// Numbers, names and contradictions. Throws InputError.
RunOptions check_run_options(const RawRunOptions& raw);

struct RawCosimOptions {
  std::string config = "tiny-test";
  std::vector<std::string> set;
  OptionText seeds;
  OptionText seed;
  OptionText trace;
  OptionText vectors;
  bool long_contexts = false;
  OptionText export_folder;
  OptionText waves;
  OptionText json;
};
CosimOptions check_cosim_options(const RawCosimOptions& raw);

struct RawVectorsOptions {
  std::string folder;
  RawRunOptions run;
  std::string config = "tiny-test";
  std::vector<std::string> set;
  bool diverse = false;
  OptionText seeds;
  OptionText producer;
};
CLI::App* add_vectors(CLI::App& app, RawVectorsOptions& raw);
VectorsOptions check_vectors_options(const CLI::App& command, const RawVectorsOptions& raw);

struct RawSweepOptions {
  std::string spec;
  std::string folder;
  OptionText jobs;
  bool resume = false;
};
CLI::App* add_sweep(CLI::App& app, RawSweepOptions& raw);
SweepOptions check_sweep_options(const RawSweepOptions& raw);

struct RawCompareOptions {
  std::string a;
  std::string b;
  OptionText json;
  bool tsv = false;
  bool other_input = false;
};
CLI::App* add_compare(CLI::App& app, RawCompareOptions& raw);
CompareOptions check_compare_options(const RawCompareOptions& raw);

struct RawExplainOptions {
  OptionText result;
  RawRunOptions run;
  OptionText jobs;
  OptionText json;
  bool bounds_only = false;
};
CLI::App* add_explain(CLI::App& app, RawExplainOptions& raw);
ExplainOptions check_explain_options(const CLI::App& command, const RawExplainOptions& raw);

struct RawReportOptions {
  std::vector<std::string> inputs;
  std::string output;
  OptionText plotly;
};
CLI::App* add_report(CLI::App& app, RawReportOptions& raw);
ReportOptions check_report_options(const RawReportOptions& raw);

struct RawPaperOptions {
  std::vector<std::string> only;
  OptionText folder;
  OptionText gpu_results;
  OptionText seed;
  OptionText jobs;
  OptionText json;
};
CLI::App* add_paper(CLI::App& app, RawPaperOptions& raw);
PaperOptions check_paper_options(const RawPaperOptions& raw);

// The options of `santasim run` that say what is simulated.
void add_run_choices(CLI::App& run, RawRunOptions& raw);

// The values of --set.
std::vector<config::Override> parse_overrides(const std::vector<std::string>& assignments);
// A decimal integer, digits only. Throws InputError that names the option.
std::uint64_t parse_integer(const char* option, const std::string& text, std::uint64_t min,
                            std::uint64_t max, const std::string& kind = "an integer");
// "got TEXT", as every refusal of a value says it.
InputError got(const char* option, const std::string& text, const std::string& allowed);
// A word for a shell, quoted where it must be.
std::string shell_word(const std::string& text);

}  // namespace santa::cli
