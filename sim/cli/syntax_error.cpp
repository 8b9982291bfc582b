#include "syntax_error.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "santa/config/message_text.hpp"

namespace santa::cli {
namespace {

// The innermost command that was recognised.
const CLI::App& innermost(const CLI::App& app) {
  const std::vector<CLI::App*> commands = app.get_subcommands();
  return commands.empty() ? app : innermost(*commands.front());
}

// "santasim describe stats", as far as commands were recognised.
std::string command_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return (parent == nullptr ? "" : command_name(*parent) + " ") + app.get_name();
}

std::vector<std::string> subcommand_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* sub : command.get_subcommands({})) names.push_back(sub->get_name());
  return names;
}

// What stands before `mark` in a text, and what behind it; both empty where it is not there.
std::pair<std::string, std::string> halves(const std::string& text, const std::string& mark) {
  const std::size_t place = text.find(mark);
  if (place == std::string::npos) return {};
  return {text.substr(0, place), text.substr(place + mark.size())};
}

// The option of the command that an error is about: its text names it, at the start or after a
// colon ("--seed: At Most 1 ...", "Could not convert: --seed = x").
const CLI::Option* option_of(const CLI::App& command, const std::string& text) {
  const CLI::Option* longest = nullptr;
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    const bool named = text.rfind(name + ":", 0) == 0 || text.rfind(name + " ", 0) == 0 ||
                       text.find(": " + name + " ") != std::string::npos;
    if (named && (longest == nullptr || name.size() > longest->get_name().size())) {
      longest = option;
    }
  }
  return longest;
}

// "one WHEN (Waveforms in FST: never (default), on-failure, always)"
std::string value_text(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "the option alone, which takes no value";
  const std::string type = option.get_type_name();
  return fmt::format("one {} ({})", type.substr(0, type.find(':')), option.get_description());
}

std::string given_text(const CLI::Option& option) {
  std::vector<std::string> values;
  for (const std::string& value : option.results()) values.push_back(config::in_quotes(value));
  return "got " + config::joined(values);
}

// Of a value that a validator refuses: what it is, and what is allowed.
InputError value_error(const CLI::Option& option, const std::string& text,
                       const std::string& hint) {
  const std::string what = text.substr(std::min(text.size(), option.get_name().size() + 2));
  const std::string word = "Value ";
  if (const auto [value, range] = halves(what, " not in range "); !range.empty()) {
    const bool has_word = value.rfind(word, 0) == 0;
    return input_error(option.get_name(), "",
                       "got " + config::in_quotes(value.substr(has_word ? word.size() : 0)), range);
  }
  if (const auto [value, set] = halves(what, " not in {"); !set.empty()) {
    return input_error(option.get_name(), "", "got " + config::in_quotes(value),
                       set.substr(0, set.rfind('}')));
  }
  if (const auto [found, allowed] = halves(what, "; allowed: "); !allowed.empty()) {
    return input_error(option.get_name(), "", config::escaped(found), config::escaped(allowed));
  }
  return input_error(option.get_name(), "", config::escaped(what), hint);
}

InputError unknown_word(const CLI::App& command, const std::string& word, const std::string& hint) {
  std::vector<std::string> names = subcommand_names(command);
  for (const CLI::Option* option : command.get_options()) names.push_back(option->get_name());
  const std::string nearest = config::nearest_name(word, names);
  return input_error(
      config::in_quotes(word), "",
      nearest.empty() ? "is not known" : fmt::format("is not known, did you mean {}?", nearest),
      hint);
}

}  // namespace

InputError syntax_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = innermost(app);
  const std::string hint = fmt::format("what {} --help lists", command_name(command));
  const std::vector<std::string> unknown = app.remaining(true);
  if (!unknown.empty()) return unknown_word(command, unknown.front(), hint);
  const std::string kind = error.get_name();
  const std::string text = error.what();
  const CLI::Option* option = option_of(command, text);
  if (kind == "RequiredError" && option == nullptr) {
    return input_error(command_name(command), "", "needs a subcommand",
                       fmt::format("{}; {}", config::joined(subcommand_names(command)), hint));
  }
  if (option == nullptr) return input_error(config::escaped(text), "", "", hint);
  const std::string name = option->get_name();
  if (kind == "RequiredError") {
    return input_error(name, "", "missing", fmt::format("{}; {}", option->get_description(), hint));
  }
  if (kind == "ArgumentMismatch" && option->get_items_expected_max() > 0) {
    return input_error(name, "", option->results().empty() ? "has no value" : given_text(*option),
                       value_text(*option));
  }
  if (kind == "ArgumentMismatch" || kind == "ConversionError") {
    return input_error(name, "", given_text(*option), value_text(*option));
  }
  if (kind == "ValidationError") return value_error(*option, text, hint);
  if (const auto [first, other] = halves(text, " excludes "); !other.empty()) {
    return input_error(name, "", "contradicts " + other, "one of the two");
  }
  return input_error(config::escaped(text), "", "", hint);
}

}  // namespace santa::cli
