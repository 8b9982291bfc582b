#include "json_report.hpp"

#include <algorithm>

#include "output_file.hpp"
#include "santa/error.hpp"

namespace santa::cli {
namespace {

void add_unit(Json& target, const UnitView& view) {
  for (const auto& statistic : unit_statistics()) {
    place(target, statistic.key, statistic.value(view));
  }
}

void append(std::string& out, const Json& json, std::size_t indent) {
  const bool plain_list =
      json.is_array() && std::none_of(json.begin(), json.end(),
                                      [](const Json& element) { return element.is_structured(); });
  if (!json.is_structured() || plain_list || json.empty()) {
    out += json.dump(-1, ' ', false, Json::error_handler_t::replace);
    return;
  }
  out += json.is_object() ? "{\n" : "[\n";
  bool first = true;
  for (const auto& [name, element] : json.items()) {
    if (!first) out += ",\n";
    first = false;
    out.append(indent + 2, ' ');
    if (json.is_object()) out += Json(name).dump() + ": ";
    append(out, element, indent + 2);
  }
  out += "\n";
  out.append(indent, ' ');
  out += json.is_object() ? "}" : "]";
}

}  // namespace

void place(Json& target, std::string_view key, const Json& value) {
  const std::size_t dot = key.find('.');
  std::string name(key.substr(0, dot));
  if (dot == std::string_view::npos) {
    if (name != "*") {
      target[name] = value;
      return;
    }
    target = value;
    return;
  }
  const std::string_view rest = key.substr(dot + 1);
  if (name == "*") {
    for (const auto& [each, part] : value.items()) place(target[each], rest, part);
  } else if (name.size() > 2 && name.compare(name.size() - 2, 2, "[]") == 0) {
    name.resize(name.size() - 2);
    Json& list = target[name];
    if (list.is_null()) list = Json::array();
    for (std::size_t i = 0; i < value.size(); ++i) place(list[i], rest, value[i]);
  } else {
    place(target[name], rest, value);
  }
}

Json make_report(const RunResult& run) {
  Json report = Json::object();
  for (const auto& statistic : run_statistics()) {
    place(report, statistic.key, statistic.value(run));
  }
  add_unit(report, {run, run.main_unit});
  if (run.options.baselines) {
    for (const Baseline& baseline : kBaselines) {
      add_unit(report["baselines"][baseline.name], {run, run.find(baseline.kind).value()});
    }
  }
  return report;
}

std::string to_text(const Json& json) {
  std::string text;
  append(text, json, 0);
  return text + "\n";
}

std::string place_result(const std::string& option, std::string screen,
                         const std::function<Json()>& make) {
  if (option.empty()) return screen;
  if (option == kStandardOutput) return to_text(make());
  OutputFile file("--json", option);
  file.write(to_text(make()));
  file.commit();
  return screen;
}

}  // namespace santa::cli
