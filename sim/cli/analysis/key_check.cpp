#include "analysis/key_check.hpp"

#include <fmt/format.h>

#include <cmath>

#include "analysis/result_file.hpp"
#include "santa/config/message_text.hpp"
#include "santa/error.hpp"

namespace santa::cli {
namespace {

constexpr const char* kProgram = "santasim";

std::string no_result(SimulationCommand command) {
  return command == SimulationCommand::kRun ? "is no result of a run" : "is no result of a model";
}

}  // namespace

bool are_equal(double a, double b) {
  return std::fabs(a - b) <= kRounding * std::fmax(std::fabs(a), std::fabs(b));
}

std::string command_name_of(const Json& report) {
  // "santasim model llama-3.1-8b --context 100"
  const std::string command = text_at(report, "provenance.command");
  const std::string own = std::string(kProgram) + " ";
  if (command.rfind(own, 0) != 0) return "";
  return command.substr(own.size(), command.find(' ', own.size()) - own.size());
}

KeyCheck::KeyCheck(const Json& report, const std::string& path, SimulationCommand command)
    : report_(report), path_(config::escaped(path)), command_(command) {}

const Json& KeyCheck::at(const std::string& key) const {
  return at_key(report_, key);
}

void KeyCheck::refuse(const std::string& key, const std::string& allowed) const {
  // What is wrong may be a value that has no members at all.
  for (std::size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', dot + 1)) {
    const Json& above = at(key.substr(0, dot));
    if (!above.is_null() && !above.is_object()) refuse_value(key.substr(0, dot), "an object");
  }
  refuse_value(key, allowed);
}

void KeyCheck::refuse_value(const std::string& key, const std::string& allowed) const {
  const Json& value = at(key);
  const std::size_t dot = key.rfind('.');
  const Json& owner = dot == std::string::npos ? report_ : at(key.substr(0, dot));
  const bool present = owner.is_object() && owner.contains(key.substr(dot + 1));
  const std::string found = !present                ? "missing"
                            : value.is_structured() ? "got a list or an object"
                                                    : "got " + config::escaped(value.dump());
  throw input_error(
      path_, config::escaped(key), fmt::format("{}, so it {}", found, no_result(command_)),
      fmt::format("{}, as santasim {} --json writes it", allowed, to_string(command_)));
}

void KeyCheck::contradiction(const std::string& key, const std::string& other,
                             double expected) const {
  throw input_error(path_, config::escaped(key),
                    fmt::format("got {}, so it {}", at(key).dump(), no_result(command_)),
                    fmt::format("{}, which follows from {}", expected, config::escaped(other)));
}

double KeyCheck::positive(const std::string& key) const {
  const double value = not_negative(key, "a number above 0");
  if (value == 0.0) refuse(key, "a number above 0");
  return value;
}

double KeyCheck::not_negative(const std::string& key, const char* allowed) const {
  const Json& value = at(key);
  if (!value.is_number() || value.get<double>() < 0.0) refuse(key, allowed);
  return value.get<double>();
}

void KeyCheck::not_negative_or_null(const std::string& key) const {
  if (!at(key).is_null()) not_negative(key, "a number from 0, or null");
}

void KeyCheck::text(const std::string& key) const {
  if (!at(key).is_string()) refuse(key, "a text");
}

const Json& KeyCheck::object(const std::string& key) const {
  const Json& value = at(key);
  if (!value.is_object() || value.empty()) refuse(key, "an object with members");
  return value;
}

void KeyCheck::numbers(const std::string& key) const {
  const Json& list = at(key);
  if (!list.is_array()) refuse(key, "a list of numbers");
  for (const Json& value : list) {
    if (!value.is_number()) refuse(key, "a list of numbers");
  }
}

void KeyCheck::equal(const std::string& key, double expected, const std::string& other) const {
  if (!are_equal(not_negative(key), expected)) contradiction(key, other, expected);
}

void KeyCheck::origin() const {
  if (text_at(report_, "provenance.program") != kProgram) {
    refuse("provenance.program", "\"santasim\"");
  }
  const std::string name = command_name_of(report_);
  if (name.empty() || name == to_string(command_)) return;
  const std::string allowed = fmt::format(
      "a file that santasim {0} --json wrote, or a point of a sweep of {0}s", to_string(command_));
  throw input_error(
      path_, "",
      fmt::format("{} but of {} {}", no_result(command_), kProgram, config::escaped(name)),
      name == "model" ? allowed + "; santasim report shows those of santasim model" : allowed);
}

}  // namespace santa::cli
