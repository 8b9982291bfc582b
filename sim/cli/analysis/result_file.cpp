#include "analysis/result_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "analysis/key_check.hpp"
#include "analysis/model_result_check.hpp"
#include "analysis/result_check.hpp"
#include "santa/config/message_text.hpp"
#include "santa/error.hpp"

namespace santa::cli {
namespace {

constexpr const char* kAllowed = "a file that santasim run --json wrote, or a point of a sweep";
constexpr const char* kAnyAllowed =
    "a file that santasim run --json or santasim model --json wrote, or a point of a sweep";

void collect(const std::string& prefix, const Json& json,
             std::vector<std::pair<std::string, Json>>& values) {
  if (json.is_object() && !json.empty()) {
    for (const auto& [name, value] : json.items()) {
      const std::string key = prefix.empty() ? name : fmt::format("{}.{}", prefix, name);
      if (name != "windows") collect(key, value, values);
    }
    return;
  }
  const bool objects = json.is_array() && std::any_of(json.begin(), json.end(), [](const Json& e) {
                         return e.is_structured();
                       });
  if (!objects) values.emplace_back(prefix, json);
}

std::string text_of_file(const std::string& path, const char* allowed) {
  std::optional<std::string> text = read_text(path);
  if (text) return *std::move(text);
  throw input_error(config::escaped(path), "",
                    fmt::format("cannot be read: {}", std::strerror(errno)), allowed);
}

Json parse_json(const std::string& text, const std::string& path, const char* allowed) {
  Json report = Json::parse(text, nullptr, false);
  if (report.is_discarded()) throw input_error(config::escaped(path), "", "is no JSON", allowed);
  return report;
}

}  // namespace

std::optional<std::string> read_text(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    errno = EISDIR;
    return std::nullopt;
  }
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    throw input_error(config::escaped(path), "", "is a pipe or a device", "a file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Json load_result(const std::string& path) {
  Json report = parse_json(text_of_file(path, kAllowed), path, kAllowed);
  check_result(report, path);
  return report;
}

bool is_model_result(const Json& report) {
  return command_name_of(report) == to_string(SimulationCommand::kModel);
}

Json parse_any_result(const std::string& text, const std::string& path) {
  Json report = parse_json(text, path, kAnyAllowed);
  is_model_result(report) ? check_model_result(report, path) : check_result(report, path);
  return report;
}

Json load_any_result(const std::string& path) {
  return parse_any_result(text_of_file(path, kAnyAllowed), path);
}

const Json& at_key(const Json& json, const std::string& key) {
  static const Json nothing;
  const Json* place = &json;
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t dot = std::min(key.find('.', begin), key.size());
    if (!place->is_object()) return nothing;
    const auto member = place->find(key.substr(begin, dot - begin));
    if (member == place->end()) return nothing;
    place = &*member;
    begin = dot + 1;
  }
  return *place;
}

double number_at(const Json& json, const std::string& key) {
  const Json& value = at_key(json, key);
  return value.is_number() ? value.get<double>() : 0.0;
}

std::string text_at(const Json& json, const std::string& key) {
  const Json& value = at_key(json, key);
  return value.is_string() ? value.get<std::string>() : "";
}

std::vector<std::pair<std::string, Json>> single_values(const Json& report) {
  std::vector<std::pair<std::string, Json>> values;
  collect("", report, values);
  return values;
}

std::string unit_label(const Json& unit, const Json& report) {
  const std::string kind = text_at(unit, "unit");
  const auto count = [&](const char* key) {
    return static_cast<long long>(number_at(report, key));
  };
  if (kind == "dense") return "dense int8";
  if (kind == "dense_fp16") return "dense fp16";
  if (kind == "topk") return fmt::format("top-k k={}", count("options.top_k"));
  std::string label =
      fmt::format("{} S={}", text_at(report, "options.values"), count("options.samples"));
  const std::string scores = text_at(report, "options.scores");
  if (scores != "exact") label += fmt::format(", {} B={}", scores, count("options.bernoulli"));
  return label;
}

std::vector<std::string> words_of_command(const std::string& command, const std::string& path) {
  // The quotes of a shell, as far as shell_word() writes them.
  std::vector<std::string> words;
  bool in_word = false;
  bool quoted = false;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (c == ' ' && !quoted) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == '\'') {
      quoted = !quoted;
    } else if (c == '\\' && !quoted && i + 1 < command.size()) {
      words.back() += command[++i];
    } else {
      words.back() += c;
    }
  }
  if (quoted || words.size() < 2 || words[0] != "santasim" || words[1] != "run") {
    throw input_error(config::escaped(path), "provenance.command",
                      "got " + config::in_quotes(command), "a command santasim run");
  }
  return {words.begin() + 2, words.end()};
}

}  // namespace santa::cli
