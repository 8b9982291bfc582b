#include "analysis/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/bounds.hpp"
#include "analysis/experiments.hpp"
#include "analysis/result_file.hpp"
#include "json_report.hpp"
#include "output_file.hpp"
#include "santa/config/message_text.hpp"
#include "santa/error.hpp"
#include "text.hpp"

namespace santa::cli {
namespace {

constexpr double kPercent = 100.0;
constexpr std::size_t kLabel = 46;
constexpr double kShownChange = 0.0005;  // of latency or energy

// Its implicit move: that of a Json may throw by declaration, and does not.
// NOLINTNEXTLINE(bugprone-exception-escape)
struct Explanation {
  std::string command;
  Json report;
  Diagnosis diagnosis;
  std::vector<Experiment> experiments;  // the best for latency first, refused ones last
  bool bounds_only = false;
};

double change_of(const Explanation& explanation, const Experiment& experiment, const char* key) {
  return number_at(*experiment.report, key) / number_at(explanation.report, key) - 1.0;
}

void sort_experiments(Explanation& explanation) {
  const auto order = [&](const Experiment& experiment) {
    if (!experiment.report) return std::make_pair(INFINITY, 0.0F);
    return std::make_pair(
        static_cast<float>(change_of(explanation, experiment, "latency.ns")),
        static_cast<float>(change_of(explanation, experiment, "energy.total_pj.mid")));
  };
  std::stable_sort(explanation.experiments.begin(), explanation.experiments.end(),
                   [&](const Experiment& a, const Experiment& b) { return order(a) < order(b); });
}

std::string percent(double fraction) {
  return fmt::format("{:.1f} %", kPercent * fraction);
}

std::string signed_percent(double fraction) {
  const std::string text = fmt::format("{:+.1f} %", kPercent * fraction);
  return text == "+0.0 %" || text == "-0.0 %" ? "0.0 %" : text;
}

std::string error_text(const Json& report) {
  const Json& error = at_key(report, "accuracy.relative_l2");
  return error.is_number() ? fmt::format("{:.5f}", error.get<double>()) : "-";
}

std::string limit_sentence(const Explanation& explanation) {
  const Diagnosis& diagnosis = explanation.diagnosis;
  const Resource& first = diagnosis.resources.front();
  if (diagnosis.limited) {
    return fmt::format("Limited by {}: busy {} of the time.", first.name,
                       percent(first.busy_fraction));
  }
  return fmt::format(
      "Limited by latency and hand-over: nothing is busy four fifths of the time, {} comes closest "
      "with {}. On average {:.1f} requests are in flight, at most {:.0f} were, {:.0f} may be.",
      first.name, percent(first.busy_fraction), diagnosis.mean_outstanding,
      number_at(explanation.report, "memory.peak_outstanding"),
      number_at(explanation.report, "configuration.memory.max_outstanding"));
}

std::string shares_text(const char* label, const std::vector<Share>& shares) {
  std::vector<std::string> words;
  words.reserve(shares.size());
  for (const Share& share : shares) {
    words.push_back(fmt::format("{} {}", share.name, percent(share.fraction)));
  }
  return wrapped(fmt::format("{}: {}", label, fmt::join(words, ", ")), 2);
}

std::string changes_text(const Explanation& explanation) {
  std::string text = fmt::format("\n{:<{}}{:>10}{:>10}{:>10}\n", "Each change simulated alone",
                                 kLabel, "latency", "energy", "error");
  std::vector<std::string> without_effect;
  std::string refused;
  for (const Experiment& experiment : explanation.experiments) {
    const std::string name =
        fmt::format("{} {} -> {}", experiment.key, experiment.from, experiment.to);
    if (!experiment.report) {
      refused += wrapped(fmt::format("refused: {}: {}", name, experiment.refusal), 2);
      continue;
    }
    const double latency = change_of(explanation, experiment, "latency.ns");
    const double energy = change_of(explanation, experiment, "energy.total_pj.mid");
    if (std::fabs(latency) < kShownChange && std::fabs(energy) < kShownChange) {
      without_effect.push_back(name);
      continue;
    }
    text += fmt::format("{:<{}}{:>10}{:>10}{:>10}\n", name, kLabel, signed_percent(latency),
                        signed_percent(energy), error_text(*experiment.report));
  }
  if (!without_effect.empty()) {
    text += wrapped(fmt::format("below 0.05 %: {}", fmt::join(without_effect, ", ")), 2);
  }
  return text + refused;
}

std::string as_text(const Explanation& explanation) {
  const Json& report = explanation.report;
  std::string text = wrapped(
      fmt::format(
          "{} on {}, {} tokens: {} cycles, {} ns, {} pJ, error {}", unit_label(report, report),
          text_at(report, "configuration.name"), quantity(number_at(report, "input.context")),
          quantity(number_at(report, "latency.cycles")), quantity(number_at(report, "latency.ns")),
          quantity(number_at(report, "energy.total_pj.mid")), error_text(report)),
      2);
  text += wrapped(limit_sentence(explanation), 2);
  if (!explanation.diagnosis.memory_limit.empty()) {
    text +=
        fmt::format("The memory itself is limited by {}.\n", explanation.diagnosis.memory_limit);
  }
  const Resource& first = explanation.diagnosis.resources.front();
  text += wrapped(
      fmt::format("Without that limit it would still take {} of the time: {} is busy so long.",
                  percent(first.floor_fraction), first.floor_name),
      2);
  text += fmt::format("\nBusy, of the time\n");
  for (const Resource& resource : explanation.diagnosis.resources) {
    text += fmt::format("{:<{}}{:>10}\n", resource.name, kLabel, percent(resource.busy_fraction));
  }
  text += shares_text("bytes", explanation.diagnosis.traffic);
  text += shares_text("energy", explanation.diagnosis.energy);
  return explanation.bounds_only ? text : text + changes_text(explanation);
}

Json shares_json(const std::vector<Share>& shares) {
  Json json = Json::object();
  for (const Share& share : shares) json[share.name] = share.fraction;
  return json;
}

Json changes_json(const Explanation& explanation) {
  Json changes = Json::array();
  for (const Experiment& experiment : explanation.experiments) {
    Json change = {{"key", experiment.key}, {"from", experiment.from}, {"to", experiment.to}};
    const bool done = experiment.report.has_value();
    change["latency_change"] =
        done ? Json(change_of(explanation, experiment, "latency.ns")) : Json();
    change["energy_change"] =
        done ? Json(change_of(explanation, experiment, "energy.total_pj.mid")) : Json();
    change["relative_l2"] = done ? at_key(*experiment.report, "accuracy.relative_l2") : Json();
    change["command"] = experiment.options.command();
    change["refusal"] = done ? Json() : Json(experiment.refusal);
    changes.push_back(std::move(change));
  }
  return changes;
}

Json as_json(const Explanation& explanation) {
  const Json& report = explanation.report;
  const Diagnosis& diagnosis = explanation.diagnosis;
  Json json = {{"command", explanation.command},
               {"unit", unit_label(report, report)},
               {"latency_ns", at_key(report, "latency.ns")},
               {"energy_pj", at_key(report, "energy.total_pj.mid")},
               {"relative_l2", at_key(report, "accuracy.relative_l2")},
               {"limit", diagnosis.limited ? diagnosis.resources.front().name : "latency"}};
  json["memory_limit"] = diagnosis.memory_limit.empty() ? Json() : Json(diagnosis.memory_limit);
  json["mean_outstanding"] = diagnosis.mean_outstanding;
  json["resources"] = Json::array();
  for (const Resource& resource : diagnosis.resources) {
    json["resources"].push_back({{"name", resource.name},
                                 {"busy_fraction", resource.busy_fraction},
                                 {"floor_fraction", resource.floor_fraction},
                                 {"floor_name", resource.floor_name}});
  }
  json["traffic"] = shares_json(diagnosis.traffic);
  json["energy"] = shares_json(diagnosis.energy);
  json["changes"] = explanation.bounds_only ? Json() : changes_json(explanation);
  return json;
}

// The file's own run: what it simulated, if this program still does the same.
RunOptions options_of(const Json& report, const std::string& path) {
  return parse_run_words(words_of_command(text_at(report, "provenance.command"), path));
}

bool is_same(const Json& a, const Json& b) {
  constexpr double kRounding = 1e-12;  // of sums, where another compiler built the program
  if (!a.is_number() || !b.is_number()) return a == b;
  const double x = a.get<double>();
  const double y = b.get<double>();
  return std::fabs(x - y) <= kRounding * std::fmax(std::fabs(x), std::fabs(y));
}

// Every single value, less those that hang on the baselines, which are not simulated again, and
// less the words that made the file.
void require_same_run(const Json& file, const Json& now, const std::string& path) {
  std::vector<std::string> keys = {"provenance.configuration_hash", "provenance.energy_pack_sha256",
                                   "input.sha256"};
  for (const auto& [key, value] : single_values(file)) {
    const std::string section = key.substr(0, key.find('.'));
    const bool left_out = section == "provenance" || section == "baselines" ||
                          section == "relative_to_dense" || section == "sweep";
    if (!left_out) keys.push_back(key);
  }
  for (const std::string& key : keys) {
    if (is_same(at_key(file, key), at_key(now, key))) continue;
    throw input_error(config::escaped(path), config::escaped(key),
                      fmt::format("{}, but its command gives {} now", at_key(file, key).dump(),
                                  at_key(now, key).dump()),
                      "a result of this program and these files, or --bounds-only");
  }
}

Explanation make_explanation(const ExplainOptions& options) {
  Explanation explanation;
  explanation.bounds_only = options.bounds_only;
  std::optional<Json> file;
  if (!options.result.empty()) file = load_result(options.result);
  if (file && options.bounds_only) {
    explanation.report = *file;
    explanation.command = text_at(*file, "provenance.command");
  } else {
    const RunOptions run = file ? options_of(*file, options.result) : options.run.value();
    explanation.command = run.command();
    if (!options.bounds_only) explanation.experiments = make_experiments(run);
    explanation.report = run_experiments(run, explanation.experiments, options.jobs);
    if (file) require_same_run(*file, explanation.report, options.result);
  }
  explanation.diagnosis = diagnose(explanation.report);
  sort_experiments(explanation);
  return explanation;
}

}  // namespace

void explain(const ExplainOptions& options) {
  const bool to_file = !options.json.empty() && options.json != "-";
  if (to_file) {
    require_distinct({{"RUN", options.result}}, {{"--json", options.json}});
    OutputFile::check("--json", options.json);
  }
  const Explanation explanation = make_explanation(options);
  write_standard_output(
      place_result(options.json, as_text(explanation), [&] { return as_json(explanation); }));
}

}  // namespace santa::cli
