// Strict reader of the project's YAML files. Whatever a file says is either used or refused: there
// are no default values, and a key that nobody asked for is an error.
//
//   Node root = load_yaml_file("edge.yaml");
//   Node unit = root.child("unit");
//   int64_t tile_keys = unit.power_of_two("tile_keys", 16, 1024);
//   root.finish();
//
// Every function that reads throws santa::InputError with one line that names the file and line,
// the dotted key, what was found and what is allowed:
//   edge.yaml:12: unit.tile_keys: got 48; allowed: a power of two from 16 to 1024
//
// Accepted is the plain part of YAML: maps with unique keys of letters, digits, '_' and '-',
// sequences, and scalars. Refused are duplicate keys, anchors, aliases, tags, merge keys, several
// documents, more than 1 MB, nesting deeper than 32, and anything that is not a regular file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "santa/config/yaml_limits.hpp"
#include "santa/error.hpp"

namespace santa::config {

// One change from the command line: dotted key and value, as in `--set unit.tile_keys=64`.
struct Override {
  std::string key;
  std::string value;
};

struct YamlEntry;  // private to the reader
struct YamlTree;   // private to the reader

// A map, a sequence or a scalar of a file, with its place. Copies are cheap and refer to the same
// file, which stays alive with them. Not for use by several threads at once: reading marks the key
// as used.
class Node {
 public:
  // Keys of this map, in the order of the file. Does not mark them as read.
  std::vector<std::string> keys() const;
  // True if the key is there. Counts as a known name for finish(), not as reading.
  bool has(const std::string& key) const;

  // Readers of the required key `key` of this map. Ranges include both ends.
  //   text          non-empty text without control characters
  //   number        decimal number, finite: 1, -2.5, 3e8
  //   integer       decimal integer without exponent, fraction or leading zeros
  //   power_of_two  integer that is a power of two
  //   number_or_word  a number as above, or `word`, which gives no value
  //   boolean       true or false
  //   child         a map
  //   list          a sequence with `min_size` entries or more
  std::string text(const std::string& key) const;
  double number(const std::string& key, double min, double max) const;
  std::int64_t integer(const std::string& key, std::int64_t min, std::int64_t max) const;
  std::int64_t power_of_two(const std::string& key, std::int64_t min, std::int64_t max) const;
  std::optional<double> number_or_word(const std::string& key, const std::string& word, double min,
                                       double max) const;
  bool boolean(const std::string& key) const;
  Node child(const std::string& key) const;
  std::vector<Node> list(const std::string& key, std::size_t min_size = 0) const;

  // One of `names`, as its index.
  std::size_t choice_index(const std::string& key, const std::vector<std::string>& names) const;
  // One of the names, as the value beside it.
  template <typename T>
  T choice(const std::string& key, std::initializer_list<std::pair<const char*, T>> values) const {
    std::vector<std::string> names;
    for (const auto& [name, value] : values) names.emplace_back(name);
    return (values.begin() + choice_index(key, names))->second;
  }

  // The same for this node itself, which is how entries of a list are read. An entry that is a map
  // is read with the functions above.
  std::string as_text() const;
  double as_number(double min, double max) const;
  std::int64_t as_integer(std::int64_t min, std::int64_t max) const;
  std::int64_t as_power_of_two(std::int64_t min, std::int64_t max) const;
  bool as_boolean() const;
  std::size_t as_choice_index(const std::vector<std::string>& names) const;

  // Refuses the first key in this node or below it that was not read, naming the nearest key that
  // was asked for. Call it once on the root when everything has been read.
  void finish() const;

  // Replaces or adds the scalar at the dotted key, seen from this node, as if the file said so; its
  // place in messages is "--set". Sections on the way are added; a key that nobody reads is then
  // refused by finish() as any other. Throws if the key is not well formed, goes through or names a
  // list, goes through a scalar, or names a section. Lists cannot be set.
  void set_override(const std::string& dotted_key, const std::string& value);
  void set_overrides(const std::vector<Override>& overrides);

  // Place and dotted name of this node, for messages: "edge.yaml:12" and "unit.tile_keys". The root
  // has the file alone and "".
  std::string place() const;
  std::string name() const;
  // An error at a key of this map, for checks that involve several keys: at its value if the key is
  // there, at the map otherwise.
  InputError error(const std::string& key, const std::string& found,
                   const std::string& allowed) const;

 private:
  friend Node load_yaml_text(const std::string& text, const std::string& file_name);
  Node(std::shared_ptr<YamlTree> tree, YamlEntry* entry);
  Node required(const std::string& key, const std::string& allowed) const;
  const std::string& scalar(const std::string& allowed) const;
  InputError refusal(const std::string& allowed) const;
  void require_map() const;

  std::shared_ptr<YamlTree> tree_;
  YamlEntry* entry_;
};

// The root map of a file. Throws InputError for everything in the list at the top.
Node load_yaml_file(const std::string& path);

// The same from memory; `file_name` stands for the file in messages.
Node load_yaml_text(const std::string& text, const std::string& file_name);

// Splits "unit.tile_keys=64" at the first '='. `option` is the place named in the error.
Override parse_override(const std::string& assignment, const std::string& option = "--set");

}  // namespace santa::config
