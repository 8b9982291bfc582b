// What the user asked for: the command line, checked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "santa/attention/decode.hpp"
#include "santa/attention/synthetic.hpp"
#include "santa/config/yaml_reader.hpp"
#include "santa/gpu/bench/options.hpp"

namespace santa::cli {

enum class InputKind {
  kShippedTrace,  // no input option
  kTrace,         // --trace
  kArrays,        // --query, --key, --value
  kModel,         // --model: its shape with synthetic data
  kSynthetic,     // --synthetic
};

enum class SyntheticData { kGaussian, kNeedle };

struct InputOptions {
  InputKind kind = InputKind::kShippedTrace;
  std::string trace;
  std::string query;
  std::string key;
  std::string value;
  std::optional<double> scale;  // of --query, --key, --value; default 1/sqrt(head dimension)
  std::string model;
  SyntheticData synthetic = SyntheticData::kGaussian;
  std::uint64_t data_seed = 1;
  attention::LayerShape shape;        // kSynthetic; for kModel the context alone
  std::vector<std::uint32_t> layers;  // indices of a trace; empty: all
  std::uint32_t layer_count = 1;      // kModel and kSynthetic
};

// Formats of --dram-trace, named as on the command line: ramulator2, dramsim3.
enum class DramTraceFormat { kRamulator2, kDramsim3 };

struct RunOptions {
  InputOptions input;
  std::string config;
  std::vector<config::Override> overrides;
  attention::DecodeOptions decode;  // of the unit asked for
  std::uint32_t top_k = 0;          // rows of the top-k unit
  std::uint64_t seed = 1;
  std::uint64_t step = 0;
  std::string json;        // empty: none; "-": standard output, in place of the table
  std::string timeline;    // empty: none
  std::string dram_trace;  // empty: none
  DramTraceFormat dram_trace_format = DramTraceFormat::kDramsim3;
  bool tsv = false;
  bool baselines = true;

  // A command with every choice spelled out that repeats this run, less its output options.
  std::string command() const;
};

enum class DescribeTopic { kStatistics, kConfiguration, kEnergy };
enum class DescribeFormat { kText, kJson, kMarkdown };

struct DescribeOptions {
  DescribeTopic topic = DescribeTopic::kStatistics;
  DescribeFormat format = DescribeFormat::kText;
  std::string energy_pack;
};

enum class WaveFiles { kNever, kOnFailure, kAlways };

struct CosimOptions {
  std::string config;
  std::vector<config::Override> overrides;
  std::optional<std::uint64_t> seeds;  // scenarios 0 to N; not with `seed`
  std::optional<std::uint64_t> seed;   // one scenario
  std::string trace;                   // empty: none
  std::string vectors;                 // folder of recorded ones to replay; empty: none
  bool long_contexts = false;          // requests of up to 2^20 keys
  std::string export_folder;           // for files of every request; empty: none
  WaveFiles waves = WaveFiles::kNever;
  std::string json;  // empty: none; "-": standard output, in place of the table

  // A command that repeats this run, less its seeds and its output options.
  std::string command() const;
};

enum class VectorsTask { kRecord, kCapture, kCheck };

struct VectorsOptions {
  VectorsTask task = VectorsTask::kCheck;
  std::string folder;
  // Of kRecord:
  bool diverse = false;  // the diverse requests of several units, in place of those of `config`
  std::string config;
  std::vector<config::Override> overrides;
  std::uint64_t seeds = 0;  // requests 1 to N, of each unit
  // Of kCapture:
  std::optional<RunOptions> run;
  // Of both:
  std::string producer;
};

struct SweepOptions {
  std::string spec;
  std::string folder;
  bool resume = false;
  std::uint32_t jobs = 0;  // simulations at a time in this process; 0: as many as suit
};

struct CompareOptions {
  std::string a;
  std::string b;
  bool other_input = false;  // compare results of different inputs
  bool tsv = false;
  std::string json;  // empty: none; "-": standard output, in place of the table
};

struct ExplainOptions {
  std::string result;             // a file of `santasim run --json`; empty: `run`
  std::optional<RunOptions> run;  // what to simulate first
  bool bounds_only = false;       // from counters alone: no change is simulated
  std::uint32_t jobs = 0;         // simulations at a time; 0: as many as there are cores
  std::string json;               // empty: none; "-": standard output, in place of the text
};

struct ReportOptions {
  std::vector<std::string> inputs;  // result files, or the folder of a sweep
  std::string output;
  std::string plotly;  // file of plotly.js; empty: that of the system
};

struct PaperOptions {
  std::vector<std::string> only;  // names of parts; empty: all
  std::string folder;             // of the document and the numbers; empty: none
  std::string gpu_results;        // folder
  std::uint64_t seed = 1;
  std::uint32_t jobs = 0;  // threads; 0: as many as there are cores
  std::string json;        // empty: none; "-": standard output, in place of the tables
};

struct ModelOptions;  // model_options.hpp

// The command line as parsed: one of these is set.
struct CommandLine {
  std::optional<RunOptions> run;
  std::shared_ptr<const ModelOptions> model;
  std::optional<CosimOptions> cosim;
  std::optional<VectorsOptions> vectors;
  std::optional<gpu::bench::BenchOptions> bench;
  std::optional<DescribeOptions> describe;
  std::optional<SweepOptions> sweep;
  std::optional<CompareOptions> compare;
  std::optional<ExplainOptions> explain;
  std::optional<ReportOptions> report;
  std::optional<PaperOptions> paper;
  std::optional<std::string> text;  // of --help and --version
};

// Throws InputError for anything that is not understood, contradicts itself or is out of range.
CommandLine parse_command_line(int argc, const char* const* argv);

// The same from words: the command's name and its arguments, less the program's.
CommandLine parse_words(const std::vector<std::string>& words);
// The options of `santasim run` from its arguments, less the command's name. Throws as above.
RunOptions parse_run_words(const std::vector<std::string>& words);

// The commands that simulate one configuration.
enum class SimulationCommand : std::uint8_t { kRun, kModel };
std::string to_string(SimulationCommand command);  // "run", "model"

// An option of such a command that says what is simulated, without its dashes. Not --set, for whose
// keys describe_hardware_keys() stands, not --jobs, which changes no result, and nothing that says
// where results go.
struct OptionName {
  std::string name;
  bool is_switch = false;      // takes no value
  bool is_positional = false;  // has no dashes: MODEL, whose name here is "model"
};
std::vector<OptionName> option_names(SimulationCommand command);

// Name and version, as --version prints them.
std::string program_version();

}  // namespace santa::cli
