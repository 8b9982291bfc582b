// Tables and figures of the paper (arXiv 2605.01910) as measured here: plain data, for any writer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "santa/paper/estimate.hpp"
#include "santa/paper/parallel.hpp"

namespace santa::paper {

// What the paper states of a row, and how far off that may be: half of the last digit it prints,
// of a figure the reading of its axis, and where it is a mean its own 95 % interval.
struct PaperValue {
  double value = 0.0;
  double half = 0.0;
  bool same_experiment = true;  // false: another model or other prompts, so no agreement is due
};

struct Row {
  std::vector<std::string> labels;  // one for each of Part::label_columns
  Estimate ours;                    // by the golden model's integers
  std::vector<Estimate> checks;     // one for each of Part::check_columns
  std::optional<PaperValue> paper;
  std::optional<int> decimals;  // as text, in place of the part's

  // Ours less the paper's with the interval of that; needs `paper`.
  Estimate difference() const;
};

enum class Verdict {
  kAgrees,   // the difference lies within its interval
  kDiffers,  // it does not
  kNone,     // the paper has no value, or measured something else
};
Verdict verdict(const Row& row);

// A curve. `half` is empty or holds the intervals of `y`.
struct Series {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> half;
  bool reference = false;  // a float64 check or the paper's, drawn dashed
};

struct Figure {
  std::string name;  // of its file, "paper-figure6"
  std::string title;
  std::string x_label;
  std::string y_label;
  bool log_x = true;
  bool log_y = true;
  std::vector<Series> series;
};

struct Part {
  std::string name;                        // of --only, "table9"
  std::string title;                       // "Table 9: ..."
  std::string method;                      // what was done, Markdown
  std::vector<std::string> label_columns;  // "n_k", "S"
  std::string unit;                        // of all values: "%", ""
  int decimals = 2;                        // of the values as text
  std::vector<std::string> check_columns;  // "float64"
  std::vector<Row> rows;
  std::string summary;  // what agrees and what does not, a few words
  std::string finding;  // the same with the reasons, Markdown
  std::vector<Figure> figures;
};

// Where inputs lie and how much is drawn.
struct Settings {
  std::string trace;        // path of the trace for Figure 7 and what follows it
  std::string trace_name;   // as documents name it
  std::string gpu_results;  // folder of gpu/bench/measure.sh results, .tsv
  std::uint64_t seed = 1;   // of all draws, from 1
};

struct PartMaker {
  const char* name;
  const char* description;  // one line
  Part (*make)(const Settings& settings, const Execution& execution);
};

// All parts in the order of the paper's numbers. Making one throws InputError for inputs that are
// missing or broken.
const std::vector<PartMaker>& part_makers();

Part make_table8(const Settings& settings, const Execution& execution);
Part make_table9(const Settings& settings, const Execution& execution);
Part make_table10(const Settings& settings, const Execution& execution);
Part make_figure4(const Settings& settings, const Execution& execution);
Part make_figure6(const Settings& settings, const Execution& execution);
Part make_figure7(const Settings& settings, const Execution& execution);
Part make_table17(const Settings& settings, const Execution& execution);
Part make_key_access(const Settings& settings, const Execution& execution);    // tables 5 and 6
Part make_value_access(const Settings& settings, const Execution& execution);  // table 7

}  // namespace santa::paper
