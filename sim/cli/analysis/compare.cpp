#include "analysis/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/result_file.hpp"
#include "json_report.hpp"
#include "output_file.hpp"
#include "santa/config/message_text.hpp"
#include "santa/error.hpp"
#include "text.hpp"

namespace santa::cli {
namespace {

bool starts_with(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

// Keys that say what was run, not what came of it.
bool is_choice(const std::string& key) {
  for (const char* section : {"provenance.", "input.", "options.", "configuration.", "sweep."}) {
    if (starts_with(key, section)) return true;
  }
  return false;
}

// Keys that must agree, or the two runs did different work.
bool names_the_work(const std::string& key) {
  for (const char* name : {"kind", "sha256", "model", "layers", "context", "query_heads",
                           "kv_heads", "head_dimension", "softmax_scale", "data_seed"}) {
    if (key == std::string("input.") + name) return true;
  }
  return false;
}

std::vector<std::string> parts_of(const std::string& key) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t dot = 0; dot != std::string::npos; begin = dot + 1) {
    dot = key.find('.', begin);
    parts.push_back(key.substr(begin, dot - begin));
  }
  return parts;
}

// The unit of a result key, from the table of statistics.
std::string unit_of(std::string key) {
  if (starts_with(key, "baselines.")) key.erase(0, key.find('.', key.find('.') + 1) + 1);
  const std::vector<std::string> wanted = parts_of(key);
  for (const auto& statistic : unit_statistics()) {
    const std::vector<std::string> parts = parts_of(statistic.key);
    const auto matches = [](const std::string& part, const std::string& name) {
      return part == "*" || part == name;
    };
    if (parts.size() == wanted.size() &&
        std::equal(parts.begin(), parts.end(), wanted.begin(), matches)) {
      return statistic.unit;
    }
  }
  return "";
}

std::string ratio_text(const ComparedNumber& number) {
  return number.a == 0.0 ? "-" : fmt::format("{:.4g}", number.b / number.a);
}

std::string choice_text(const Json& value) {
  if (value.is_null()) return "-";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Sums of the same parts in another order differ in the last digits.
bool same(const ComparedNumber& number) {
  constexpr double kRounding = 1e-12;
  return std::fabs(number.a - number.b) <= kRounding * std::fabs(number.a);
}

// What the table leaves to --tsv: the ends of every range but the total's.
bool is_detail(const std::string& key) {
  return !starts_with(key, "energy.total_pj.") &&
         (ends_with(key, ".low") || ends_with(key, ".high"));
}

std::string as_table(const Comparison& comparison, const CompareOptions& options) {
  std::string text =
      fmt::format("A  {}\nB  {}\n\n", config::escaped(options.a), config::escaped(options.b));
  text += comparison.choices.empty() ? "The same choices.\n" : "Choices that differ\n";
  for (const ComparedChoice& choice : comparison.choices) {
    text += fmt::format("  {}\n    A  {}\n    B  {}\n", choice.key, choice_text(choice.a),
                        choice_text(choice.b));
  }
  text += fmt::format("\n{:<41}{:<10}{:>14}{:>14}{:>12}{:>8}\n", "", "unit", "A", "B", "B - A",
                      "B / A");
  std::size_t equal = 0;
  std::size_t hidden = 0;
  for (const ComparedNumber& number : comparison.numbers) {
    if (same(number)) {
      ++equal;
    } else if (starts_with(number.key, "baselines.") || is_detail(number.key)) {
      ++hidden;
    } else {
      text += fmt::format("{:<41}{:<10}{:>14}{:>14}{:>12}{:>8}\n", number.key,
                          number.unit.substr(0, 9), quantity(number.a), quantity(number.b),
                          quantity(number.b - number.a), ratio_text(number));
    }
  }
  text += fmt::format("{} numbers are equal", equal);
  if (hidden != 0) {
    text += fmt::format("; {} more differ, of baselines and ends of ranges: --tsv", hidden);
  }
  const std::size_t alone = comparison.only_a.size() + comparison.only_b.size();
  if (alone != 0) text += fmt::format("; {} are in one of the two alone", alone);
  return text + "\n";
}

std::string as_tsv(const Comparison& comparison) {
  std::string text = "key\tunit\ta\tb\tdifference\tratio\n";
  for (const ComparedNumber& number : comparison.numbers) {
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", number.key, number.unit, number.a, number.b,
                        number.b - number.a,
                        number.a == 0.0 ? "" : fmt::format("{}", number.b / number.a));
  }
  return text;
}

Json as_json(const Comparison& comparison, const CompareOptions& options) {
  Json report = Json::object();
  report["a"] = options.a;
  report["b"] = options.b;
  report["choices"] = Json::array();
  for (const ComparedChoice& choice : comparison.choices) {
    report["choices"].push_back({{"key", choice.key}, {"a", choice.a}, {"b", choice.b}});
  }
  report["numbers"] = Json::array();
  for (const ComparedNumber& number : comparison.numbers) {
    const Json ratio = number.a == 0.0 ? Json() : Json(number.b / number.a);
    report["numbers"].push_back({{"key", number.key},
                                 {"unit", number.unit},
                                 {"a", number.a},
                                 {"b", number.b},
                                 {"difference", number.b - number.a},
                                 {"ratio", ratio}});
  }
  report["only_a"] = comparison.only_a;
  report["only_b"] = comparison.only_b;
  return report;
}

}  // namespace

