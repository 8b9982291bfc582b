#include "santa/config/yaml_reader.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "santa/config/message_text.hpp"
#include "scalar_parse.hpp"
#include "yaml_tree.hpp"

namespace santa::config {
namespace {

using Kind = YamlEntry::Kind;

std::string found(const YamlEntry& entry) {
  switch (entry.kind) {
    case Kind::kEmpty:
      return "got no value";
    case Kind::kMap:
      return "got a map";
    case Kind::kList:
      return "got a list";
    case Kind::kScalar:
      break;
  }
  // Numbers and words as they are; quotes only where the file has them or the text needs them.
  const std::string shown = in_quotes(entry.text);
  const bool is_bare = !entry.is_quoted && !entry.text.empty() &&
                       entry.text.find(' ') == std::string::npos && shown == '"' + entry.text + '"';
  return "got " + (is_bare ? entry.text : shown);
}

std::string range(const std::string& what, std::int64_t min, std::int64_t max) {
  return fmt::format("{} from {} to {}", what, min, max);
}

std::string range(const std::string& what, double min, double max) {
  return fmt::format("{} from {} to {}", what, min, max);
}

std::vector<std::string> unread_keys(const YamlEntry& map) {
  std::vector<std::string> names;
  for (const auto& child : map.children) {
    if (!child->is_read) names.push_back(child->key);
  }
  return names;
}

void refuse_unread(const YamlTree& tree, const YamlEntry& entry) {
  for (const auto& child : entry.children) {
    if (entry.kind == Kind::kMap && !child->is_read) {
      const std::vector<std::string> known(entry.asked.begin(), entry.asked.end());
      const std::string nearest = nearest_name(child->key, known);
      throw input_error(
          tree.place(*child), child->dotted_name(),
          nearest.empty() ? "unknown key" : "unknown key, did you mean " + in_quotes(nearest) + "?",
          joined(known));
    }
    refuse_unread(tree, *child);
  }
}

std::vector<std::string> split_dotted(const std::string& dotted_key) {
  std::vector<std::string> parts(1);
  for (const char c : dotted_key) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string read_bounded(const std::string& path) {
  const std::string place = escaped(path);
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    throw input_error(place, "", "cannot be found", "a YAML file");
  }
  if (!std::filesystem::is_regular_file(status)) {
    throw input_error(place, "", "is a folder, a pipe or a device", "a YAML file");
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw input_error(place, "", "cannot be opened", "a readable YAML file");
  // One byte beyond the limit is enough for the parser to see that the file is too large.
  std::string text(kMaxYamlBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) throw input_error(place, "", "cannot be read", "a readable YAML file");
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

}  // namespace

Node::Node(std::shared_ptr<YamlTree> tree, YamlEntry* entry)
    : tree_(std::move(tree)), entry_(entry) {}

std::string Node::place() const {
  return tree_->place(*entry_);
}

std::string Node::name() const {
  return entry_->dotted_name();
}

InputError Node::refusal(const std::string& allowed) const {
  return input_error(place(), name(), found(*entry_), allowed);
}

InputError Node::error(const std::string& key, const std::string& what_was_found,
                       const std::string& allowed) const {
  const YamlEntry* child = entry_->find(key);
  const std::string own_name = name();
  return input_error(tree_->place(child != nullptr ? *child : *entry_),
                     own_name + (own_name.empty() ? "" : ".") + key, what_was_found, allowed);
}

void Node::require_map() const {
  if (entry_->kind != Kind::kMap) throw refusal("a map of keys and values");
}

std::vector<std::string> Node::keys() const {
  require_map();
  std::vector<std::string> names;
  for (const auto& child : entry_->children) names.push_back(child->key);
  return names;
}

bool Node::has(const std::string& key) const {
  require_map();
  entry_->asked.insert(key);
  return entry_->find(key) != nullptr;
}

Node Node::required(const std::string& key, const std::string& allowed) const {
  if (!has(key)) {
    std::string missing = "missing";
    const std::string similar = nearest_name(key, unread_keys(*entry_));
    if (!similar.empty()) {
      missing += fmt::format(", but there is {} ({})", in_quotes(similar),
                             tree_->place(*entry_->find(similar)));
    }
    throw error(key, missing, allowed);
  }
  YamlEntry* child = entry_->find(key);
  child->is_read = true;
  return Node(tree_, child);
}

const std::string& Node::scalar(const std::string& allowed) const {
  if (entry_->kind != Kind::kScalar) throw refusal(allowed);
  return entry_->text;
}

std::string Node::as_text() const {
  const std::string allowed = "text of one line";
  const std::string& text = scalar(allowed);
  if (text.empty() || !is_plain_text(text)) throw refusal(allowed);
  return text;
}

double Node::as_number(double min, double max) const {
  const std::string allowed = range("a number", min, max);
  const std::optional<double> value = parse_number(scalar(allowed));
  if (entry_->is_quoted || !value || *value < min || *value > max) throw refusal(allowed);
  return *value;
}

std::int64_t Node::as_integer(std::int64_t min, std::int64_t max) const {
  const std::string allowed = range("an integer", min, max);
  const std::optional<std::int64_t> value = parse_integer(scalar(allowed));
  if (entry_->is_quoted || !value || *value < min || *value > max) throw refusal(allowed);
  return *value;
}

std::int64_t Node::as_power_of_two(std::int64_t min, std::int64_t max) const {
  const std::string allowed = range("a power of two", min, max);
  const std::optional<std::int64_t> value = parse_integer(scalar(allowed));
  const bool is_power = value && *value > 0 && (*value & (*value - 1)) == 0;
  if (entry_->is_quoted || !is_power || *value < min || *value > max) throw refusal(allowed);
  return *value;
}

bool Node::as_boolean() const {
  const std::string allowed = "true, false";
  const std::string& text = scalar(allowed);
  if (entry_->is_quoted || (text != "true" && text != "false")) throw refusal(allowed);
  return text == "true";
}

std::size_t Node::as_choice_index(const std::vector<std::string>& names) const {
  const std::string& text = scalar(joined(names));
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return i;
  }
  throw refusal(joined(names));
}

std::string Node::text(const std::string& key) const {
  return required(key, "text of one line").as_text();
}

double Node::number(const std::string& key, double min, double max) const {
  return required(key, range("a number", min, max)).as_number(min, max);
}

std::int64_t Node::integer(const std::string& key, std::int64_t min, std::int64_t max) const {
  return required(key, range("an integer", min, max)).as_integer(min, max);
}

std::int64_t Node::power_of_two(const std::string& key, std::int64_t min, std::int64_t max) const {
  return required(key, range("a power of two", min, max)).as_power_of_two(min, max);
}

std::optional<double> Node::number_or_word(const std::string& key, const std::string& word,
                                           double min, double max) const {
  const std::string allowed = word + ", or " + range("a number", min, max);
  const Node node = required(key, allowed);
  const std::string& text = node.scalar(allowed);
  if (text == word) return std::nullopt;
  const std::optional<double> value = parse_number(text);
  if (node.entry_->is_quoted || !value || *value < min || *value > max) throw node.refusal(allowed);
  return value;
}

bool Node::boolean(const std::string& key) const {
  return required(key, "true, false").as_boolean();
}

std::size_t Node::choice_index(const std::string& key,
                               const std::vector<std::string>& names) const {
  return required(key, joined(names)).as_choice_index(names);
}

Node Node::child(const std::string& key) const {
  Node node = required(key, "a map of keys and values");
  node.require_map();
  return node;
}

std::vector<Node> Node::list(const std::string& key, std::size_t min_size) const {
  const std::string allowed =
      min_size == 0 ? "a list" : fmt::format("a list of {} or more entries", min_size);
  const Node node = required(key, allowed);
  if (node.entry_->kind != Kind::kList) throw node.refusal(allowed);
  if (node.entry_->children.size() < min_size) {
    throw error(key, fmt::format("got {} entries", node.entry_->children.size()), allowed);
  }
  std::vector<Node> nodes;
  for (const auto& child : node.entry_->children) nodes.push_back(Node(tree_, child.get()));
  return nodes;
}

void Node::finish() const {
  refuse_unread(*tree_, *entry_);
}

void Node::set_override(const std::string& dotted_key, const std::string& value) {
  const std::vector<std::string> parts = split_dotted(dotted_key);
  const auto refuse = [&](const std::string& what_was_found, const std::string& allowed) {
    throw input_error("--set", escaped(dotted_key), what_was_found, allowed);
  };
  YamlEntry* entry = entry_;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool is_last = i + 1 == parts.size();
    if (!is_valid_key(parts[i])) {
      throw input_error("--set", "", "found the key " + in_quotes(dotted_key),
                        allowed_key() + ", with '.' between section and key");
    }
    if (entry->kind != Kind::kMap) {
      refuse(in_quotes(entry->dotted_name()) + " is not a section", "the name of a single value");
    }
    YamlEntry* next = entry->find(parts[i]);
    if (next == nullptr) next = entry->add(parts[i], is_last ? Kind::kScalar : Kind::kMap, 0);
    entry = next;
  }
  if (entry->kind == Kind::kMap || entry->kind == Kind::kList) {
    refuse("names a section or a list", "the name of a single value");
  }
  entry->kind = Kind::kScalar;
  entry->text = value;
  entry->is_quoted = false;
  entry->line = 0;
}

void Node::set_overrides(const std::vector<Override>& overrides) {
  for (const Override& change : overrides) set_override(change.key, change.value);
}

Node load_yaml_text(const std::string& text, const std::string& file_name) {
  std::shared_ptr<YamlTree> tree = parse_yaml(text, file_name);
  YamlEntry* root = tree->root.get();
  return Node(std::move(tree), root);
}

Node load_yaml_file(const std::string& path) {
  return load_yaml_text(read_bounded(path), path);
}

Override parse_override(const std::string& assignment, const std::string& option) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw input_error(option, "", "got " + in_quotes(assignment),
                      "key=value, as unit.tile_keys=64");
  }
  return {assignment.substr(0, equals), assignment.substr(equals + 1)};
}

}  // namespace santa::config
