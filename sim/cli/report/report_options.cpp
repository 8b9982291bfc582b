#include <CLI/CLI.hpp>

#include "raw_options.hpp"

namespace santa::cli {
namespace {

constexpr const char* kReportExamples =
    R"(One page with figures and tables that opens from the file system: energy by part, time by block,
roofline, gather, accuracy against cost, power, what the ranking hangs on, seeds; of whole models
tokens a second and joules a token, what limits them, context and batch (docs/report.md).

Examples:
  santasim report result.json -o report.html
  santasim report a.json b.json -o both.html
  santasim report model.json -o model.html        of santasim model --json
  santasim report results -o sweep.html           the folder of a sweep
)";

}  // namespace

CLI::App* add_report(CLI::App& app, RawReportOptions& raw) {
  CLI::App* report = app.add_subcommand("report", "Results as one page of figures");
  report
      ->add_option("IN", raw.inputs,
                   "Folder of a sweep, or results of santasim run or model --json")
      ->required();
  report->add_option("-o,--output", raw.output, "The page, HTML")->type_name("F")->required();
  report->add_option("--plotly", raw.plotly, "plotly.js (of the package python3-plotly)")
      ->type_name("F");
  report->footer(kReportExamples);
  return report;
}

ReportOptions check_report_options(const RawReportOptions& raw) {
  if (raw.output.empty()) throw got("--output", "", "a file");
  if (raw.plotly && raw.plotly->empty()) throw got("--plotly", "", "a file");
  return {raw.inputs, raw.output, raw.plotly.value_or("")};
}

}  // namespace santa::cli
