// One declaration of a key serves reading, writing and describing it. A configuration lists its
// keys once, in a function template
//   template <typename Config, typename Visitor>
//   void visit_keys(Config& config, Visitor& visitor) {
//     visitor.integer("unit.lanes", config.unit.lanes, 1, 64, "keys", "Keys added in a cycle.");
//   }
// and passes it one of the visitors below. Keys of a section are declared one after the other.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "santa/config/key_description.hpp"
#include "santa/config/message_text.hpp"
#include "santa/config/yaml_reader.hpp"

namespace santa::config {

template <typename T>
using ChoiceNames = std::vector<std::pair<std::string, T>>;

template <typename T>
std::vector<std::string> names_only(const ChoiceNames<T>& choices) {
  std::vector<std::string> names;
  for (const auto& choice : choices) names.push_back(choice.first);
  return names;
}

template <typename T>
std::string name_in(const ChoiceNames<T>& choices, T value) {
  for (const auto& [name, candidate] : choices) {
    if (candidate == value) return name;
  }
  return "";
}

// A dotted key as section and last part; the section is empty at the top level.
struct SplitKey {
  explicit SplitKey(const std::string& dotted) {
    const std::size_t dot = dotted.rfind('.');
    section = dot == std::string::npos ? "" : dotted.substr(0, dot);
    last = dot == std::string::npos ? dotted : dotted.substr(dot + 1);
  }
  std::string section;
  std::string last;
};

// Fills a configuration from a document.
class KeyReader {
 public:
  explicit KeyReader(const Node& root) : root_(root) {}

  void text(const std::string& key, std::string& value, const char*) {
    value = section(key).text(SplitKey(key).last);
  }
  void number(const std::string& key, double& value, double min, double max, const char*,
              const char*) {
    value = section(key).number(SplitKey(key).last, min, max);
  }
  void number_or_word(const std::string& key, const std::string& word, std::optional<double>& value,
                      double min, double max, const char*, const char*) {
    value = section(key).number_or_word(SplitKey(key).last, word, min, max);
  }
  void integer(const std::string& key, std::int64_t& value, std::int64_t min, std::int64_t max,
               const char*, const char*) {
    value = section(key).integer(SplitKey(key).last, min, max);
  }
  void power_of_two(const std::string& key, std::int64_t& value, std::int64_t min, std::int64_t max,
                    const char*, const char*) {
    value = section(key).power_of_two(SplitKey(key).last, min, max);
  }
  template <typename T>
  void choice(const std::string& key, T& value, const ChoiceNames<T>& choices, const char*) {
    value = choices[section(key).choice_index(SplitKey(key).last, names_only(choices))].second;
  }

 private:
  Node section(const std::string& key) const {
    const SplitKey split(key);
    return split.section.empty() ? root_ : root_.child(split.section);
  }

  Node root_;
};

// Writes the canonical text.
class KeyWriter {
 public:
  const std::string& result() const { return result_; }

  void text(const std::string& key, const std::string& value, const char*) {
    std::string escaped_value;
    for (const char c : value) {
      if (c == '"' || c == '\\') escaped_value += '\\';
      escaped_value += c;
    }
    line(key, '"' + escaped_value + '"');
  }
  // fmt writes the shortest decimal that reads back to the same double, whatever the locale.
  void number(const std::string& key, double value, double, double, const char*, const char*) {
    line(key, fmt::format("{}", value));
  }
  void number_or_word(const std::string& key, const std::string& word,
                      const std::optional<double>& value, double, double, const char*,
                      const char*) {
    line(key, value ? fmt::format("{}", *value) : word);
  }
  void integer(const std::string& key, std::int64_t value, std::int64_t, std::int64_t, const char*,
               const char*) {
    line(key, std::to_string(value));
  }
  void power_of_two(const std::string& key, std::int64_t value, std::int64_t, std::int64_t,
                    const char*, const char*) {
    line(key, std::to_string(value));
  }
  template <typename T>
  void choice(const std::string& key, T value, const ChoiceNames<T>& choices, const char*) {
    line(key, name_in(choices, value));
  }

 private:
  void line(const std::string& key, const std::string& value) {
    const SplitKey split(key);
    if (split.section != section_) {
      section_ = split.section;
      result_ += section_ + ":\n";
    }
    result_ += (section_.empty() ? "" : "  ") + split.last + ": " + value + "\n";
  }

  std::string section_;
  std::string result_;
};

// Collects the descriptions.
class KeyDescriber {
 public:
  const std::vector<KeyDescription>& result() const { return result_; }

  void text(const std::string& key, const std::string&, const char* sentence) {
    result_.push_back({key, "text", "one line", "", sentence});
  }
  void number(const std::string& key, double, double min, double max, const char* unit,
              const char* sentence) {
    result_.push_back({key, "number", fmt::format("{} to {}", min, max), unit, sentence});
  }
  void number_or_word(const std::string& key, const std::string& word, const std::optional<double>&,
                      double min, double max, const char* unit, const char* sentence) {
    result_.push_back(
        {key, "number or word", fmt::format("{}, or {} to {}", word, min, max), unit, sentence});
  }
  void integer(const std::string& key, std::int64_t, std::int64_t min, std::int64_t max,
               const char* unit, const char* sentence) {
    result_.push_back({key, "integer", fmt::format("{} to {}", min, max), unit, sentence});
  }
  void power_of_two(const std::string& key, std::int64_t, std::int64_t min, std::int64_t max,
                    const char* unit, const char* sentence) {
    result_.push_back({key, "power of two", fmt::format("{} to {}", min, max), unit, sentence});
  }
  template <typename T>
  void choice(const std::string& key, T, const ChoiceNames<T>& choices, const char* sentence) {
    result_.push_back({key, "choice", joined(names_only(choices)), "", sentence});
  }

 private:
  std::vector<KeyDescription> result_;
};

}  // namespace santa::config
