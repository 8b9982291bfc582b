#include "yaml_tree.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <new>
#include <sstream>
#include <utility>

#include "santa/config/message_text.hpp"
#include "santa/config/yaml_limits.hpp"
#include "santa/error.hpp"

namespace santa::config {
namespace {

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

// Turns yaml-cpp's events into a tree and refuses what the reader does not allow.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(YamlTree& tree) : tree_(tree) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (tree_.root) {
      refuse(mark, "found a second document", "one document a file");
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    if (wants_key()) refuse(mark, "found an empty key", allowed_key());
    place_entry(mark, YamlEntry::Kind::kEmpty);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "found an alias ('*')", "values written out");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (wants_key()) {
      take_key(mark, value);
      return;
    }
    YamlEntry* entry = place_entry(mark, YamlEntry::Kind::kScalar);
    entry->text = value;
    entry->is_quoted = tag == kQuotedTag;
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlEntry::Kind::kList);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlEntry::Kind::kMap);
  }
  void OnMapEnd() override { close(); }

 private:
  // What yaml-cpp reports for scalars without a tag: plain ones and quoted ones.
  static constexpr const char* kPlainTag = "?";
  static constexpr const char* kQuotedTag = "!";

  bool wants_key() const {
    return current_ != nullptr && current_->kind == YamlEntry::Kind::kMap && !has_key_;
  }

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& found,
                           const std::string& allowed) const {
    std::string key = current_ != nullptr ? current_->dotted_name() : "";
    if (has_key_) key += (key.empty() ? "" : ".") + key_;
    throw input_error(tree_.file_name + ":" + std::to_string(mark.line + 1), key, found, allowed);
  }

  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) const {
    if (anchor != YAML::NullAnchor) refuse(mark, "found an anchor ('&')", "values written out");
  }

  void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != kPlainTag && tag != kQuotedTag) {
      refuse(mark, "found the tag " + in_quotes(tag), "values without tags");
    }
  }

  void take_key(const YAML::Mark& mark, const std::string& key) {
    if (key == "<<") refuse(mark, "found a merge key ('<<')", "values written out");
    if (!is_valid_key(key)) refuse(mark, "found the key " + in_quotes(key), allowed_key());
    const YamlEntry* earlier = current_->find(key);
    key_ = key;
    key_line_ = mark.line + 1;
    has_key_ = true;
    if (earlier != nullptr) {
      refuse(mark, "given twice, first on line " + std::to_string(earlier->line), "once");
    }
  }

  YamlEntry* place_entry(const YAML::Mark& mark, YamlEntry::Kind kind) {
    if (current_ == nullptr) {
      tree_.root = std::make_unique<YamlEntry>();
      tree_.root->kind = kind;
      tree_.root->line = mark.line + 1;
      return tree_.root.get();
    }
    if (current_->kind == YamlEntry::Kind::kList) {
      return current_->add("[" + std::to_string(current_->children.size()) + "]", kind,
                           mark.line + 1);
    }
    has_key_ = false;
    return current_->add(std::exchange(key_, ""), kind, key_line_);
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YamlEntry::Kind kind) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (wants_key()) refuse(mark, "found a key that is a map or a list", allowed_key());
    if (depth_ == kMaxYamlDepth) {
      throw input_error(tree_.file_name + ":" + std::to_string(mark.line + 1), "",
                        "maps and lists nested too deep",
                        std::to_string(kMaxYamlDepth) + " levels or fewer");
    }
    ++depth_;
    current_ = place_entry(mark, kind);
  }

  void close() {
    --depth_;
    current_ = current_->parent;
  }

  YamlTree& tree_;
  YamlEntry* current_ = nullptr;
  std::string key_;
  int key_line_ = 0;
  bool has_key_ = false;
  int depth_ = 0;
};

// The parser takes bytes for another encoding after a byte order mark and stops at NUL; both would
// hide part of the file.
void refuse_binary(const std::string& text, const std::string& file_name) {
  const auto is_binary = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7f || byte >= 0xfe;
  };
  const auto found = std::find_if(text.begin(), text.end(), is_binary);
  if (found == text.end()) return;
  const auto line = 1 + std::count(text.begin(), found, '\n');
  throw input_error(file_name + ":" + std::to_string(line), "",
                    "got the byte " + in_quotes(std::string(1, *found)), "UTF-8 text");
}

// yaml-cpp 0.7 takes a quoted scalar without its closing quote as complete if the file ends with a
// line break, and reports it as an error otherwise. A comment as the last line changes no complete
// file.
std::string with_last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \t") + 1;
  const bool ends_with_line_break = end > 0 && (text[end - 1] == '\n' || text[end - 1] == '\r');
  return ends_with_line_break ? text.substr(0, end) + "#" : text;
}

void run_parser(const std::string& text, YamlTree& tree) {
  std::istringstream stream(with_last_line(text));
  TreeBuilder builder(tree);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const InputError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const YAML::Exception& error) {
    const int line = error.mark.line + 1;
    throw input_error(tree.file_name + (line > 0 ? ":" + std::to_string(line) : ""), "",
                      "not valid YAML: " + escaped(error.msg), "");
  } catch (const std::exception& error) {
    throw input_error(tree.file_name, "", "not valid YAML: " + escaped(error.what()), "");
  }
}

}  // namespace

YamlEntry* YamlEntry::find(std::string_view wanted) const {
  const auto found = members.find(wanted);
  return found == members.end() ? nullptr : found->second;
}

YamlEntry* YamlEntry::add(std::string name, Kind child_kind, int child_line) {
  auto child = std::make_unique<YamlEntry>();
  child->kind = child_kind;
  child->line = child_line;
  child->parent = this;
  child->key = std::move(name);
  if (kind == Kind::kMap) members.emplace(child->key, child.get());
  children.push_back(std::move(child));
  return children.back().get();
}

std::string YamlEntry::dotted_name() const {
  if (parent == nullptr) return "";
  const std::string prefix = parent->dotted_name();
  return prefix + (prefix.empty() || key[0] == '[' ? "" : ".") + key;
}

std::string YamlTree::place(const YamlEntry& entry) const {
  if (entry.line == 0) return "--set";
  if (entry.parent == nullptr) return file_name;
  return file_name + ":" + std::to_string(entry.line);
}

bool is_valid_key(std::string_view key) {
  return !key.empty() && key.size() <= kMaxKeyLength &&
         std::all_of(key.begin(), key.end(), is_key_character);
}

std::string allowed_key() {
  return "keys of 1 to " + std::to_string(kMaxKeyLength) + " letters, digits, '_' and '-'";
}

std::shared_ptr<YamlTree> parse_yaml(const std::string& text, const std::string& file_name) {
  auto tree = std::make_shared<YamlTree>();
  tree->file_name = escaped(file_name);
  if (text.size() > kMaxYamlBytes) {
    throw input_error(tree->file_name, "",
                      "larger than " + std::to_string(kMaxYamlBytes) + " bytes",
                      "at most " + std::to_string(kMaxYamlBytes) + " bytes");
  }
  refuse_binary(text, tree->file_name);
  run_parser(text, *tree);
  if (!tree->root || tree->root->kind == YamlEntry::Kind::kEmpty) {
    throw input_error(tree->file_name, "", "empty file", "a map of keys and values");
  }
  if (tree->root->kind != YamlEntry::Kind::kMap) {
    throw input_error(tree->file_name, "", "got a list or a single value",
                      "a map of keys and values");
  }
  return tree;
}

}  // namespace santa::config
