#include "cosim_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "santa/config/message_text.hpp"
#include "text.hpp"

namespace santa::cli {
namespace {

constexpr double kPercent = 100.0;

std::string check_table(const cosim::CosimResult& result) {
  std::string text = fmt::format("{:<24}{:>16}\n", "compared", "items");
  for (const cosim::NamedCount& count : cosim::check_count_names()) {
    text += fmt::format("  {:<22}{:>16}\n", count.name, grouped(result.checked.*count.field));
  }
  text +=
      fmt::format("  {:<22}{:>16}\n", "cycle_model_outputs", grouped(result.model_outputs_checked));
  text += fmt::format("  {:<22}{:>16}\n", "cycle_model_rows", grouped(result.model_rows_checked));
  if (result.vector_values_checked > 0) {
    text += fmt::format("  {:<22}{:>16}\n", "vector_values", grouped(result.vector_values_checked));
  }
  text += fmt::format("  {:<22}{:>16}\n", "bus_rules", grouped(result.rules_checked));
  return text;
}

std::string coverage_text(const cosim::CosimResult& result) {
  const auto& bins = result.coverage.bins();
  std::string text =
      fmt::format("situations met          {} of {}\n", result.coverage.bins_hit(), bins.size());
  std::string missing;
  for (const cosim::CoverageBin& bin : bins) {
    if (bin.hits == 0) missing += (missing.empty() ? "" : "; ") + bin.name;
  }
  if (!missing.empty()) text += wrapped("not met: " + missing, 2);
  return text;
}

bool replays(const cosim::CosimResult& result) {
  return result.vectors_replayed > 0 || !result.vectors_skipped.empty();
}

// How many were left out, by reason.
std::string vectors_text(const cosim::CosimResult& result) {
  if (!replays(result)) return "";
  std::map<std::string, std::uint64_t> reasons;
  for (const cosim::SkippedVector& left : result.vectors_model_only) {
    ++reasons["cycle model alone: " + left.reason];
  }
  for (const cosim::SkippedVector& left : result.vectors_skipped) {
    ++reasons["skipped: " + left.reason];
  }
  const std::size_t left = result.vectors_model_only.size() + result.vectors_skipped.size();
  std::string text =
      fmt::format("vectors replayed       {} of {}\n", grouped(result.vectors_replayed),
                  grouped(result.vectors_replayed + left));
  for (const auto& [reason, count] : reasons) {
    text += wrapped(fmt::format("  {:>4} {}", grouped(count), reason), 7);
  }
  return text;
}

Json files_and_reasons(const std::vector<cosim::SkippedVector>& vectors) {
  Json list = Json::array();
  for (const cosim::SkippedVector& vector : vectors) {
    list.push_back({{"file", vector.file}, {"reason", vector.reason}});
  }
  return list;
}

Json vectors_report(const cosim::CosimResult& result) {
  if (!replays(result)) return {};
  Json report;
  report["replayed"] = result.vectors_replayed;
  report["values_compared"] = result.vector_values_checked;
  report["cycle_model_alone"] = files_and_reasons(result.vectors_model_only);
  report["skipped"] = files_and_reasons(result.vectors_skipped);
  return report;
}

// Of the cycle model's latency against the unit's, as parts of the latter.
struct ErrorSummary {
  double mean = 0.0;  // with its sign
  double mean_absolute = 0.0;
  double largest = 0.0;  // absolute
};

ErrorSummary summary_of(const std::vector<cosim::CycleRow>& rows) {
  ErrorSummary summary;
  const auto count = static_cast<double>(rows.size());
  for (const cosim::CycleRow& row : rows) {
    const double size = std::abs(row.error());
    summary.mean += row.error() / count;
    summary.mean_absolute += size / count;
    summary.largest = std::max(summary.largest, size);
  }
  return summary;
}

std::string cycle_table(const cosim::CosimResult& result) {
  if (result.cycle_rows.empty()) return "";
  std::string text =
      fmt::format("\n{:<32}{:>8}{:>6}{:>6}{:>8}{:>11}{:>13}{:>9}\n", "latency in cycles", "keys",
                  "dim", "heads", "samples", "RTL", "cycle model", "error");
  for (const cosim::CycleRow& row : result.cycle_rows) {
    text += fmt::format("{:<32}{:>8}{:>6}{:>6}{:>8}{:>11}{:>13}{:>+8.1f}%\n", row.workload,
                        row.context, row.head_dimension, row.group, row.samples,
                        grouped(row.rtl_cycles), grouped(row.model_cycles), kPercent * row.error());
  }
  const ErrorSummary summary = summary_of(result.cycle_rows);
  return text +
         fmt::format(
             "error of the cycle model: mean {:+.1f} %, mean size {:.1f} %, largest {:.1f} %\n",
             kPercent * summary.mean, kPercent * summary.mean_absolute, kPercent * summary.largest);
}

}  // namespace

std::string make_cosim_table(const cosim::CosimResult& result,
                             const config::HardwareConfig& hardware) {
  std::string text =
      fmt::format("unit {} of {}: {} scenarios, {} requests, {} cycles\n", hardware.unit_hash(),
                  config::escaped(hardware.name), grouped(result.scenarios),
                  grouped(result.requests), grouped(result.cycles));
  text += vectors_text(result) + check_table(result) + coverage_text(result) + cycle_table(result);
  if (!result.waves.empty()) text += fmt::format("\nwaveforms: {}\n", result.waves);
  text += result.failure.empty() ? "\nno difference\n" : "\na difference was found\n";
  return text;
}

Json make_cosim_report(const cosim::CosimResult& result, const config::HardwareConfig& hardware,
                       const std::string& command) {
  Json report;
  report["command"] = command;
  report["config"] = hardware.name;
  report["unit_hash"] = hardware.unit_hash();
  report["scenarios"] = result.scenarios;
  report["requests"] = result.requests;
  report["cycles"] = result.cycles;
  report["failure"] = result.failure.empty() ? Json() : Json(result.failure);
  report["failed_seed"] = result.failure.empty() ? Json() : Json(result.failed_seed);
  report["waves"] = result.waves.empty() ? Json() : Json(result.waves);
  for (const cosim::NamedCount& count : cosim::check_count_names()) {
    report["checks"][count.name] = {{"compared", result.checked.*count.field},
                                    {"expected", result.expected.*count.field}};
  }
  report["cycle_model"] = {{"outputs_compared", result.model_outputs_checked},
                           {"rows_compared", result.model_rows_checked}};
  report["bus_rules_checked"] = result.rules_checked;
  report["vectors"] = vectors_report(result);
  report["coverage"]["met"] = result.coverage.bins_hit();
  report["coverage"]["total"] = result.coverage.bins().size();
  for (const cosim::CoverageBin& bin : result.coverage.bins()) {
    report["coverage"]["bins"][bin.name] = bin.hits;
  }
  report["latency"] = Json::array();
  for (const cosim::CycleRow& row : result.cycle_rows) {
    report["latency"].push_back({{"workload", row.workload},
                                 {"context", row.context},
                                 {"head_dimension", row.head_dimension},
                                 {"group", row.group},
                                 {"samples", row.samples},
                                 {"rtl_cycles", row.rtl_cycles},
                                 {"cycle_model_cycles", row.model_cycles},
                                 {"error", row.error()}});
  }
  const ErrorSummary summary = summary_of(result.cycle_rows);
  const bool timed = !result.cycle_rows.empty();
  report["latency_error"] = {{"mean", timed ? Json(summary.mean) : Json()},
                             {"mean_absolute", timed ? Json(summary.mean_absolute) : Json()},
                             {"largest_absolute", timed ? Json(summary.largest) : Json()}};
  return report;
}

}  // namespace santa::cli
