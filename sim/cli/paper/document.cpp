#include "paper/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "text.hpp"

namespace santa::cli {
namespace {

using paper::Estimate;
using paper::Part;
using paper::Row;
using paper::Verdict;

constexpr const char* kNothing = "-";

constexpr const char* kIntroduction =
    R"(# The paper's tables and figures

Every table and figure of the paper ([arXiv 2605.01910](https://arxiv.org/abs/2605.01910)) that needs no large
model, measured with the golden model's integers and set beside the paper's values. `make paper` writes this
page and its pictures; it runs

```sh
santasim paper --out docs          # docs/paper.md and docs/paper.json
tools/paper_figures.py docs        # docs/images/paper-*.svg
```

`santasim paper --only NAME` measures one part and `--seed N` repeats it with other draws. The numbers and the
curves are in `paper.json`: `parts[]` with `rows[]` of `labels`, `ours`, `checks[]`, `paper` and `difference`,
each a `value` with `half` of its 95 % interval.

**ours** comes from the integer arithmetic that the RTL has, with half of its 95 % interval; an exact count has
none. A **check** is float64 and independent of that arithmetic. **difference** is ours less the paper's; its
interval adds what is known of the paper's own: its last digit, the reading of an axis, its number of trials.
**agrees** says whether the difference lies within that interval; each holds by chance alone in 19 of 20 cases
where nothing differs. Where the paper measured another model or another device the last column says "other":
then the paper's value is there to compare with, not to be met.
)";

std::string number(double value, int decimals) {
  if (decimals > 0) return fmt::format("{:.{}f}", value, decimals);
  const std::string digits = grouped(static_cast<std::uint64_t>(value < 0 ? -value : value));
  return value < 0 ? "-" + digits : digits;
}

std::string half(const Estimate& estimate, int decimals) {
  if (estimate.half == 0.0) return "0";
  return fmt::format("{:.{}f}", estimate.half, decimals);
}

std::string with_half(const Estimate& estimate, int decimals) {
  const std::string value = number(estimate.value, decimals);
  return estimate.half == 0.0 ? value : fmt::format("{} ± {}", value, half(estimate, decimals));
}

std::string verdict_text(const Row& row) {
  switch (paper::verdict(row)) {
    case Verdict::kAgrees:
      return "yes";
    case Verdict::kDiffers:
      return "no";
    default:
      return row.paper ? "other" : kNothing;
  }
}

using Cells = std::vector<std::string>;

Cells header(const Part& part) {
  Cells cells = part.label_columns;
  cells.emplace_back(part.unit.empty() ? "ours" : fmt::format("ours, {}", part.unit));
  cells.insert(cells.end(), part.check_columns.begin(), part.check_columns.end());
  for (const char* name : {"paper", "difference", "agrees"}) cells.emplace_back(name);
  return cells;
}

Cells cells_of(const Part& part, const Row& row) {
  const int decimals = row.decimals.value_or(part.decimals);
  Cells cells = row.labels;
  cells.push_back(with_half(row.ours, decimals));
  for (const Estimate& check : row.checks) cells.push_back(with_half(check, decimals));
  if (row.paper) {
    const Estimate difference = row.difference();
    cells.push_back(number(row.paper->value, decimals));
    cells.push_back(fmt::format("{}{} ± {}", difference.value > 0 ? "+" : "",
                                number(difference.value, decimals), half(difference, decimals)));
  } else {
    cells.insert(cells.end(), {kNothing, kNothing});
  }
  cells.push_back(verdict_text(row));
  return cells;
}

// Columns on the screen; "±" is two bytes.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

// Rows with a value of the paper for the same experiment, and how many of them agree.
std::pair<std::size_t, std::size_t> agreement(const Part& part) {
  std::size_t compared = 0;
  std::size_t agree = 0;
  for (const Row& row : part.rows) {
    const Verdict verdict = paper::verdict(row);
    compared += verdict == Verdict::kNone ? 0 : 1;
    agree += verdict == Verdict::kAgrees ? 1 : 0;
  }
  return {agree, compared};
}

std::string agreement_text(const Part& part) {
  const auto [agree, compared] = agreement(part);
  if (compared == 0) return "no row is the same experiment";
  return fmt::format("{} of {} rows agree", agree, compared);
}

std::string anchor(const std::string& title) {
  std::string text;
  for (const char c : title) {
    if (c == ' ') {
      text += '-';
    } else if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-') {
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return text;
}

std::string line_of(const Cells& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

// A paragraph on lines of one width, however the parts' texts are broken.
std::string paragraph(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return wrapped(text, 0);
}

std::string section(const Part& part) {
  std::string text = fmt::format("## {}\n\n{}\n", part.title, paragraph(part.method));
  const Cells head = header(part);
  text += line_of(head) + "|";
  for (std::size_t c = 0; c < head.size(); ++c) {
    text += c < part.label_columns.size() ? "---|" : "---:|";
  }
  text += "\n";
  for (const Row& row : part.rows) text += line_of(cells_of(part, row));
  for (const paper::Figure& figure : part.figures) {
    text += fmt::format("\n![{}](images/{}.svg)\n", figure.title, figure.name);
  }
  std::string verdict = agreement_text(part);
  verdict[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(verdict[0])));
  return text + "\n" +
         paragraph(fmt::format("**{}.** {} (`santasim paper --only {}`)", verdict, part.finding,
                               part.name));
}

Json json_of(const Estimate& estimate) {
  return {{"value", estimate.value}, {"half", estimate.half}};
}

Json json_of(const Row& row) {
  Json json = {{"labels", row.labels}, {"ours", json_of(row.ours)}};
  json["checks"] = Json::array();
  for (const Estimate& check : row.checks) json["checks"].push_back(json_of(check));
  json["paper"] = nullptr;
  json["difference"] = nullptr;
  json["agrees"] = nullptr;
  if (row.paper) {
    json["paper"] = {{"value", row.paper->value},
                     {"half", row.paper->half},
                     {"same_experiment", row.paper->same_experiment}};
    json["difference"] = json_of(row.difference());
  }
  if (paper::verdict(row) != Verdict::kNone) {
    json["agrees"] = paper::verdict(row) == Verdict::kAgrees;
  }
  return json;
}

Json json_of(const paper::Figure& figure) {
  Json json = {{"name", figure.name},       {"title", figure.title}, {"x_label", figure.x_label},
               {"y_label", figure.y_label}, {"log_x", figure.log_x}, {"log_y", figure.log_y}};
  json["series"] = Json::array();
  for (const paper::Series& series : figure.series) {
    json["series"].push_back({{"name", series.name},
                              {"reference", series.reference},
                              {"x", series.x},
                              {"y", series.y},
                              {"half", series.half}});
  }
  return json;
}

}  // namespace

std::string paper_table(const Part& part) {
  std::vector<Cells> table = {header(part)};
  for (const Row& row : part.rows) table.push_back(cells_of(part, row));
  std::vector<std::size_t> widths(table.front().size(), 0);
  for (const Cells& cells : table) {
    for (std::size_t c = 0; c < cells.size(); ++c) widths[c] = std::max(widths[c], width(cells[c]));
  }
  std::string text = part.title + "\n";
  for (const Cells& cells : table) {
    std::string line = " ";
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string gap(widths[c] - width(cells[c]), ' ');
      line += " " + (c < part.label_columns.size() ? cells[c] + gap : gap + cells[c]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text + "  " + agreement_text(part) + "\n";
}

std::string paper_document(const std::vector<Part>& parts, const std::string& command) {
  std::string text = kIntroduction;
  text += fmt::format("\nThis page: `{}`.\n\n| | | |\n|---|---|---|\n", command);
  for (const Part& part : parts) {
    text += fmt::format("| [{}](#{}) | {} | {} |\n", part.title, anchor(part.title),
                        agreement_text(part), part.summary);
  }
  for (const Part& part : parts) text += "\n" + section(part);
  return text;
}

Json paper_json(const std::vector<Part>& parts, const std::string& command) {
  Json json = {{"command", command}, {"parts", Json::array()}};
  for (const Part& part : parts) {
    Json one = {{"name", part.name},
                {"title", part.title},
                {"unit", part.unit},
                {"label_columns", part.label_columns},
                {"check_columns", part.check_columns}};
    one["rows"] = Json::array();
    for (const Row& row : part.rows) one["rows"].push_back(json_of(row));
    one["figures"] = Json::array();
    for (const paper::Figure& figure : part.figures) one["figures"].push_back(json_of(figure));
    json["parts"].push_back(one);
  }
  return json;
}

}  // namespace santa::cli