Comparison compare_results(const Json& a, const Json& b, bool other_input,
                           const std::pair<std::string, std::string>& names) {
  Comparison comparison;
  const auto values_a = single_values(a);
  const auto values_b = single_values(b);
  std::map<std::string, const Json*> in_b;
  for (const auto& [key, value] : values_b) in_b[key] = &value;
  const auto add_choice = [&](const std::string& key, const Json& value_a, const Json& value_b) {
    if (value_a == value_b || starts_with(key, "sweep.")) return;
    if (names_the_work(key) && !other_input) {
      throw input_error(config::escaped(names.second), key,
                        fmt::format("{}, but {} in {}", choice_text(value_b), choice_text(value_a),
                                    config::escaped(names.first)),
                        "results of the same input; --other-input compares them nevertheless");
    }
    comparison.choices.push_back({key, value_a, value_b});
  };
  for (const auto& [key, value] : values_a) {
    const auto other = in_b.find(key);
    const Json value_b = other == in_b.end() ? Json() : *other->second;
    if (other != in_b.end()) in_b.erase(other);
    if (is_choice(key)) {
      add_choice(key, value, value_b);
    } else if (value.is_number() && value_b.is_number()) {
      comparison.numbers.push_back({key, unit_of(key), value.get<double>(), value_b.get<double>()});
    } else if (value.is_number()) {
      comparison.only_a.push_back(key);
    }
  }
  for (const auto& [key, value] : values_b) {
    if (in_b.find(key) == in_b.end()) continue;
    if (is_choice(key)) {
      add_choice(key, Json(), value);
    } else if (value.is_number()) {
      comparison.only_b.push_back(key);
    }
  }
  // A number in one and null in the other.
  for (const auto& [key, value] : values_b) {
    if (value.is_number() && !is_choice(key) && at_key(a, key).is_null() &&
        std::find(comparison.only_b.begin(), comparison.only_b.end(), key) ==
            comparison.only_b.end()) {
      comparison.only_b.push_back(key);
    }
  }
  return comparison;
}

void compare(const CompareOptions& options) {
  const std::vector<NamedPath> outputs = options.json.empty() || options.json == "-"
                                             ? std::vector<NamedPath>()
                                             : std::vector<NamedPath>{{"--json", options.json}};
  require_distinct({{"A", options.a}, {"B", options.b}}, outputs);
  const Comparison comparison = compare_results(load_result(options.a), load_result(options.b),
                                                options.other_input, {options.a, options.b});
  write_standard_output(
      place_result(options.json, options.tsv ? as_tsv(comparison) : as_table(comparison, options),
                   [&] { return as_json(comparison, options); }));
}

}  // namespace santa::cli
