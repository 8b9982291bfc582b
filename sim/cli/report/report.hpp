// `santasim report`: results as one page that needs no network (docs/report.md).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "options.hpp"
#include "statistics.hpp"

namespace santa::cli {

// A run of the page.
struct ReportedRun {
  std::string label;
  Json report;
};

// Runs of a page, in its order.
struct ReportedRuns {
  std::string title;
  std::string about;
  std::vector<ReportedRun> runs;
  bool of_models = false;  // of `santasim model`; else of `santasim run`
  std::size_t failed = 0;  // points of a sweep that have no result
};

// Reads result files, or the folder of a finished sweep; all of one command. Throws InputError.
ReportedRuns load_reported_runs(const std::vector<std::string>& inputs);

// What the page knows of the runs: of each unit, what its figures show. Slices of time are kept of
// the first runs only, for they are most of the bytes.
Json page_data(const ReportedRuns& runs);

// The whole page; `plotly` is the text of plotly.js.
std::string make_page(const ReportedRuns& runs, const std::string& plotly);

// The command.
void report(const ReportOptions& options);

}  // namespace santa::cli
