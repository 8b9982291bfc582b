// Command lines that are refused, and that each message names the option, the value and what is
// allowed.
#include <gtest/gtest.h>

#include "program.hpp"

namespace santa::test {
namespace {

struct Refusal {
  const char* name;
  std::vector<std::string> arguments;
  std::vector<std::string> message_parts;
};

void PrintTo(const Refusal& refusal, std::ostream* out) {
  *out << refusal.name;
}

class RefusedOptions : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedOptions, EndWithOneLine) {
  expect_refused(run_program(GetParam().arguments), GetParam().message_parts);
}

const std::vector<std::string> kRun = {"run", "--synthetic", "gaussian"};

std::vector<std::string> with(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = kRun;
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

const Refusal kRefusals[] = {
    {"nothing", {}, {"subcommand", "santasim --help"}},
    {"unknown_command", {"rnu"}, {"\"rnu\"", "did you mean run?"}},
    {"unknown_option", with({"--sample", "4"}), {"\"--sample\"", "did you mean --samples?"}},
    {"surplus_word", with({"word"}), {"\"word\""}},
    {"no_subcommand", {"describe"}, {"santasim describe: needs a subcommand", "stats, config"}},
    {"missing_value", with({"--seed"}), {"--seed: has no value; allowed: one N (", "draws"}},
    {"missing_choice",
     {"cosim", "--waves"},
     {"--waves: has no value; allowed: one WHEN (", "never", "on-failure", "always"}},
    {"empty_value", with({"--samples="}), {"--samples: ", "allowed: one S ("}},
    {"twice", with({"--seed", "1", "--seed", "2"}), {"--seed: got \"1\", \"2\"; allowed: one N ("}},
    {"twice_a_choice",
     {"run", "--synthetic", "gaussian", "--synthetic", "needle"},
     {"--synthetic: got \"gaussian\", \"needle\"; allowed: one "}},
    {"switch_with_value",
     with({"--no-baselines=maybe"}),
     {"--no-baselines: got \"maybe\"; allowed: the option alone"}},
    {"missing_word", {"compare", "a"}, {"B: missing; allowed: Another one, of the same input"}},
    {"missing_option", {"sweep", "a"}, {"--out: missing; allowed: Folder of the results"}},
    {"excluded",
     {"describe", "stats", "--json", "--markdown"},
     {"contradicts", "--json", "--markdown", "one of the two"}},
    {"outside_a_range",
     {"bench", "--lengths", "0"},
     {"--lengths: got \"0\"; allowed: 1 to 4194304"}},
    {"second_outside_a_range",
     {"bench", "--lengths", "8,x"},
     {"--lengths: got \"x\"; allowed: 1 to"}},
    {"outside_a_set",
     {"bench", "--scores", "exakt"},
     {"--scores: got \"exakt\"; allowed: exact,bernoulli"}},
    {"control_characters", with({"--seed", "1\n2"}), {"--seed", "1\\n2"}},
    {"set_twice",
     with({"--set", "clock_mhz=1", "--set", "clock_mhz=2"}),
     {"--set: clock_mhz: is set twice"}},
    {"trace_empty", {"run", "--trace", ""}, {"--trace: got \"\"", "the path of a file"}},
    {"model_empty", {"run", "--model", ""}, {"--model: got \"\"", "the path of a file"}},
    {"timeline_dash", with({"--timeline", "-"}), {"--timeline: got \"-\"", "a file"}},
    {"seed_of_dense",
     with({"--values", "dense", "--seed", "5"}),
     {"--seed: has no effect in this run", "sampled unit"}},
    {"step_of_topk",
     with({"--values", "topk", "--step", "5"}),
     {"--step: has no effect in this run", "sampled unit"}},
    {"pack_unknown",
     with({"--set", "energy_pack=5"}),
     {"--set: energy_pack", "unknown preset \"5\"", "horowitz-45nm"}},
    {"seed_zero", with({"--seed", "0"}), {"--seed", "\"0\"", "from 1"}},
    {"seed_negative", with({"--seed=-1"}), {"--seed", "\"-1\"", "from 1"}},
    {"seed_too_large",
     with({"--seed", "18446744073709551616"}),
     {"--seed", "18446744073709551615"}},
    {"seed_word", with({"--seed", "one"}), {"--seed", "\"one\""}},
    {"seed_fraction", with({"--seed", "1.5"}), {"--seed", "\"1.5\""}},
    {"data_seed_zero", with({"--data-seed", "0"}), {"--data-seed", "\"0\""}},
    {"samples_no_power",
     with({"--samples", "48"}),
     {"--samples", "\"48\"", "power of two", "4096"}},
    {"samples_zero", with({"--samples", "0"}), {"--samples", "\"0\"", "power of two"}},
    {"samples_large", with({"--samples", "8192"}), {"--samples", "\"8192\"", "4096"}},
    {"bernoulli_no_power",
     with({"--scores", "bernoulli", "--bernoulli", "3"}),
     {"--bernoulli", "\"3\"", "power of two", "64"}},
    {"bernoulli_large",
     with({"--scores", "bernoulli", "--bernoulli", "128"}),
     {"--bernoulli", "\"128\"", "64"}},
    {"bernoulli_unused", with({"--bernoulli", "4"}), {"--bernoulli", "no effect", "--scores"}},
    {"top_k_zero", with({"--top-k", "0"}), {"--top-k", "\"0\"", "1 to 4096"}},
    {"top_k_unused", with({"--top-k", "4", "--no-baselines"}), {"--top-k", "--no-baselines"}},
    {"samples_unused",
     with({"--values", "dense", "--samples", "4", "--no-baselines"}),
     {"--samples", "no effect"}},
    {"values_unknown", with({"--values", "sis"}), {"--values", "\"sis\"", "santa, strat, sys"}},
    {"scores_unknown", with({"--scores", "x"}), {"--scores", "\"x\"", "exact, bernoulli"}},
    {"scores_of_dense",
     with({"--values", "dense", "--scores", "bernoulli"}),
     {"--scores", "\"bernoulli\"", "exact", "dense"}},
    {"synthetic_unknown", {"run", "--synthetic", "flat"}, {"--synthetic", "\"flat\"", "gaussian"}},
    {"two_inputs", with({"--model", "llama-3.1-8b"}), {"--synthetic", "--model", "one source"}},
    {"trace_and_arrays", {"run", "--trace", "a", "--key", "b"}, {"--key", "--trace"}},
    {"array_missing", {"run", "--query", "a", "--key", "b"}, {"--value", "is missing"}},
    {"scale_unused", with({"--scale", "1"}), {"--scale", "no effect", "--query"}},
    {"scale_zero",
     {"run", "--query", "a", "--key", "b", "--value", "c", "--scale", "0"},
     {"--scale", "\"0\"", "decimal number"}},
    {"scale_hexadecimal",
     {"run", "--query", "a", "--key", "b", "--value", "c", "--scale", "0x1p-3"},
     {"--scale", "0x1p-3"}},
    {"scale_nan",
     {"run", "--query", "a", "--key", "b", "--value", "c", "--scale", "nan"},
     {"--scale", "nan"}},
    {"context_zero", with({"--context", "0"}), {"--context", "\"0\"", "1 to 1048576"}},
    {"context_unused", {"run", "--context", "64"}, {"--context", "--synthetic or --model"}},
    {"shape_of_model",
     {"run", "--model", "llama-3.1-8b", "--kv-heads", "2"},
     {"--kv-heads", "no effect", "--synthetic"}},
    {"group_does_not_divide",
     with({"--query-heads", "7", "--kv-heads", "2"}),
     {"--kv-heads", "got 2", "divisor", "7"}},
    {"head_dimension_large", with({"--head-dimension", "1025"}), {"--head-dimension", "1 to 1024"}},
    {"layers_list_of_synthetic", with({"--layers", "0,1"}), {"--layers", "\"0,1\""}},
    {"layers_empty_item", {"run", "--trace", "x", "--layers", "1,,2"}, {"--layers", "\"1,,2\""}},
    {"layers_falling", {"run", "--trace", "x", "--layers", "2,1"}, {"--layers", "rising"}},
    {"model_unknown", {"run", "--model", "lama-3.1-8b"}, {"\"lama-3.1-8b\"", "llama-3.1-8b"}},
    {"model_context",
     {"run", "--model", "bitnet-2b-4t", "--context", "4097"},
     {"--context", "4097", "4096", "bitnet-2b-4t"}},
    {"model_layers",
     {"run", "--model", "bitnet-2b-4t", "--layers", "31"},
     {"--layers", "31", "1 to 30"}},
    {"config_unknown", with({"--config", "egde-lpddr5"}), {"egde-lpddr5", "edge-lpddr5"}},
    {"config_missing_file", with({"--config", "no/such.yaml"}), {"no/such.yaml"}},
    {"set_without_value", with({"--set", "clock_mhz"}), {"--set", "\"clock_mhz\""}},
    {"set_unknown_key", with({"--set", "unit.tiles=4"}), {"--set", "unit.tiles"}},
    {"set_out_of_range", with({"--set", "unit.tile_keys=48"}), {"unit.tile_keys", "48", "1024"}},
    {"group_too_large_for_unit",
     with({"--query-heads", "16", "--kv-heads", "1"}),
     {"unit.group_heads", "16", "8"}},
    {"head_too_long_for_unit",
     with({"--head-dimension", "512", "--context", "16"}),
     {"unit.max_head_dimension", "512", "256"}},
    {"more_than_the_memory",
     with({"--context", "1048576", "--layers", "1024", "--kv-heads", "32"}),
     {"--context", "--layers", "1048576", "GB"}},
    {"two_standard_outputs", with({"--tsv", "--json", "-"}), {"--tsv", "--json -"}},
    {"describe_nothing", {"describe"}, {"subcommand", "santasim describe --help"}},
    {"describe_unknown", {"describe", "stat"}, {"\"stat\"", "did you mean stats?"}},
    {"describe_two_formats", {"describe", "stats", "--json", "--markdown"}, {"--json"}},
    {"describe_pack_missing", {"describe", "energy", "--pack", "no/such.yaml"}, {"no/such.yaml"}},
};

INSTANTIATE_TEST_SUITE_P(Cli, RefusedOptions, testing::ValuesIn(kRefusals),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Help, EveryCommandHasExamples) {
  const std::vector<std::string> commands[] = {
      {"--help"},
      {"run", "--help"},
      {"sweep", "--help"},
      {"report", "--help"},
      {"explain", "--help"},
      {"compare", "--help"},
      {"describe", "--help"},
      {"describe", "stats", "--help"},
      {"describe", "config", "--help"},
      {"describe", "energy", "--help"},
  };
  for (const auto& command : commands) {
    const Outcome outcome = run_program(command);
    expect_success(outcome);
    EXPECT_NE(outcome.out.find("Example"), std::string::npos) << command.front();
    EXPECT_NE(outcome.out.find("santasim "), std::string::npos) << command.front();
  }
}

TEST(Help, VersionIsOneLine) {
  const Outcome outcome = run_program({"--version"});
  expect_success(outcome);
  EXPECT_EQ(outcome.out.rfind("santasim ", 0), 0U);
  EXPECT_EQ(outcome.out.find('\n'), outcome.out.size() - 1);
}

}  // namespace
}  // namespace santa::test
