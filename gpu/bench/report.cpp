// Results as JSON and as a table.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "santa/gpu/bench/results.hpp"

namespace santa::gpu::bench {
namespace {

using Json = nlohmann::ordered_json;

// To a hundredth of a microsecond and four digits of the rest: more is noise.
double rounded(double value, const char* format = "%.2f") {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return std::strtod(text, nullptr);
}

Json row_of(const Row& row) {
  Json json = {{"kernel", row.kernel}};
  if (!row.scheme.empty()) json["scheme"] = row.scheme;
  if (!row.scores.empty()) json["scores"] = row.scores;
  json["type"] = row.type;
  json["requests"] = row.requests;
  json["length"] = row.length;
  json["samples"] = row.samples;
  json["spread"] = row.spread;
  if (row.times) {
    json["median_us"] = rounded(row.times->median_us);
    json["p5_us"] = rounded(row.times->p5_us);
    json["p95_us"] = rounded(row.times->p95_us);
  }
  if (row.energy) {
    json["energy"] = {{"step_mj", rounded(row.energy->step_mj, "%.4g")},
                      {"mean_w", rounded(row.energy->mean_w, "%.4g")},
                      {"step_us", rounded(row.energy->step_us)},
                      {"seconds", rounded(row.energy->seconds)}};
  }
  if (!row.not_run.empty()) json["not_run"] = row.not_run;
  return json;
}

}  // namespace

Json to_json(const Results& results) {
  const DeviceFacts& d = results.device;
  Json json = {{"device",
                {{"name", d.name},
                 {"compute_capability", d.compute_capability},
                 {"multiprocessors", d.multiprocessors},
                 {"driver", d.driver},
                 {"toolkit", d.toolkit}}},
               {"date", results.date},
               {"commit", results.commit},
               {"protocol",
                {{"cold_cache", "512 MB rewritten before each run"},
                 {"clock", "CUDA events around the launch"},
                 {"runs", results.options.runs},
                 {"warm_up", 10}}},
               {"shape",
                {{"query_heads", results.options.query_heads},
                 {"kv_heads", results.options.kv_heads},
                 {"head_dimension", results.options.head_dimension}}},
               {"empty_launch_us", rounded(results.empty_launch.median_us)}};
  if (d.sm_clock_max_mhz > 0) {
    json["device"]["sm_clock_max_mhz"] = d.sm_clock_max_mhz;
    json["device"]["sm_clock_mhz"] = d.sm_clock_mhz;
    json["device"]["memory_clock_max_mhz"] = d.memory_clock_max_mhz;
  }
  if (results.idle_w) json["idle_w"] = rounded(*results.idle_w, "%.4g");
  json["rows"] = Json::array();
  for (const Row& row : results.rows) json["rows"].push_back(row_of(row));
  return json;
}

std::string to_table(const Results& results) {
  const DeviceFacts& d = results.device;
  std::string text = d.name + ", driver " + d.driver + ", " + d.toolkit + "; " + results.date;
  if (!results.commit.empty()) text += ", commit " + results.commit;
  char line[200];
  std::snprintf(line, sizeof line, "; shape %d/%d/%d; empty launch %.2f us\n",
                results.options.query_heads, results.options.kv_heads,
                results.options.head_dimension, results.empty_launch.median_us);
  text += line;
  std::snprintf(line, sizeof line, "%-30s %-11s %-15s %-5s %8s %8s %7s %7s %10s %10s %10s",
                "kernel", "scheme", "scores", "type", "requests", "length", "samples", "spread",
                "median us", "5 % us", "95 % us");
  text += line;
  text += results.idle_w ? "    mJ/step          W\n" : "\n";
  for (const Row& row : results.rows) {
    std::snprintf(line, sizeof line, "%-30s %-11s %-15s %-5s %8d %8d %7d %7g", row.kernel.c_str(),
                  row.scheme.c_str(), row.scores.c_str(), row.type.c_str(), row.requests,
                  row.length, row.samples, row.spread);
    text += line;
    if (row.times) {
      std::snprintf(line, sizeof line, " %10.2f %10.2f %10.2f", row.times->median_us,
                    row.times->p5_us, row.times->p95_us);
      text += line;
    }
    if (row.energy) {
      std::snprintf(line, sizeof line, " %10.4g %10.4g", row.energy->step_mj, row.energy->mean_w);
      text += line;
    }
    text += row.not_run.empty() ? "\n" : "  not run: " + row.not_run + "\n";
  }
  if (results.idle_w) {
    std::snprintf(line, sizeof line, "The idle board draws %.4g W, contained in all of them.\n",
                  *results.idle_w);
    text += line;
  }
  return text;
}

}  // namespace santa::gpu::bench
