// The reader's own tree. yaml-cpp's tree keeps neither duplicate keys nor anchors nor the place of
// a key, so the reader builds this one from yaml-cpp's events.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace santa::config {

struct YamlEntry {
  enum class Kind { kEmpty, kScalar, kMap, kList };

  Kind kind = Kind::kEmpty;
  std::string text;        // of a scalar
  bool is_quoted = false;  // quoted scalars are text, never numbers
  int line = 0;            // from 1; 0 if the entry comes from an override
  YamlEntry* parent = nullptr;
  std::string key;  // name in the parent map, or "[3]" in the parent list
  bool is_read = false;
  std::set<std::string> asked;                             // of a map: the keys somebody wanted
  std::vector<std::unique_ptr<YamlEntry>> children;        // in the order of the file
  std::map<std::string, YamlEntry*, std::less<>> members;  // of a map: the children by name

  YamlEntry* find(std::string_view wanted) const;
  YamlEntry* add(std::string name, Kind child_kind, int child_line);
  std::string dotted_name() const;
};

struct YamlTree {
  std::string file_name;  // as shown in messages
  std::unique_ptr<YamlEntry> root;

  std::string place(const YamlEntry& entry) const;
};

// True for 1 to kMaxKeyLength letters, digits, '_' and '-'.
bool is_valid_key(std::string_view key);
std::string allowed_key();

// Parses `text` into a tree whose root is a map. Throws InputError.
std::shared_ptr<YamlTree> parse_yaml(const std::string& text, const std::string& file_name);

}  // namespace santa::config
